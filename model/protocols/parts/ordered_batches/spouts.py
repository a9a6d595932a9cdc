"""What a spout emits for a batch that is processed again."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *

E = Sort("event", size=2, ordered=True)
B = Sort("batch", size=2, ordered=True)


class TransactionalSpout(Part):
    """Notes the end of each batch before it is emitted, and emits it with the same."""

    pipeline_role: ClassVar[str] = "source"

    E = E
    B = B

    known = state(False, per=B)
    end = state(0, high=E, per=B)

    def may_end(self, b: Member, end: int) -> bool:
        """Return whether a batch may end there."""
        return implies(self.known[b], self.end[b] == end)

    def note(self, b: Member, end: int) -> None:
        """Note where a batch ends."""
        self.known[b] = True
        self.end[b] = end


class OpaqueSpout(TransactionalSpout):
    """Emits a batch that is processed again with what can be had then.

    Readers may have seen an event that is then in a later batch.
    """

    breaks = ("durable",)

    def may_end(self, b: Member, end: int) -> bool:
        """A batch may end anywhere, each time."""
        return True

    def note(self, b: Member, end: int) -> None:
        """Nothing is noted before the batch is committed."""
