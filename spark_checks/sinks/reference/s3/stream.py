"""Spark's own parquet file sink with its files and its manifest on S3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.manifest import Manifest
from onceproof.spark_checks.sinks.interface import Files, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.sqlite import SCHEMA
from onceproof.spark_checks.stores.s3.store import S3

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def build(target: Target) -> Files:
    """Write parquet files, and let Spark read those that the manifest names."""
    path = f"{target.store.path}/flights"

    def read(spark: SparkSession) -> DataFrame:
        return spark.read.schema(SCHEMA).parquet(path)

    return Files("parquet", path, read=read)


SINK = ModelledSink(
    name="s3-stream",
    build=build,
    model=Manifest,
    refuted=frozenset(),
    store=S3(),
)
