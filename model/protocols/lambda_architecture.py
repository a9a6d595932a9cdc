"""A speed layer that may repeat events, and a batch layer that corrects it."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.reprocessing.batch_layer import BatchLayer

MOST = 2


class LambdaArchitecture(Protocol):
    """A batch layer corrects a speed layer. Marz and Warren, Big Data, 2015.

    Events are appended to a log that is kept for ever. The speed layer adds each to
    its view, and then notes that it has; it may die in between, and adds the event
    again. The batch layer computes its view anew from the whole log. Readers see the
    batch view of the events that it has, and the speed layer's view of the others.
    Assumed: a reader asks both views of an event at one moment, and each view can tell
    which events it has.
    """

    breaks = ("at-most-once", "effectively-once")

    E = BatchLayer.E

    batch = part(BatchLayer)

    log = state(False, per=E)
    counted = state(0, high=MOST, per=E)
    noted = state(False, per=E)
    added = state(False, per=E, volatile=True)

    @action(per=E, by="source")
    def append(self, e: Member) -> None:
        """An event is appended to the log."""
        when(not_(self.log[e]))
        self.log[e] = True

    @action(per=E, by="speed layer")
    def add(self, e: Member) -> None:
        """The speed layer adds an event to its view."""
        when(
            self.log[e],
            not_(self.noted[e]),
            all_of(not_(self.added[x]) for x in self.E),
        )
        self.counted[e] = min_of(self.counted[e] + 1, MOST)
        self.added[e] = True

    @action(per=E, by="speed layer")
    def note(self, e: Member) -> None:
        """The speed layer notes that it has added the event."""
        when(self.added[e])
        self.noted[e] = True
        self.added[e] = False

    @action(by="batch layer")
    def begin_batch(self) -> None:
        """A run of the batch layer computes a view of the log as it is."""
        when(any_of(all_of(self.log[e], self.batch.begin(e)) for e in self.E))
        self.batch.computed.set(lambda e: self.log[e])

    @fault(by="speed layer")
    def speed_layer_dies(self) -> None:
        """What the speed layer added and did not note will be added again."""
        when(any_of(self.added[e] for e in self.E))
        self.added.fill(value=False)

    @observe(per=E)
    def visible(self, e: Member) -> int:
        """Readers merge the two views."""
        shown = if_else(self.batch.hides(e), 0, self.counted[e])
        return if_else(self.batch.covers(e), 1, shown)

    @observe(per=E)
    def accepted(self, e: Member) -> bool:
        """The log has the event."""
        return self.log[e]

    @observe(per=E)
    def expected(self, e: Member) -> int:
        """A batch run counts each event of the log once."""
        return if_else(self.log[e], 1, 0)

    @observe(per=E)
    def promised(self, e: Member) -> bool:
        """The speed layer has noted the event, or the batch view has it."""
        return any_of(self.noted[e], self.batch.covers(e))

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

    @lemma
    def shows_what_the_log_has(self) -> bool:
        """Each view has events of the log alone."""
        return all_of(
            implies(
                any_of(
                    self.counted[e] > 0, self.batch.computed[e], self.batch.covers(e)
                ),
                self.log[e],
            )
            for e in self.E
        )

    @lemma
    def counts_what_is_noted(self) -> bool:
        """The speed layer has added what it notes."""
        return all_of(
            implies(any_of(self.added[e], self.noted[e]), self.counted[e] > 0)
            for e in self.E
        )
