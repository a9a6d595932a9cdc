"""foreachBatch that puts a batch into a log on S3, under a number that is free.

It looks up once whether the log has the batch. A number that is taken looks to it like
that of another writer. If the entry was put but the reply was lost, it is its own: the
client tries again by itself, and is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.micro_batch_unreliable import MicroBatchUnreliable
from onceproof.model.protocols.parts.sinks.batch_ledger import NumberedLog
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.s3 import log
from onceproof.spark_checks.stores.s3.store import S3
from onceproof.spark_checks.stores.unreliable import Unreliable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from onceproof.spark_checks.stores.s3.place import S3Place


def write_batch(place: S3Place, number: int, batch_id: int, rows: list[Row]) -> bool:
    """Put the entry, unless its number is taken; return whether it is put."""
    try:
        log.put_entry(place, number, batch_id, rows)
    except log.NumberTaken:
        return False
    return True


def build(target: Target) -> ForeachBatch:
    """Take the next number until an entry is put."""
    place = target.store

    def write(batch: DataFrame, batch_id: int) -> None:
        found = log.entries(place)
        if batch_id in {entry.batch_id for entry in found}:
            return
        rows, number = batch.collect(), len(found)
        while not write_batch(place, number, batch_id, rows):
            number += 1

    return ForeachBatch(write, read=log.reader(place))


SINK = ModelledSink(
    name="s3-log-renumbered",
    build=build,
    model=NumberedLog,
    engine=MicroBatchUnreliable,
    parameters={"retries": 4},
    steps={"sink.write_batch": "write_batch"},
    refuted=frozenset({"at-most-once", "effectively-once"}),
    store=Unreliable(S3()),
)
