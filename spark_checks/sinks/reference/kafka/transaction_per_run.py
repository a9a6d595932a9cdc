"""foreachBatch with a transaction per batch, and a new transactional id in each run.

No later run has the transactional id of a dead one, so none aborts the transaction that
it left open. That hides everything committed after it, until it times out.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.open_transactions import OpenTransactions
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.kafka import topics
from onceproof.spark_checks.sinks.reference.kafka.read_uncommitted import (
    commit,
    send_rows,
)
from onceproof.spark_checks.stores.kafka.store import Kafka

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# As long as brokers allow it, as for batches that take long.
TIME_OUT = {"transaction.timeout.ms": "900000"}


def build(target: Target) -> ForeachBatch:
    """Skip batches whose id is in the ledger."""
    place = target.store
    ledger = topics.make_ledger(place)

    def write(batch: DataFrame, batch_id: int) -> None:
        producer = topics.transactional(place, uuid.uuid4().hex, TIME_OUT)
        if not topics.is_done(place, ledger, batch_id):
            send_rows(producer, place.topic, batch.collect())
            commit(producer, ledger, batch_id)

    return ForeachBatch(write, read=topics.reader(place))


SINK = ModelledSink(
    name="kafka-transaction-per-run",
    build=build,
    model=OpenTransactions,
    steps={"sink.send_rows": "send_rows", "sink.commit": "commit"},
    refuted=frozenset(OpenTransactions.breaks),
    store=Kafka(),
)
