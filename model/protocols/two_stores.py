"""Micro-batches into two stores, each with readers of its own."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.parts.sinks.dual_write import DualWrite


class MicroBatchTwoStores(MicroBatch):
    """Micro-batches whose events take effect in two stores. Kleppmann, DDIA, 2017.

    Designing Data-Intensive Applications, chapter 11, calls it the dual write. An event
    owes an effect in each store, and the effects of a batch belong together. Readers
    look at both stores at once.
    """

    breaks = ("at-most-once", "effectively-once", "atomic-visibility")

    STORE = Sort("store", ordered=True, most=2)

    sink = part(DualWrite)

    @observe(per=(MicroBatch.BATCH, MicroBatch.PARTITION, STORE))
    def visible(self, b: Member, e: Member, s: Member) -> int:  # type: ignore[override]
        """What a reader sees in one of the stores."""
        return if_else(
            s == 0, self.sink.first.visible(b, e), self.sink.second.visible(b, e)
        )

    @observe(per=(MicroBatch.BATCH, MicroBatch.PARTITION, STORE))
    def accepted(self, b: Member, e: Member, s: Member) -> bool:  # type: ignore[override]
        """The source holds every event, and each store is owed it."""
        return True

    @observe(per=(MicroBatch.BATCH, MicroBatch.PARTITION, STORE))
    def promised(self, b: Member, e: Member, s: Member) -> bool:  # type: ignore[override]
        """The commit log says that the batch is done, in both stores."""
        return self.commits > b

    @observe(per=(MicroBatch.BATCH, MicroBatch.PARTITION, STORE))
    def rejected(self, b: Member, e: Member, s: Member) -> bool:  # type: ignore[override]
        """The engine has moved past the batch, and the store does not have it."""
        return all_of(self.commits > b, self.visible(b, e, s) == 0)

    @observe(per=(MicroBatch.BATCH, MicroBatch.PARTITION, STORE))
    def unit(self, b: Member, e: Member, s: Member) -> int:  # type: ignore[override]
        """The effects of one batch belong together, in both stores."""
        return b

    @sometimes
    def only_one_has_it(self) -> bool:
        """One of the stores can have a batch that the other does not have."""
        return any_of(
            all_of(
                self.sink.first.visible(b, e) > 0, self.sink.second.visible(b, e) == 0
            )
            for b in self.BATCH
            for e in self.PARTITION
        )
