"""What the model of micro-batches leaves out on purpose: one list for code and pages.

A step of Spark's that is in none of these lists has to be explained by the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.conformance.observed import Silence
from onceproof.model.language.sorts import Member
from onceproof.model.protocols.micro_batch import Driver, MicroBatch
from onceproof.spark_checks.plan.fault_kinds import Effect, with_effect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.steps import Event

UNMODELLED = {
    "write_metadata": "The model has no id of the query: it never changes.",
    "log_source": "The source's own log says what the offsets mean, and the model's "
    "source is replayable.",
    "rename_log": "It is inside of a log's entry, which the model takes as one step.",
    "commit_source": "The source learns what it may forget; the model's forgets "
    "nothing.",
    "purge": "Old entries of the logs are deleted, which no restart reads.",
    "commit_state of a query without state": "Its model has no state store.",
    "commit_state of a batch without data": "Its tasks are one step of the model, with "
    "that of the sink.",
    "commit_state of a join's first stores": "A task of a join has four stores. The "
    "model's task has one, and commits it when the last of the four is committed.",
    "write of a query with state": "The task commits its state inside of it.",
    "sink_commit of files with state": "It is over once the manifest names the batch, "
    "which is the model's step.",
    "ask_commit": "It is inside of the commit of a task, which the model takes as one "
    "step.",
    "abort_task": "It is part of the model's fault that fails the attempt.",
    "abort": "It is part of the model's fault that fails the job, or the commit.",
    "commit_task of foreach": "The writer is closed before its task has ended, so that "
    "a task may fail after it.",
    "commit_task of an attempt that was given up": "Spark's scheduler ignores it. In "
    "the model, the attempt's work is its last step.",
    "maintenance": "Snapshots of state are made in the background, and change no "
    "version.",
}
"""By its name, each durable step of Spark's that is no step of the model: why."""

ENDS = with_effect(Effect.ENDS_RUN)
"""The faults that a run can end by."""


@dataclass(frozen=True)
class Omission:
    """Steps of the model that a run leaves out, or takes without an event."""

    steps: frozenset[str]
    """The steps."""
    when: Callable[[Protocol, Event, Protocol], bool]
    """Whether it is so for an event, by the states before and after."""
    why: str
    """The reason, as pages and reports give it."""


def _skipped(before: Any, event: Event, after: object) -> bool:
    del event, after
    batch = int(before.commits)
    if batch >= before.size_of(MicroBatch.BATCH):
        return False
    return not before.sink.takes(Member(batch, MicroBatch.BATCH))


def _merged_away(before: Any, event: Event, after: object) -> bool:
    del after
    partition = event.members[1 if event.name == "write" else 0]
    everyone = range(before.size_of(MicroBatch.PARTITION))
    merged = [p for p in everyone if before.sink.merged[p]]
    return bool(merged) and partition not in merged


def _goes_on(before: object, event: Event, after: Any) -> bool:
    del before, event
    return bool(after.driver != Driver.DOWN)


def _of_the_first(before: Any, event: Event, after: object) -> bool:
    del event, after
    return bool(before.operators.is_due())


OMISSIONS_WITH_STATE = (
    Omission(
        frozenset({"commit_task"}),
        _of_the_first,
        "Of two operators with state, tasks of the first one hand their rows on: no "
        "sink has a step at their end.",
    ),
)
"""Those of queries with state."""

OMISSIONS = (
    Omission(
        frozenset({"write", "commit_task", "start_commit"}),
        _skipped,
        "Spark runs no task of a batch that the sink skips as a whole. In the model, "
        "tasks run and change nothing.",
    ),
    Omission(
        frozenset({"write", "commit_task"}),
        _merged_away,
        "After a restart that merges partitions, Spark has one task. In the model the "
        "others run, and hold nothing.",
    ),
    Omission(
        ENDS,
        _goes_on,
        "Code that tries again after an error goes on, and no run ends.",
    ),
)
"""The steps of the model that a run of Spark does not take, or not visibly."""


def silences(
    steps: Iterable[str],
    seen: frozenset[str],
    omissions: Sequence[Omission] = OMISSIONS,
) -> tuple[Silence, ...]:
    """Return which ``steps`` of a model leave no event in a run.

    ``seen`` are those that a run of this kind of sink reports. No fault is reported but
    one that a run ends by.
    """
    every = frozenset(steps)
    quiet = every - seen - ENDS - {"restart"}
    found = [Silence(quiet, None, "no durable step of Spark's is this step alone")]
    found += [Silence(one.steps & every, one.when, one.why) for one in omissions]
    return tuple(one for one in found if one.steps)
