"""foreachBatch with an outbox, whose readers take every event that they get.

The sink is right: it loses nothing. But a relay sends again what it could not remove
from the outbox, and these readers do not know an event that they have seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.dual_write import Outbox
from onceproof.model.protocols.two_stores import MicroBatchTwoStores
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres_kafka import outbox, stores

if TYPE_CHECKING:
    from onceproof.spark_checks.sinks.interface import Readers


def build(target: Target) -> ForeachBatch:
    """Send by way of an outbox; read events as they come."""
    write = outbox.build(target).write
    read: Readers = stores.readers(target)
    return ForeachBatch(write, read=read)


SINK = ModelledSink(
    name="postgres-kafka-outbox-read-plainly",
    build=build,
    model=Outbox,
    engine=MicroBatchTwoStores,
    steps=outbox.STEPS,
    refuted=frozenset({"at-most-once", "effectively-once", "atomic-visibility"}),
    store=stores.STORE,
)
