"""Readers of a sink: by a function, by a table's name, or by a path; or several."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import Read, ReadBy, Readers, UnderTest

ALONE = ""
"""The name of a reader that is the only one."""
_FORMATS = ("parquet", "json", "orc", "avro")


def named_readers(read: Readers) -> dict[str, ReadBy]:
    """Return readers by their names; one that has none is ``ALONE``.

    Raises ``UsageError`` for what names no readers.
    """
    if not isinstance(read, Mapping):
        return {ALONE: read}
    named = all(isinstance(name, str) and name.isidentifier() for name in read)
    if not (read and named):
        names = ", ".join(map(repr, read)) or "nothing"
        message = (
            f"read= names {names}, and a reader is named by a word; help: "
            "read={'orders': ..., 'events': ...}"
        )
        raise UsageError(message)
    return dict(read)


def readers_of(sink: UnderTest, place: Any = None) -> dict[str, Read]:
    """Return a sink's readers as functions of a Spark session, by their names."""
    named = named_readers(sink.read)
    return {name: _reader_of(read, place) for name, read in named.items()}


def _reader_of(read: ReadBy, place: Any) -> Read:
    """Return a reader as a function of a Spark session.

    A text with a slash is a path, any other the name of a table. A path is read in the
    format of the store whose ``place`` it is in. Elsewhere it is read in the format of
    its files' endings, or as a table of Delta where it has such a log.
    """
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
    for one in (place, *getattr(place, "places", {}).values()):
        known = str(getattr(one, "format", ""))
        if known and path.is_relative_to(one.path):
            return known
    return ""


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
