"""foreachBatch whose appends to Delta Lake carry a number that starts again from 0.

It counts batches in memory. A driver that starts again counts from 0, and Delta skips
every write whose number is not greater than the last one: these rows are lost. With a
new checkpoint batch ids start from 0 too, so ``txnAppId`` must change with it.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.batch_ledger import LedgerOfCounter
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.delta import tables
from onceproof.spark_checks.sinks.reference.delta.txn import write_batch
from onceproof.spark_checks.stores.tables.delta import Delta

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(target: Target) -> ForeachBatch:
    """Count batches from 0 in each process."""
    path = tables.place(target)
    numbers = itertools.count()

    def write(batch: DataFrame, batch_id: int) -> None:
        write_batch(batch, path, next(numbers))

    return ForeachBatch(write, read=tables.reader(path))


SINK = ModelledSink(
    name="delta-txn-counted",
    build=build,
    model=LedgerOfCounter,
    steps={"sink.write_batch": "write_batch"},
    refuted=frozenset({"at-least-once", "effectively-once", "durable", "recoverable"}),
    store=Delta(),
)
