"""Micro-batches whose checkpoint may be lost, moved or replaced by an empty one."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.micro_batch import Driver, MicroBatch
from onceproof.model.protocols.parts.sinks.recut import AppendRecut, BatchLedgerRecut


class MicroBatchNewCheckpoint(MicroBatch):
    """Micro-batches whose restart may find no checkpoint. Spark's guide, recovery.

    The Structured Streaming Programming Guide: where a query stopped is known from its
    checkpoint alone. Without it the query reads its source from the start, all that is
    there in one batch, and counts batches from 0 again. A sink that skips a batch by
    its number then skips events that it never had. Left out: sources that start at
    their end, as Kafka does by default, sources that do not keep their events, limits
    on the size of a batch, and state of a query.
    """

    breaks = ("at-least-once", "effectively-once", "durable", "recoverable")

    checkpoints = param(1, "how many faults may leave an empty checkpoint")
    sink = part(AppendRecut, default=BatchLedgerRecut)

    @action(per=MicroBatch.BATCH)
    def log_offsets(self, b: Member) -> None:
        """The driver logs which offsets the next batch holds, if there is one."""
        when(
            self.driver == Driver.PLANNING,
            self.offsets == b,
            self.commits == b,
            any_of(not_(self.sink.joined), self.commits == 0),
        )
        self.offsets = b + 1

    @fault(at_most=checkpoints)
    def new_checkpoint(self) -> None:
        """The driver dies, and the restart finds a new, empty checkpoint."""
        when(self.driver != Driver.DOWN)
        self.lose_volatile()
        self.offsets = 0
        self.commits = 0
        self.sink.joined = True

    @observe(per=(MicroBatch.BATCH, MicroBatch.PARTITION))
    def promised(self, b: Member, e: Member) -> bool:
        """The commit log says that the batch with the event is done."""
        return if_else(self.sink.joined, self.commits > 0, self.commits > b)

    @observe(per=(MicroBatch.BATCH, MicroBatch.PARTITION))
    def rejected(self, b: Member, e: Member) -> bool:
        """The engine has moved past the event, and it is not there."""
        return all_of(self.promised(b, e), self.sink.visible(b, e) == 0)
