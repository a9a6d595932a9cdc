"""How a table's rows and its log of changes come together; the log is trimmed."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *

KEY = Sort("key", size=2)
CHANGE = Sort("change", size=2, ordered=True)

_LOSES = ("at-least-once", "effectively-once", "recoverable", "batch-equivalence")
# Lemmas: not so where a row is put, or a change left out, at a place of its own.
_UNLIKE_THE_LOG = ("copies-what-is-read", "saves-what-is-read")


class Snapshot(Part):
    """Rows are read in chunks beside the log, each between two marks in the log.

    DBLog: the rows of a chunk are held until the log is read up to the second mark. A
    row whose key changes between the marks is left out, since the log has it.
    """

    KEY = KEY
    CHANGE = CHANGE

    low = state(0, high=CHANGE, per=KEY, volatile=True)
    high = state(0, high=CHANGE, per=KEY, volatile=True)
    outdated = state(False, per=KEY, volatile=True)

    def begin(self, k: Member, end: int) -> None:
        """Set the first mark, where the log ends."""
        self.low[k] = end

    def select(self, k: Member, end: int) -> None:
        """Set the second mark once the rows of a chunk are read."""
        self.high[k] = end

    def see_change(self, k: Member, position: int) -> None:
        """Note a change of a key while its row is held."""
        self.outdated[k] = any_of(self.outdated[k], position >= self.low[k])

    def can_put(self, k: Member, position: int) -> bool:
        """Return whether what is held of a chunk can be put into the copy."""
        return position >= self.high[k]

    def counts(self, k: Member) -> bool:
        """Return whether the row that is held is put, and not left out."""
        return not_(self.outdated[k])

    def reads_log(self, all_read: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether the log is read, where all rows are read or not."""
        return any_of(all_read, not_(all_read))

    def skips_to(self, position: int, end: int) -> int:
        """Return where the log is read from once all rows are read."""
        return position


class SnapshotUnmarked(Snapshot):
    """Rows are read beside the log, and put into the copy at any time.

    A row that was read before a change replaces what the log had put there.
    """

    breaks: ClassVar[tuple[str, ...]] = (*_LOSES, *_UNLIKE_THE_LOG)

    def can_put(self, k: Member, position: int) -> bool:
        """At any time."""
        return position >= 0

    def counts(self, k: Member) -> bool:
        """Every row counts."""
        return self.high[k] >= 0


class SnapshotFirst(SnapshotUnmarked):
    """All rows are read first; then the log, from where it ended before the first.

    What has changed in between is put twice, the later time with what is last.
    """

    breaks: ClassVar[tuple[str, ...]] = _UNLIKE_THE_LOG

    def reads_log(self, all_read: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Only after all rows."""
        return all_read


class SnapshotThenEnd(SnapshotFirst):
    """All rows are read first; then the log, from where it ends by then.

    What has changed in the meantime is in neither.
    """

    breaks: ClassVar[tuple[str, ...]] = (*_LOSES, *_UNLIKE_THE_LOG)

    def skips_to(self, position: int, end: int) -> int:
        """From the end."""
        return end


class ReplicationSlot(Part):
    """The database keeps its log from the position that was last confirmed.

    A checkpoint is confirmed after it is complete, with the position that it holds.
    """

    pipeline_role: ClassVar[str] = "source"

    confirmed = state(0, high=CHANGE)

    def confirm(self, saved: int, position: int) -> None:
        """Confirm what the checkpoint holds."""
        self.confirmed = max_of(self.confirmed, saved)


class ReaderConfirms(ReplicationSlot):
    """What is confirmed is how far the reader is by then.

    flink-cdc #2538: the reader is ahead of the checkpoint. After a restart the log is
    gone that the checkpoint asks for.
    """

    breaks: ClassVar[tuple[str, ...]] = (*_LOSES, *_UNLIKE_THE_LOG, "is-never-ahead")

    def confirm(self, saved: int, position: int) -> None:
        """Confirm the reader's position."""
        self.confirmed = max_of(self.confirmed, position)
