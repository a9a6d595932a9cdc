"""Paimon's own streaming writer, as ``writeStream.format("paimon")`` starts it.

It commits each batch under a new name of its own: nothing in the table says which batch
it was. Paimon's issue 9666 is about that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from onceproof.model.protocols.parts.sinks.append import AppendWhole
from onceproof.spark_checks.sinks.interface import Format, ModelledSink
from onceproof.spark_checks.sinks.reference.sqlite import SCHEMA
from onceproof.spark_checks.stores.tables.paimon import Paimon

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from onceproof.spark_checks.sinks.interface import Target


def build(target: Target) -> Format:
    """Let Spark write, and read the last snapshot of the table."""
    table = f"{target.store.namespace}.flights"
    spark = SparkSession.builder.getOrCreate()
    spark.sql(f"CREATE TABLE {table} ({SCHEMA}) USING paimon")

    def read(spark: SparkSession) -> DataFrame:
        return spark.read.table(table)

    return Format("paimon", {"path": f"{target.store.path}/flights"}, read=read)


SINK = ModelledSink(
    name="paimon-stream",
    build=build,
    model=AppendWhole,
    refuted=frozenset({"at-most-once", "effectively-once"}),
    store=Paimon(),
)
