"""How many steps of an interleaving a real run took that did not come to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.model.language.steps import Event
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.run_evidence import RunRecord

_ALWAYS = ("restart", "zombie_write")


def steps_taken(outcome: Outcome) -> int | None:
    """Count the steps up to the last one that the run is known to have taken.

    All runs but the last end where the plan ends them. Of the last one it is known
    which batches its commit log names, and which were given to the sink's code. Returns
    None where the run came to its end: it took every step.
    """
    if outcome.spark is None or outcome.spark.rested or not outcome.runs:
        return None
    events = outcome.interleaving.trace.events
    begin = outcome.runs[-2].state if outcome.runs[1:] else 0
    last = outcome.runs[-1]
    known = [at for at, event in enumerate(events[begin:]) if _took(event, last)]
    return begin + max(known, default=-1) + 1


def _took(event: Event, run: RunRecord) -> bool:
    """Return whether a run took a step: its faults were all injected."""
    batch = event.members[0] if event.members else -1
    worked = {number for number, _ in run.worked}
    match event.name:
        case "log_commit":
            return batch in run.committed
        case "start_commit":
            return batch in run.ran
        case "log_offsets" | "start_batch":
            return batch in worked | set(run.ran) | run.committed
        case name:
            return event.fault or name in _ALWAYS
