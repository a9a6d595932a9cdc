"""Why a replay breaks a property, in sentences that end in the contradiction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.properties.counterexample.readers import (
    at_moment,
    failed,
    readers_see,
    times,
)
from onceproof.properties.guarantees import GUARANTEES
from onceproof.properties.judges.by_history import broken, left_open
from onceproof.properties.ledger import EVENT
from onceproof.spark_checks.sinks.code_points import returns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.properties.ledger import History
    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.run_evidence import RunRecord


def because(outcome: Outcome, prop: Property) -> tuple[str, ...]:
    """Describe run by run what was handled, what was done to it, and what readers saw.

    The last sentence names the claim that this contradicts, and the weakest guarantee
    that is broken; or the claim that is left open, as no reader could read.
    """
    history = outcome.spark
    place = None
    if history is not None:
        place = broken(prop, history) or left_open(prop, history)
    if history is None or place is None:
        return ()
    clause, moment = place
    what = prop.clauses[clause].text
    sentences: list[str] = []
    before: frozenset[int] = frozenset()
    again: set[int] = set()
    for number, run in enumerate(outcome.runs):
        sentences += _run(number, run, before, again)
        when = at_moment(run.moment, rested=history.rested)
        if run.unreadable:
            sentences.append(f"{when}, {failed(run.unreadable)}")
        else:
            sentences.append(f"{when}, {readers_see(history, number)}")
        again |= set(run.ran) - run.committed
        before = run.committed
        if number == moment:
            break
    sentences += _units(history, moment)
    if not history.rested:
        last = outcome.unplanned[-1] if outcome.unplanned else ""
        why = f": {last}" if last else ""
        sentences.append(f"no restart brings the query to its end{why}")
    if broken(prop, history) is None:
        sentences.append(
            f"nobody could see there whether {what}, so {prop.name} is undecided"
        )
        return tuple(sentences)
    weakest = next(g.name for g in GUARANTEES if broken(g, history))
    sentences.append(
        f"this breaks the claim that {what}; the weakest guarantee broken is {weakest}"
    )
    return tuple(sentences)


def _run(
    number: int, run: RunRecord, before: frozenset[int], again: set[int]
) -> Iterator[str]:
    for batch, points in sorted(run.ran.items()):
        lines = [p for p in points if not returns(p)]
        if not lines:
            continue
        why = ""
        if batch in again and batch not in before:
            why = f"since commits/{batch} was not there, "
        whole = returns(points[-1])
        ended = "to its end" if whole else f"up to {lines[-1]}"
        yield f"{why}run {number + 1} gave batch {batch} to your code: it ran {ended}"
    for how in run.how:
        yield f"in run {number + 1}, {how}"
    if run.caught:
        done = f": commits/{max(run.committed)} is written" if run.committed else ""
        yield f"the error does not reach Spark, and run {number + 1} goes on{done}"


def _units(history: History, moment: int) -> Iterator[str]:
    """Describe which events are not seen once, by batch, and what is seen besides.

    Where readers failed, nothing is known of any event.
    """
    if moment in history.unread:
        return
    for unit in sorted({row.unit for row in history.rows}):
        for row in history.rows:
            outcome = row.outcomes[moment]
            if row.unit == unit and outcome.visible != 1:
                promised = " though the commit log names it" if outcome.promised else ""
                such = f", such as {row.example}" if row.example else ""
                of = f" of batch {unit}" if history.counted == EVENT else ""
                yield (
                    f"{_counted(row.events, history.counted)}{of} "
                    f"{'is' if row.events == 1 else 'are'} seen "
                    f"{times(outcome.visible)}{promised}{such}"
                )
    if stray := history.unexplained[moment]:
        such = f", such as {history.strays[moment]}" if history.strays else ""
        yield (
            f"{stray} {'is' if stray == 1 else 'are'} seen that should not be there"
            f"{such}"
        )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
