"""Whether each run has its sink to itself: a fresh target shows nothing of another run.

A sink with a fixed place finds there what an earlier run wrote. What one run loses is
then there all the same, and nothing can be judged.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.properties.ledger import RESULT_ROW
from onceproof.spark_checks.replay.observations import Observations
from onceproof.spark_checks.replay.steering.interleaving_run import fresh

if TYPE_CHECKING:
    from onceproof.properties.ledger import History
    from onceproof.spark_checks.inject.hosts.built_sink import BuiltSink
    from onceproof.spark_checks.replay.looks import Look
    from onceproof.spark_checks.replay.steering.replay_context import ReplayContext
    from onceproof.spark_checks.sinks.interface import ModelledSink

_HELP = (
    "help: take the place that write= and read= use from target.path, target.name or "
    "target.store"
)


@dataclass(frozen=True)
class FirstLook:
    """What readers see of a fresh target, before any batch is written to it."""

    rows: int
    """How many rows there are."""
    digest: int
    """A number that differs where the rows do."""
    events: int
    """How many of the events are there; none where a result is judged."""
    unexplained: int
    """How many rows there are that belong to no event, and to no result of some."""
    example: str
    """One of these in words."""


def first_look(context: ReplayContext, built: BuiltSink) -> FirstLook | None:
    """Look at a target that nothing was written to; None where readers fail on it."""
    if context.observer is None:
        return None
    try:
        seen = context.observer.look(context.spark, built.readers)
    except Exception:  # noqa: BLE001 - there may be nothing to read yet
        return None
    rows, digest = seen.size_and_digest()
    history = _history(context, seen)
    there = sum(n for times, n in history.seen(0).items() if times)
    return FirstLook(
        rows,
        digest,
        there if history.counted != RESULT_ROW else 0,
        int(history.unexplained[0]),
        history.strays[0] if history.strays else "",
    )


def refuse_rows_of_others(
    context: ReplayContext, sink: ModelledSink, before: FirstLook | None
) -> None:
    """Refuse a sink whose fresh target shows what the run before it has written.

    ``before`` is what a fresh target showed before that run. Raises ``UsageError``.
    """
    folder, built = fresh(context, sink)
    try:
        after = first_look(context, built)
    finally:
        built.close()
        shutil.rmtree(folder, ignore_errors=True)
        context.leftovers.sweep()
    if after is None or after.rows == 0:
        return
    changed = before is None or (before.rows, before.digest) != (
        after.rows,
        after.digest,
    )
    if changed or after.events:
        rows = "1 row" if after.rows == 1 else f"{after.rows} rows"
        message = (
            f"{sink.name} is not alone with its data: readers of a fresh target see "
            f"{rows} that an earlier run wrote; {_HELP}"
        )
        raise UsageError(message)


def refuse_unexplained_rows(sink: ModelledSink, before: FirstLook | None) -> None:
    """Refuse rows that are there from the start, and that ``result=`` does not give.

    Raises ``UsageError``.
    """
    if before is not None and before.unexplained:
        message = (
            f"before any batch, readers of {sink.name} see {before.unexplained} rows "
            f"that should not be there, such as {before.example}; help: let result= "
            "give them for no events too, or let read= leave them out"
        )
        raise UsageError(message)


def _history(context: ReplayContext, seen: Look) -> History:
    """Judge a look as one of a run that has not ended yet."""
    nothing: set[int] = set()
    made = Observations(
        ("before", "rest"), (seen, None), (nothing, nothing), rested=False
    )
    [history] = context.histories([made])
    return history
