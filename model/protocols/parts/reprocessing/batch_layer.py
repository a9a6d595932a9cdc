"""The batch layer of a Lambda architecture, and how its view takes over."""

from __future__ import annotations

from onceproof.model.language import *

E = Sort("event", size=2, ordered=True)


class BatchLayer(Part):
    """Computes a view of the whole log, which takes over from the last one at once."""

    E = E

    upto = state(0, high=E)
    computed = state(0, high=E, volatile=True)

    def begin(self, log: int) -> None:
        """A run reads the log as it is, and computes a view."""
        when(log > self.upto, self.computed == 0)
        self.computed = log

    def covers(self, e: Member) -> bool:
        """Return whether the view that readers see has an event."""
        return self.upto > e

    def hides(self, e: Member) -> bool:
        """Return whether the speed layer's view of an event is gone."""
        return self.covers(e)

    @action(by="batch layer")
    def publish(self) -> None:
        """The new view takes the place of the old one."""
        when(self.computed > self.upto)
        self.upto = self.computed
        self.computed = 0

    @fault(by="batch layer")
    def die(self) -> None:
        """A run dies, and what it computed is lost."""
        self.lose_volatile()


class BatchLayerTruncatesFirst(BatchLayer):
    """Drops the speed layer's view before its own view is there."""

    breaks = ("durable",)

    truncated = state(0, high=E)

    def hides(self, e: Member) -> bool:
        """The speed layer's view is dropped up to where the run read."""
        return self.truncated > e

    @action(by="batch layer")
    def truncate(self) -> None:
        """The speed layer's view is dropped as far as the new view goes."""
        when(self.computed > self.upto, self.truncated < self.computed)
        self.truncated = self.computed

    @action(by="batch layer")
    def publish(self) -> None:
        """The new view takes the place of the old one, and of what was dropped."""
        when(self.computed > self.upto, self.truncated >= self.computed)
        self.upto = self.computed
        self.computed = 0


class NoBatchLayer(BatchLayer):
    """Never runs, so that nothing corrects the speed layer."""

    breaks = ("batch-equivalence", "is-corrected")

    def begin(self, log: int) -> None:
        """No run ever begins."""
        when(self.upto > log)
        self.computed = log
