"""What a stream task writes in its transaction, and how it restores its store."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *

E = Sort("event", size=2, ordered=True)
MOST = 2


class ChangelogInTransaction(Part):
    """Records of the changelog are in the transaction of the output."""

    E = E

    pending = state(0, high=MOST, per=E)
    committed = state(0, high=MOST, per=E)

    def write(self, e: Member, value: int) -> None:
        """Write what the store has for a key."""
        self.pending[e] = value

    def mark(self) -> None:
        """Commit what is pending."""
        self.committed.where(lambda e: self.pending[e] > 0).set(
            lambda e: self.pending[e]
        )
        self.pending.fill(0)

    def abort(self) -> None:
        """Drop what is pending."""
        self.pending.fill(0)


class ChangelogApart(ChangelogInTransaction):
    """Records of the changelog are not in a transaction, and count at once.

    A store that is restored holds changes of a transaction that was aborted, and its
    input is read again.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-most-once",
        "effectively-once",
        "batch-equivalence",
    )

    def write(self, e: Member, value: int) -> None:
        """What is written is committed."""
        self.committed[e] = value


class OffsetsInTransaction(Part):
    """Offsets of the input are in the transaction of the output."""

    committed = state(0, high=E)
    ending = state(0, high=E, volatile=True)

    def end(self, position: int) -> None:
        """The transaction is about to commit, with all before a position."""

    def mark(self, position: int) -> None:
        """The transaction commits."""
        self.committed = position


class OffsetsApart(OffsetsInTransaction):
    """Offsets are committed after the transaction, and a crash comes in between.

    What the transaction holds is read and counted again.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-most-once",
        "effectively-once",
        "batch-equivalence",
    )

    def end(self, position: int) -> None:
        """Note what to commit later."""
        self.ending = position

    def mark(self, position: int) -> None:
        """Not in the transaction."""

    @action
    def commit_offsets(self) -> None:
        """The consumer commits its offsets."""
        when(self.ending > self.committed)
        self.committed = self.ending


class RestoreCommitted(Part):
    """A store is restored to the end of the changelog, once no transaction is open."""

    def ready(self, settled: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether it can be restored, with an open transaction or with none."""
        return settled

    def value(self, committed: int, pending: int) -> int:
        """Return what is restored for a key."""
        return committed


class RestoreToLogEnd(RestoreCommitted):
    """A store is restored beyond the committed end, with what is pending.

    The pending records are aborted later, and their input is read again.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-most-once",
        "effectively-once",
        "batch-equivalence",
    )

    def ready(self, settled: bool) -> bool:  # noqa: FBT001 - a modelled value
        """At any time."""
        return any_of(settled, not_(settled))

    def value(self, committed: int, pending: int) -> int:
        """The last record, whether it is committed or not."""
        return if_else(pending > 0, pending, committed)


class RestoreToStableEnd(RestoreToLogEnd):
    """A store is restored to the last stable offset, and does not wait.

    KAFKA-10167: a transaction is decided and its offsets are committed, while its
    marker is not in the changelog yet. Its changes are in no store.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
        "batch-equivalence",
    )

    def value(self, committed: int, pending: int) -> int:
        """What is committed by now."""
        return committed
