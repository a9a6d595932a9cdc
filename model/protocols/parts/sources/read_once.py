"""Sources that give their events once."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sources.replayable import Replayable


class ReadOnce(Replayable):
    """A socket or a queue that forgets what was read. Spark's guide: for tests alone.

    The driver keeps what it has read for the tasks of a batch, which may fail; when it
    dies, the events of that batch are gone.
    """

    breaks = (
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
        "agreement",
    )

    taken = state(False, per=Replayable.BATCH)
    gone = state(False, per=Replayable.BATCH)

    def has(self, b: Member) -> bool:
        """Return whether the batch was not read by a driver that died."""
        return not_(self.gone[b])

    def restart(self) -> None:
        """What a driver before this one has read is gone."""
        self.gone.set(lambda b: any_of(self.gone[b], self.taken[b]))

    def read(self, b: Member) -> None:
        """The events leave the source."""
        self.taken[b] = True


class AcknowledgedEarly(ReadOnce):
    """A receiver that acknowledges events as it gets them, whatever batch they are for.

    Spark Streaming's receivers without a write-ahead log, and a consumer whose offsets
    a timer commits. What the driver has received dies with it, even if no batch of it
    is logged by then.
    """

    up = state(False, volatile=True)

    @action(per=Replayable.BATCH, by="source")
    def receive(self, b: Member) -> None:
        """The driver receives the next events, which the source then forgets."""
        when(
            self.up,
            not_(self.taken[b]),
            all_of(implies(x < b, self.taken[x]) for x in self.BATCH),
        )
        self.taken[b] = True

    def restart(self) -> None:
        """What a driver before this one has received is gone."""
        super().restart()
        self.up = True
