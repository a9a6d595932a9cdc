"""Hudi's own streaming writer, as ``writeStream.format("hudi")`` starts it.

It commits the id of the batch with the rows, under the name ``default_single_writer``,
which all queries share unless they are given another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.spark_checks.sinks.interface import Format, ModelledSink
from onceproof.spark_checks.sinks.reference.sqlite import COLUMNS
from onceproof.spark_checks.stores.tables.hudi import Hudi

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Target


def build(target: Target) -> Format:
    """Let Spark write, and read the last commit of the table."""
    path = f"{target.store.path}/flights"

    def read(spark: SparkSession) -> DataFrame:
        return spark.read.format("hudi").load(path).select(*COLUMNS.split(", "))

    return Format("hudi", {"path": path, "hoodie.table.name": "flights"}, read=read)


SINK = ModelledSink(
    name="hudi-stream",
    build=build,
    model=BatchLedger,
    refuted=frozenset(),
    store=Hudi(),
)
