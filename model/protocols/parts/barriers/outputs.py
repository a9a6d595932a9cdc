"""What an operator keeps, and what readers see of it."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.barriers.alignment import S
from onceproof.model.protocols.parts.barriers.checkpoint_stores import C
from onceproof.model.protocols.parts.barriers.sources import E

MOST = 2


def one_more(times: int) -> int:
    """Count on, as far as it matters."""
    return min_of(times + 1, MOST)


class Output(Part):
    """What the operator keeps: here its managed state, and readers see checkpoints."""

    pipeline_role: ClassVar[str] = "sink"
    in_checkpoints: ClassVar[bool] = True
    """Whether readers see what the last checkpoint holds, and nothing else."""

    S = S
    E = E
    C = C
    now = state(0, per=(S, E), high=MOST, volatile=True)
    noted = state(0, per=(S, E), high=MOST, volatile=True)
    saved = state(0, per=(S, E), high=MOST)

    def ready(self) -> bool:
        """Return whether events may be processed."""
        return self.C.last >= 0

    def process(self, s: Member, e: Member) -> None:
        """Let an event take effect."""
        self.now[s, e] = one_more(self.now[s, e])

    def snapshot(self, c: Member) -> None:
        """Note the state of the operator for a checkpoint."""
        self.noted.set(lambda s, e: self.now[s, e])

    def complete(self, c: Member) -> None:
        """The checkpoint is complete."""
        self.saved.set(lambda s, e: self.noted[s, e])

    def announce(self, c: Member) -> None:
        """The coordinator announces that a checkpoint is complete."""

    def restore(self, complete: int) -> None:
        """Go back to the last complete checkpoint; so many have been completed."""
        self.now.set(lambda s, e: self.saved[s, e])

    def visible(self, s: Member, e: Member, flying: bool) -> int:  # noqa: FBT001 - a modelled value
        """Count what the last checkpoint holds, ``flying`` what was on its way."""
        return if_else(flying, one_more(self.saved[s, e]), self.saved[s, e])

    def promised(self, s: Member, e: Member, passed: bool, flying: bool) -> bool:  # noqa: FBT001 - modelled values
        """The checkpoint that promises the event is the one that holds it."""
        return passed


class AppendAtOnce(Output):
    """The operator appends a row to a store outside as it processes an event."""

    breaks: ClassVar[tuple[str, ...]] = ("at-most-once", "effectively-once")

    in_checkpoints = False

    rows = state(0, per=(S, E), high=MOST)

    def process(self, s: Member, e: Member) -> None:
        """Let an event take effect, and append its row."""
        super().process(s, e)
        self.rows[s, e] = self.written(self.rows[s, e])

    def written(self, rows: int) -> int:
        """Return how many rows of an event there are when it is written once more."""
        return one_more(rows)

    def visible(self, s: Member, e: Member, flying: bool) -> int:  # noqa: FBT001 - a modelled value
        """A reader sees every row."""
        return self.rows[s, e]

    def promised(self, s: Member, e: Member, passed: bool, flying: bool) -> bool:  # noqa: FBT001 - modelled values
        """An event that the checkpoint holds on its way is yet to be written."""
        return all_of(passed, not_(flying))


class UpsertAtOnce(AppendAtOnce):
    """The operator writes a row by its event's key to a store outside, at once."""

    breaks: ClassVar[tuple[str, ...]] = ()

    def written(self, rows: int) -> int:
        """There is one row of a key."""
        return max_of(rows, 1)
