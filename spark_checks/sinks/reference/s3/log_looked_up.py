"""foreachBatch that puts a batch into a log on S3, and looks again if it is refused.

If the entry was put but the reply was lost, the client tries again by itself, and is
refused. The sink then finds its own entry in the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.micro_batch_unreliable import MicroBatchUnreliable
from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.s3 import log
from onceproof.spark_checks.stores.s3.store import S3
from onceproof.spark_checks.stores.unreliable import Unreliable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from onceproof.spark_checks.stores.s3.place import S3Place


def write_batch(place: S3Place, batch_id: int, rows: list[Row]) -> bool:
    """Put the entry under the next number, unless the log has the batch."""
    found = log.entries(place)
    if batch_id in {entry.batch_id for entry in found}:
        return True
    try:
        log.put_entry(place, len(found), batch_id, rows)
    except log.NumberTaken:
        return False
    return True


def build(target: Target) -> ForeachBatch:
    """Look until the log has the batch."""
    place = target.store

    def write(batch: DataFrame, batch_id: int) -> None:
        rows = batch.collect()
        while not write_batch(place, batch_id, rows):
            pass

    return ForeachBatch(write, read=log.reader(place))


SINK = ModelledSink(
    name="s3-log-looked-up",
    build=build,
    model=BatchLedger,
    engine=MicroBatchUnreliable,
    parameters={"retries": 4},
    steps={"sink.write_batch": "write_batch"},
    refuted=frozenset(),
    store=Unreliable(S3()),
)
