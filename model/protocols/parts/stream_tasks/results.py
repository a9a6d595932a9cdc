"""Where a stream task writes its result, and what readers see of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.stream_tasks.stored import MOST, E

if TYPE_CHECKING:
    from collections.abc import Callable


class ResultsInTransaction(Part):
    """The result goes to a topic, in the transaction; readers see what is committed."""

    pipeline_role: ClassVar[str] = "sink"

    E = E

    pending = state(0, high=MOST, per=E)
    shown = state(0, high=MOST, per=E)

    def write(self, e: Member, counted: Callable[[Member], int]) -> None:
        """Write what the store has counted, after the change by an event."""
        self.pending.set(counted)

    def lose_instance(self) -> None:
        """The instance is given up; it may be alive, but its transaction is fenced."""

    def mark(self) -> None:
        """Commit what is pending."""
        self.shown.set(lambda e: self.pending[e])
        self.pending.fill(0)

    def abort(self) -> None:
        """Drop what is pending."""
        self.pending.fill(0)


class ResultsUpserted(ResultsInTransaction):
    """The result replaces the one before in a store outside, at once.

    After a crash it is counted again from what is committed, and goes back for a while.
    An instance that was given up, and is not dead, can write its result late: nobody
    fences a store outside, so that replaces a newer result.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
        "batch-equivalence",
    )

    sent = state(0, high=MOST, per=E, volatile=True)
    sends = state(False, volatile=True)
    late = state(0, high=MOST, per=E)
    lingers = state(False)

    def write(self, e: Member, counted: Callable[[Member], int]) -> None:
        """The row is replaced."""
        self.shown.set(counted)
        self.sent.set(counted)
        self.sends = True

    def lose_instance(self) -> None:
        """Its last request may still come, or that of an earlier one."""
        self.late.set(lambda e: if_else(self.sends, self.sent[e], self.late[e]))
        self.lingers = self.lingers | self.sends

    @action(by="an instance that was given up")
    def write_late(self) -> None:
        """A request of an instance that was given up comes after all."""
        when(self.lingers)
        self.lingers = False
        self.shown.set(lambda e: self.late[e])
        self.late.fill(0)

    @action(by="an instance that was given up")
    def stop(self) -> None:
        """An instance that was given up is dead, or notices."""
        when(self.lingers)
        self.lingers = False
        self.late.fill(0)

    def mark(self) -> None:
        """Nothing of the store is in the transaction."""


class ResultsFenced(ResultsUpserted):
    """The result replaces the one before in a store outside, with an instance's epoch.

    From the first write of a new instance on, the store refuses those of earlier ones.
    """

    breaks: ClassVar[tuple[str, ...]] = ("durable",)

    def write(self, e: Member, counted: Callable[[Member], int]) -> None:
        """The row is replaced; nobody of an earlier epoch can replace it."""
        super().write(e, counted)
        self.lingers = False
        self.late.fill(0)


class ResultsAdded(ResultsInTransaction):
    """Each change is added to a row in a store outside, at once."""

    breaks: ClassVar[tuple[str, ...]] = (
        "at-most-once",
        "effectively-once",
        "batch-equivalence",
    )

    def write(self, e: Member, counted: Callable[[Member], int]) -> None:
        """The row counts one more."""
        self.shown[e] = min_of(self.shown[e] + 1, MOST)

    def mark(self) -> None:
        """Nothing of the store is in the transaction."""
