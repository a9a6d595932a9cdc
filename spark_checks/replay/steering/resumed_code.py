"""What code did that went on after a connection broke: another fault may hit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.exchange_points import exchanges_of
from onceproof.spark_checks.inject.tracing import line_trace
from onceproof.spark_checks.plan.rules import CUTS, DRIVER_EXCHANGE, TASK_EXCHANGE
from onceproof.spark_checks.plan.run_plan import next_attempt_mark, resumed_file
from onceproof.spark_checks.replay.run_evidence import Resumed
from onceproof.spark_checks.sinks.code_points import CodePoint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from onceproof.spark_checks.inject.connections import SeenRequest
    from onceproof.spark_checks.plan.run_plan import RunPlan


def resumed_in(
    run: RunPlan, marks: Path, requests: Sequence[SeenRequest]
) -> tuple[Resumed, ...]:
    """Describe what went on after the last exchange that was cut in a run.

    The run ended well: that is code on the driver which caught the error, or an attempt
    of a task that no other followed. An exchange that is known by its kind alone may
    have been at any point.
    """
    cut = next((rule for rule in run.rules[::-1] if rule.do in CUTS), None)
    if cut is None or not (marks / cut.mark).exists():
        return ()
    if cut.function == DRIVER_EXCHANGE:
        found = exchanges_of(requests).get((cut.batch, None), ())
        return (Resumed(cut.batch, exchanges=found),)
    if cut.function != TASK_EXCHANGE or cut.partition is None or cut.attempt is None:
        return ()
    batch, partition, attempt = cut.batch, cut.partition, cut.attempt
    noted = marks / f"{resumed_file(run.number, batch, attempt)}-{partition}"
    again = marks / next_attempt_mark(run.number, batch, partition, attempt)
    if again.exists() or not noted.exists():
        return ()
    notes = [note for note in line_trace.read(noted) if note.main]
    points = [CodePoint(note.text, note.time) for note in notes]
    at = CodePoint(cut.line, cut.nth or 1)
    after = points.index(at) + 1 if at in points else 0
    found = exchanges_of(requests).get((batch, partition), ())
    return (Resumed(batch, partition, tuple(points[after:]), found),)
