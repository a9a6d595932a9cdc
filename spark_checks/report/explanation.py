"""Why a replay breaks a property, in sentences that end in the contradiction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.properties.guarantees import GUARANTEES
from onceproof.properties.judges.by_history import broken, left_open
from onceproof.properties.ledger import RESULT_ROW
from onceproof.properties.words.readers import (
    at_moment,
    failed,
    readers_see,
    times,
)
from onceproof.spark_checks.sinks.code_points import is_line, returns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from onceproof.properties.ledger import EventOutcome, History
    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.run_evidence import RunRecord
    from onceproof.spark_checks.sinks.code_points import SeenPoints


def because(
    outcome: Outcome, prop: Property, seen: SeenPoints | None = None
) -> tuple[str, ...]:
    """Describe run by run what was handled, what was done to it, and what readers saw.

    The last sentence names the claim that this contradicts, and the weakest guarantee
    that is broken; or the claim that is left open, as no reader could read. ``seen``
    are the points of the fault-free run, if the sink is a user's own.
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
        sentences += _run(number, run, before, again, seen)
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
    number: int,
    run: RunRecord,
    before: frozenset[int],
    again: set[int],
    seen: SeenPoints | None,
) -> Iterator[str]:
    for batch, points in sorted(run.ran.items()):
        if all(map(returns, points)):
            continue
        why = ""
        if batch in again and batch not in before:
            why = f"since commits/{batch} was not there, "
        if not returns(points[-1]):
            ended = f"ran up to {points[-1]}"
        elif seen is not None and (way := _usual_way(batch, run, seen)):
            ended = f"returned after {_last_line(points)}, and did not run {way}"
        else:
            ended = "ran to its end"
        yield f"{why}run {number + 1} gave batch {batch} to your code: it {ended}"
    for how in run.how:
        yield f"in run {number + 1}, {how}"
    if run.caught:
        done = f": commits/{max(run.committed)} is written" if run.committed else ""
        yield f"the error does not reach Spark, and run {number + 1} goes on{done}"


def _usual_way(batch: int, run: RunRecord, seen: SeenPoints) -> str:
    """Name the first line that a run left out, and after which line it usually runs.

    Usually is without a fault. The empty text is for a run that left out none.
    """
    lines = _without_a_fault(batch, seen)
    ran = run.in_threads.union(run.ran[batch])
    left_out = next((at for at, line in enumerate(lines) if line not in ran), None)
    if left_out is None:
        return ""
    parted = lines[left_out - 1] if left_out else ""
    if parted in {"", _last_line(run.ran[batch])}:
        return lines[left_out]
    return f"{lines[left_out]}, which follows {parted} without a fault"


def _last_line(points: Sequence[str]) -> str:
    """Return the last line, where there is one, and else the last point."""
    return next(filter(is_line, reversed(points)), points[-1])


def _without_a_fault(batch: int, seen: SeenPoints) -> Sequence[str]:
    """List the lines that the driver reached in the fault-free run, in order."""
    return [
        point.text
        for point in seen.driver.get(batch, ())
        if is_line(point.text) and (batch, str(point)) not in seen.leads
    ]


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
                such = f", such as {row.example}" if row.example else ""
                of = "" if history.counted == RESULT_ROW else f" of batch {unit}"
                yield (
                    f"{_counted(row.events, history.counted)}{of} "
                    f"{'is' if row.events == 1 else 'are'} {_seen(unit, outcome)}{such}"
                )
    if stray := history.unexplained[moment]:
        such = f", such as {history.strays[moment]}" if history.strays else ""
        yield (
            f"{stray} {'is' if stray == 1 else 'are'} seen that should not be there"
            f"{such}"
        )


def _seen(unit: int, outcome: EventOutcome) -> str:
    """Return how often an event is visible, and whether that contradicts a commit."""
    if outcome.visible:
        return f"visible {times(outcome.visible)}"
    named = f", though the commit log names batch {unit}" if outcome.promised else ""
    return f"not visible{named}"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
