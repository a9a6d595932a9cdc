"""Which step of the model each durable step of Spark's is, by the kind of sink."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.adapters import (
    DataSourceKind,
    ForeachBatchKind,
    ForeachKind,
    ManifestKind,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onceproof.spark_checks.inject.adapters import Adapter

FILES, PYTHON, FOREACH = "files", "Python DataSource", "foreach"
BATCHES, WRITERS = "foreachBatch", "DataSource V2"
"""Whose steps those are that ``steps.toml`` has apart for some sinks."""
BATCH, PARTITION, ATTEMPT = "batch", "partition", "attempt"


@dataclass(frozen=True)
class StepMeaning:
    """What a durable step of Spark's is in the model."""

    step: str
    """Spark's step."""
    actions: tuple[str, ...]
    """The actions that it may be; none if it is a step in batches without data alone.
    """
    members: tuple[str, ...]
    """What the actions are for, of batch, partition and attempt."""
    of: tuple[str, ...] = ()
    """The sinks of which it is so; empty for all."""
    listed: str = ""
    """Of which sinks ``steps.toml`` lists the step, if under another name."""
    at_call: bool = False
    """Whether it is over as it begins: later steps are inside of it."""
    without_data: tuple[str, ...] = ()
    """The actions that it may be in a batch without data, each for the batch before."""


MEANINGS = (
    StepMeaning("log_offsets", ("log_offsets",), (BATCH,)),
    StepMeaning("start_batch", ("start_batch",), (BATCH,), at_call=True),
    StepMeaning(
        "write",
        ("write", "zombie_write"),
        (BATCH, PARTITION, ATTEMPT),
        of=(FILES, PYTHON),
    ),
    StepMeaning(
        "commit_task",
        ("commit_task",),
        (PARTITION, ATTEMPT),
        of=(FILES, PYTHON),
    ),
    StepMeaning(
        "sink_commit",
        ("start_commit",),
        (BATCH,),
        of=(FILES, BATCHES),
    ),
    StepMeaning(
        "sink_commit",
        ("start_commit",),
        (BATCH,),
        of=(PYTHON, FOREACH, WRITERS),
        listed=WRITERS,
    ),
    StepMeaning("add_to_manifest", ("sink.add_to_manifest",), (BATCH,), of=(FILES,)),
    StepMeaning("log_commit", ("log_commit",), (BATCH,)),
)
"""What the steps are in the protocol of queries without state."""

_SHOWN, _SHOWN_AT_END = "commit_results", "run_without_data"
WITH_STATE = (
    StepMeaning(
        "log_offsets", ("log_offsets",), (BATCH,), without_data=("log_without_data",)
    ),
    StepMeaning("start_batch", ("start_batch",), (BATCH,), at_call=True),
    StepMeaning(
        "commit_state", ("commit_state", "commit_second"), (BATCH, PARTITION, ATTEMPT)
    ),
    StepMeaning("commit_task", ("commit_task",), (PARTITION, ATTEMPT), of=(FILES,)),
    StepMeaning(
        "sink_commit",
        (_SHOWN, "skip_batch"),
        (BATCH,),
        of=(BATCHES,),
        without_data=(_SHOWN_AT_END, "skip_without_data"),
    ),
    StepMeaning(
        "sink_commit",
        (_SHOWN,),
        (BATCH,),
        of=(WRITERS,),
        without_data=(_SHOWN_AT_END,),
    ),
    StepMeaning(
        "add_to_manifest",
        (_SHOWN,),
        (BATCH,),
        of=(FILES,),
        without_data=(_SHOWN_AT_END,),
    ),
    StepMeaning(
        "log_commit", ("log_commit",), (BATCH,), without_data=("commit_without_data",)
    ),
)
"""What the steps are in the protocol of queries with state."""


def reported_as(kind: Adapter) -> str:
    """Return by which name ``steps.toml`` knows the sink; empty for one it has not."""
    for of, kinds in _KINDS.items():
        if isinstance(kind, kinds):
            return of
    return ""


_KINDS = {
    FILES: ManifestKind,
    FOREACH: ForeachKind,
    PYTHON: DataSourceKind,
    BATCHES: ForeachBatchKind,
}


def meanings_of(
    sink: str,
    has: Callable[[str, str], bool],
    meanings: tuple[StepMeaning, ...] = MEANINGS,
) -> Mapping[str, StepMeaning]:
    """Return what each of Spark's steps means for a kind of sink.

    ``has`` says which steps a session reports, of which sinks.
    """
    return {
        one.step: one
        for one in meanings
        if not one.of or (sink in one.of and has(one.step, one.listed or sink))
    }
