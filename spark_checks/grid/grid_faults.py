"""The faults of the grid: where a run ends, and what it leaves in its checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class GridFault(StrEnum):
    """What happens in one micro-batch."""

    NONE = "none"
    BEFORE_OFFSETS = "crash-before-offsets"
    AFTER_OFFSETS = "crash-after-offsets"
    IN_TASKS = "crash-in-tasks"
    BEFORE_COMMITS = "crash-before-commits"
    TASK_BEFORE_STATE = "task-dies-before-state"
    TASK_AFTER_STATE = "task-dies-after-state"
    BEFORE_LOGS = "crash-before-logs"
    TORN_COMMITS = "torn-write-of-commits"

    @property
    def words(self) -> str:
        """Say what happens in a batch."""
        return _WORDS[self]

    @property
    def of_a_task(self) -> bool:
        """Whether a task dies, and Spark tries it again in the same run."""
        return self in (GridFault.TASK_BEFORE_STATE, GridFault.TASK_AFTER_STATE)


_WORDS = {
    GridFault.NONE: "nothing fails",
    GridFault.BEFORE_OFFSETS: "the driver dies before offsets/{batch} is written",
    GridFault.AFTER_OFFSETS: "the driver dies after offsets/{batch} is written",
    GridFault.IN_TASKS: (
        "the driver dies once one task of batch {batch} has committed its state"
    ),
    GridFault.BEFORE_COMMITS: (
        "the driver dies after the sink has committed batch {batch}, and before "
        "commits/{batch} is written"
    ),
    GridFault.TASK_BEFORE_STATE: (
        "the first attempt of each task of batch {batch} dies before it commits its "
        "state"
    ),
    GridFault.TASK_AFTER_STATE: (
        "the first attempt of each task of batch {batch} dies after it has committed "
        "its state"
    ),
    GridFault.BEFORE_LOGS: (
        "the driver dies after the sink has committed batch {batch}, and before "
        "offsets/{batch} is written in the background"
    ),
    GridFault.TORN_COMMITS: "commits/{batch} is torn: the file is there, and empty",
}


@dataclass(frozen=True)
class PlacedFault:
    """A fault in a batch."""

    fault: GridFault
    """What happens."""
    batch: int = 0
    """The id of the batch."""

    def __str__(self) -> str:
        """Say what happens, and in which batch."""
        return self.fault.words.format(batch=self.batch)

    @property
    def name(self) -> str:
        """Name it for tables."""
        if self.fault is GridFault.NONE:
            return "no fault"
        return f"{self.fault}({self.batch})"


def every_fault(
    batches: int, *, torn: bool = False, late_logs: bool = False
) -> list[PlacedFault]:
    """List a fault of each kind in each batch; torn writes only on request.

    With ``late_logs`` a batch may be there before its entry in the offset log.
    """
    left_out = {GridFault.NONE}
    left_out |= set() if torn else {GridFault.TORN_COMMITS}
    left_out |= set() if late_logs else {GridFault.BEFORE_LOGS}
    kinds = [kind for kind in GridFault if kind not in left_out]
    return [PlacedFault(kind, batch) for batch in range(batches) for kind in kinds]
