"""Where a stream task writes its result, and what readers see of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.stream_tasks import MOST, E

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
    """

    breaks: ClassVar[tuple[str, ...]] = ("durable",)

    def write(self, e: Member, counted: Callable[[Member], int]) -> None:
        """The row is replaced."""
        self.shown.set(counted)

    def mark(self) -> None:
        """Nothing of the store is in the transaction."""


class ResultsAdded(ResultsUpserted):
    """Each change is added to a row in a store outside, at once."""

    breaks: ClassVar[tuple[str, ...]] = (
        "at-most-once",
        "effectively-once",
        "batch-equivalence",
    )

    def write(self, e: Member, counted: Callable[[Member], int]) -> None:
        """The row counts one more."""
        self.shown[e] = min_of(self.shown[e] + 1, MOST)
