"""Readers of a sink: by a function, by a table's name, or by a path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Read, UnderTest

_FORMATS = ("parquet", "json", "orc", "avro")


def reader_of(sink: UnderTest) -> Read:
    """Return a sink's reader as a function of a Spark session.

    A text with a slash is a path, any other the name of a table. A path is read in the
    format of its files' endings, or as a table of Delta where it has such a log.
    """
    read = sink.read
    if callable(read):
        return read
    if isinstance(read, Path) or "/" in read:
        return lambda spark: _at(spark, Path(read))
    return lambda spark: spark.read.table(str(read))


def _at(spark: SparkSession, path: Path) -> DataFrame:
    if (path / "_delta_log").is_dir():
        return spark.read.format("delta").load(str(path))
    files = (f for f in path.rglob("*") if f.is_file() and f.name[0] not in "._")
    endings = {part for f in files for part in f.name.split(".")[1:]}
    known = [name for name in _FORMATS if name in endings]
    if len(known) > 1 or (endings and not known):
        message = (
            f"{path} holds files of no one format that is known by its ending "
            f"({', '.join(sorted(endings))}); help: give read= a function of a session"
        )
        raise UsageError(message)
    return spark.read.format(known[0] if known else "parquet").load(str(path))
