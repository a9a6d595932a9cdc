"""Spark's own parquet file sink, read by its manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.manifest import Manifest
from onceproof.spark_checks.sinks.interface import Files, ModelledSink, Target
from onceproof.spark_checks.sinks.reference import sqlite

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def build(target: Target) -> Files:
    """Write parquet files, and let Spark read them back."""
    path = str(target.path / "table")

    def read(spark: SparkSession) -> DataFrame:
        return spark.read.schema(sqlite.SCHEMA).parquet(path)

    return Files("parquet", path, read=read)


SINK = ModelledSink(
    name="parquet-manifest",
    build=build,
    model=Manifest,
    refuted=frozenset(),
)
