"""Spark's own parquet file sink, read as a plain folder of files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.manifest import ManifestDirectory
from onceproof.spark_checks.sinks.interface import Files, ModelledSink, Target
from onceproof.spark_checks.sinks.reference import sqlite

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def build(target: Target) -> Files:
    """Write parquet files, and read whatever lies in the folder, as pandas would."""
    path = str(target.path / "table")

    def read(spark: SparkSession) -> DataFrame:
        files = [str(f) for f in sorted(Path(path).glob("part-*.parquet"))]
        if not files:
            return spark.createDataFrame([], sqlite.SCHEMA)
        return spark.read.schema(sqlite.SCHEMA).parquet(*files)

    return Files("parquet", path, read=read)


SINK = ModelledSink(
    name="parquet-folder",
    build=build,
    model=ManifestDirectory,
    refuted=frozenset({"at-most-once", "effectively-once", "atomic-visibility"}),
    unseen=frozenset({"durable"}),
)
