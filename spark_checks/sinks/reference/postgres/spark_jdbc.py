"""foreachBatch that appends by Spark's JDBC writer.

Each partition is a transaction of its own, so a part of a batch shows while others are
written. A batch that Spark runs again is appended again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.stores.jars.connectors import connector
from onceproof.spark_checks.stores.postgres.store import Postgres

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(target: Target) -> ForeachBatch:
    """Append to a table without a key."""
    url = tables.create(target)
    options = target.store.options

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.write.jdbc(options["url"], "flights", mode="append", properties=options)

    return ForeachBatch(write, read=tables.reader(url))


_SINK = ModelledSink(
    name="postgres-spark-jdbc",
    build=build,
    model=Append,
    refuted=frozenset({"at-most-once", "effectively-once"}),
    unseen=frozenset({"atomic-visibility"}),
    store=Postgres(jdbc=True),
)

SINK = _SINK if connector("postgres") else None
"""There is none where no driver is known for the PySpark that is installed."""
