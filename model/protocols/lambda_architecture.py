"""A speed layer that may repeat events, and a batch layer that corrects it."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.reprocessing.batch_layer import BatchLayer

MOST = 2


class LambdaArchitecture(Protocol):
    """A batch layer corrects a speed layer. Marz and Warren, Big Data, 2015.

    Events are appended to a log that is kept for ever. The speed layer adds each to
    its view, and notes how far it is; it may die in between, and then adds an event
    again. The batch layer computes its view anew from the whole log. Readers see the
    batch view as far as it goes, and the speed layer's view of later events.
    """

    breaks = ("at-most-once", "effectively-once")

    E = BatchLayer.E

    batch = part(BatchLayer)

    log = state(0, high=E)
    counted = state(0, high=MOST, per=E)
    offset = state(0, high=E)
    added = state(False, volatile=True)

    @action(per=E, by="source")
    def append(self, e: Member) -> None:
        """The next event is appended to the log."""
        when(self.log == e)
        self.log = e + 1

    @action(per=E, by="speed layer")
    def add(self, e: Member) -> None:
        """The speed layer adds the next event to its view."""
        when(self.offset == e, self.log > e, not_(self.added))
        self.counted[e] = min_of(self.counted[e] + 1, MOST)
        self.added = True

    @action(per=E, by="speed layer")
    def note_offset(self, e: Member) -> None:
        """The speed layer notes that it has added the event."""
        when(self.added, self.offset == e)
        self.offset = e + 1
        self.added = False

    @action(by="batch layer")
    def begin_batch(self) -> None:
        """A run of the batch layer begins, over the log as it is."""
        self.batch.begin(self.log)

    @fault(by="speed layer")
    def speed_layer_dies(self) -> None:
        """What the speed layer added and did not note will be added again."""
        when(self.added)
        self.added = False

    @observe(per=E)
    def visible(self, e: Member) -> int:
        """Readers merge the two views."""
        shown = if_else(self.batch.hides(e), 0, self.counted[e])
        return if_else(self.batch.covers(e), 1, shown)

    @observe(per=E)
    def accepted(self, e: Member) -> bool:
        """The log has the event."""
        return self.log > e

    @observe(per=E)
    def expected(self, e: Member) -> int:
        """A batch run counts each event of the log once."""
        return if_else(self.log > e, 1, 0)

    @observe(per=E)
    def promised(self, e: Member) -> bool:
        """The speed layer has noted the event, or the batch view has it."""
        return any_of(self.offset > e, self.batch.covers(e))

    @sometimes
    def is_corrected(self) -> bool:
        """The speed layer can count an event twice that readers see once."""
        return any_of(all_of(self.counted[e] > 1, self.visible(e) == 1) for e in self.E)

    @sometimes
    def is_early(self) -> bool:
        """Readers can see an event that no batch view has yet."""
        return any_of(
            all_of(self.visible(e) == 1, not_(self.batch.covers(e))) for e in self.E
        )
