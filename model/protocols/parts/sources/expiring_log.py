"""A log whose events expire, whoever has read them."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sources.replayable import Replayable


class ExpiringLog(Replayable):
    """A log that deletes old events, though no batch has them yet. Kafka, retention.

    Spark's option ``failOnDataLoss=false``: the query goes on without them. A batch
    that has begun has its events.
    """

    breaks = (
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
    )

    gone = state(False, per=Replayable.BATCH)

    def has(self, b: Member) -> bool:
        """Return whether the events of the batch have not expired."""
        return not_(self.gone[b])

    @fault(per=Replayable.BATCH)
    def expire(self, b: Member) -> None:
        """The log deletes the events of a batch."""
        when(not_(self.gone[b]))
        self.gone[b] = True
