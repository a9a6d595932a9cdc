"""How barriers of several inputs are brought together, and what of channels is kept."""

from __future__ import annotations

from onceproof.model.language import *

S = Sort("source", size=2)


class Alignment(Part):
    """Aligned: an input whose barrier has come waits until all barriers have.

    Carbone and others, 2015. Another way to bring barriers together redefines when
    an input is read, when the state is snapshot, and what of a channel is recorded.
    """

    S = S
    came = state(False, per=S, volatile=True)
    taken = state(False, volatile=True)

    def reads(self, s: Member) -> bool:
        """Return whether the operator takes events from an input."""
        return any_of(not_(self.came[s]), self.taken)

    def completes(self, s: Member) -> bool:
        """Return whether the barrier of an input is the last to come."""
        return all_of(self.came[x] | (x == s) for x in self.S)

    def snapshots(self, s: Member) -> bool:
        """Return whether the state is snapshot as the barrier of an input comes."""
        return self.completes(s)

    def overtakes(self, s: Member) -> bool:
        """Return whether a barrier comes before the events that were sent before it."""
        return s != s

    def keeps(self, s: Member) -> bool:
        """Return whether what is on its way from an input is part of a checkpoint."""
        return s != s

    def records(self, s: Member) -> bool:
        """Return whether an event that is processed was on its way at the snapshot."""
        return all_of(self.keeps(s), self.taken, not_(self.came[s]))


class Unaligned(Alignment):
    """Barriers overtake events; the first one takes the snapshot.

    What is then on its way, up to the other barriers, is part of the checkpoint.
    """

    def reads(self, s: Member) -> bool:
        """No input ever waits."""
        return s == s

    def snapshots(self, s: Member) -> bool:
        """The first barrier to come takes the snapshot."""
        return not_(self.taken)

    def overtakes(self, s: Member) -> bool:
        """A barrier is handed on at once."""
        return s == s

    def keeps(self, s: Member) -> bool:
        """Every input's events are recorded."""
        return s == s


class UnalignedWithoutChannels(Unaligned):
    """Barriers overtake events, and what is on its way is left out."""

    breaks = ("at-least-once", "effectively-once", "durable", "recoverable")

    def keeps(self, s: Member) -> bool:
        """Nothing is recorded."""
        return s != s


class AtLeastOnce(Alignment):
    """No input waits, and the last barrier takes the snapshot."""

    breaks = ("at-most-once", "effectively-once")

    def reads(self, s: Member) -> bool:
        """An input is read on, though its barrier has come."""
        return s == s
