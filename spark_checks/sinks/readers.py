"""Readers of a sink: by a function, by a table's name, or by a path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Read, UnderTest

_FORMATS = ("parquet", "json", "orc", "avro")


def reader_of(sink: UnderTest, place: Any = None) -> Read:
    """Return a sink's reader as a function of a Spark session.

    A text with a slash is a path, any other the name of a table. A path is read in the
    format of the store whose ``place`` it is in. Elsewhere it is read in the format of
    its files' endings, or as a table of Delta where it has such a log.
    """
    read = sink.read
    if callable(read):
        return read
    if isinstance(read, Path) or "/" in read:
        path, known = Path(read), _format_at(Path(read), place)
        return lambda spark: _at(spark, path, known)
    return lambda spark: spark.read.table(str(read))


def _format_at(path: Path, place: Any) -> str:
    """Return the format of a store's place that a path is in; empty for none.

    Until the first commit of a table format, nothing but the store says that files
    which lie there are no rows yet.
    """
    known = str(getattr(place, "format", ""))
    return known if known and path.is_relative_to(place.path) else ""


def _at(spark: SparkSession, path: Path, known: str) -> DataFrame:
    if known:
        return spark.read.format(known).load(str(path))
    if (path / "_delta_log").is_dir():
        return spark.read.format("delta").load(str(path))
    files = (f for f in path.rglob("*") if f.is_file() and f.name[0] not in "._")
    endings = {part for f in files for part in f.name.split(".")[1:]}
    found = [name for name in _FORMATS if name in endings]
    if len(found) > 1 or (endings and not found):
        message = (
            f"{path} holds files of no one format that is known by its ending "
            f"({', '.join(sorted(endings))}); help: give read= a function of a session"
        )
        raise UsageError(message)
    return spark.read.format(found[0] if found else "parquet").load(str(path))
