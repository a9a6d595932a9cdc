"""What a leader knows of the numbers of a producer."""

from __future__ import annotations

from typing import NamedTuple

from onceproof.model.language import *

M = Sort("message", size=2, ordered=True)


EPOCHS = 1


class Known(NamedTuple):
    """What is known of a producer."""

    epoch: int
    """The epoch of the producer."""
    next: int
    """The number that its next message has."""


class Sequence(Part):
    """What a leader knows of a producer: its epoch, and how far its numbers go.

    It is written with the message and replicated with it, so that a new leader
    knows as much as its log holds.
    """

    M = M
    known = state(Known(0, 0), high={"epoch": EPOCHS, "next": M})
    copied = state(Known(0, 0), high={"epoch": EPOCHS, "next": M})

    def follows(self, m: Member, epoch: int) -> bool:
        """Return whether a message is the next one, or the first of a new epoch."""
        return any_of(epoch > self.known.epoch, self.known == Known(epoch, m))

    def repeats(self, m: Member, epoch: int) -> bool:
        """Return whether a message is one that the log has."""
        known = self.known
        return any_of(epoch < known.epoch, all_of(epoch == known.epoch, known.next > m))

    def accept(self, m: Member, epoch: int) -> None:
        """A message is about to be written."""

    def persist(self, m: Member, epoch: int) -> None:
        """A message is written, and its number with it."""
        self.note(m, epoch)

    def note(self, m: Member, epoch: int) -> None:
        """Know a message from now on."""
        self.known = Known(epoch, m + 1)

    def replicate(self) -> None:
        """A follower has the log of the leader."""
        self.copied = self.known

    def fail_over(self) -> None:
        """A follower leads, with what it has."""
        self.known = self.copied


class WindowOfOne(Sequence):
    """A leader remembers one message, and refuses a repeat of an earlier one.

    Kafka remembers five, as many as a producer has under way at most. The producer of
    the model has one under way; a message that the network delays is earlier than that.
    """

    breaks = ("at-most-once", "effectively-once")

    def repeats(self, m: Member, epoch: int) -> bool:
        """Return whether a message is of an old epoch, or the last one that came."""
        known = self.known
        last = all_of(epoch == known.epoch, known.next == m + 1)
        return any_of(epoch < known.epoch, last)


class RecordedFirst(Sequence):
    """Records a number before the message is written, which may fail. Pulsar #5218."""

    breaks = (
        "at-most-once",
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
    )

    def accept(self, m: Member, epoch: int) -> None:
        """The message is known already."""
        self.note(m, epoch)

    def persist(self, m: Member, epoch: int) -> None:
        """Nothing new is known."""


class KnowsTheNextAlone(Sequence):
    """Takes a message that the log has for one out of order. Redpanda #3039.

    The producer then begins a new epoch, and sends the message under that.
    """

    breaks = ("at-most-once", "at-least-once", "effectively-once", "recoverable")

    def repeats(self, m: Member, epoch: int) -> bool:
        """Recognise nothing but what is of an old epoch."""
        return epoch < self.known.epoch
