"""The batch layer of a Lambda architecture, and how its view takes over."""

from __future__ import annotations

from onceproof.model.language import *

E = Sort("event", size=2)


class BatchLayer(Part):
    """Computes a view of the whole log, whose shards are published one by one.

    Each event is in a shard of its own. From the moment that a shard is published,
    readers ask it, and no longer the speed layer, for what it holds.
    """

    E = E

    computed = state(False, per=E, volatile=True)
    published = state(False, per=E)

    def is_idle(self) -> bool:
        """Return whether no run is under way: all that it computed is published."""
        return all_of(implies(self.computed[e], self.published[e]) for e in self.E)

    def begin(self, e: Member) -> bool:
        """Return whether a run begins that event ``e`` of the log is new to."""
        return all_of(self.is_idle(), not_(self.published[e]))

    def covers(self, e: Member) -> bool:
        """Return whether the view that readers see has an event."""
        return self.published[e]

    def hides(self, e: Member) -> bool:
        """Return whether the speed layer's view of an event is gone."""
        return self.covers(e)

    @action(per=E, by="batch layer")
    def publish(self, e: Member) -> None:
        """A shard of the new view takes the place of the old one."""
        when(self.computed[e], not_(self.published[e]))
        self.published[e] = True

    @fault(by="batch layer")
    def die(self) -> None:
        """A run dies; what it has not published is lost."""
        self.lose_volatile()


class BatchLayerTruncatesFirst(BatchLayer):
    """Drops the speed layer's view before its own view is there."""

    breaks = ("durable",)

    truncated = state(False, per=E)

    def hides(self, e: Member) -> bool:
        """The speed layer's view is dropped up to where the run read."""
        return self.truncated[e]

    @action(by="batch layer")
    def truncate(self) -> None:
        """The speed layer's view is dropped as far as the new view goes."""
        when(any_of(self._is_due(e) for e in self.E))
        self.truncated.where(self._is_due).fill(value=True)

    def _is_due(self, e: Member) -> bool:
        return all_of(self.computed[e], not_(self.truncated[e]))

    @action(per=E, by="batch layer")
    def publish(self, e: Member) -> None:
        """A shard takes the place of the old one, and of what was dropped."""
        when(self.computed[e], self.truncated[e], not_(self.published[e]))
        self.published[e] = True


class NoBatchLayer(BatchLayer):
    """Never runs, so that nothing corrects the speed layer."""

    breaks = ("batch-equivalence", "is-corrected")

    def begin(self, e: Member) -> bool:
        """No run ever begins."""
        return not_(e == e)
