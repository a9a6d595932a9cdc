"""A Python DataSource writer that stages files and publishes them without a check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamWriter

from onceproof.model.protocols.parts.sinks.staged import StagedUnprotected
from onceproof.spark_checks.sinks.interface import Format, ModelledSink, Target
from onceproof.spark_checks.sinks.reference import sqlite
from onceproof.spark_checks.sinks.reference.staged_files import (
    StagedFile,
    folders,
    stage_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def move_file(folder: str, name: str) -> None:
    """Move a staged file to where readers look."""
    (Path(folder) / "staged" / name).rename(Path(folder) / "published" / name)


class MovingWriter(DataSourceStreamWriter):
    """Stages in tasks, moves in ``commit``, deletes in ``abort``."""

    def __init__(self, folder: str) -> None:
        """Write below ``folder``."""
        self.folder = folder

    def write(self, iterator: Iterator[Any]) -> StagedFile:
        """Stage the rows of a partition."""
        return StagedFile(stage_rows(self.folder, list(iterator)))

    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803, ARG002 - Spark's name
        """Move the files one by one."""
        for message in messages:
            move_file(self.folder, message.name)

    def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803, ARG002 - Spark's name
        """Delete the files, wherever they are."""
        for message in messages:
            if message is not None:
                for place in ("staged", "published"):
                    (Path(self.folder) / place / message.name).unlink(missing_ok=True)


class MovedFiles(DataSource):
    """The format ``moved_files`` with the option ``folder``."""

    @classmethod
    def name(cls) -> str:
        """Name the format."""
        return "moved_files"

    def streamWriter(self, schema: StructType, overwrite: bool) -> MovingWriter:  # noqa: N802, ARG002, FBT001 - Spark's signature
        """Make the writer."""
        return MovingWriter(self.options["folder"])


def build(target: Target) -> Format:
    """Read every file that was moved."""
    folder = folders(target)

    def read(spark: SparkSession) -> DataFrame:
        files = [str(f) for f in sorted((Path(folder) / "published").glob("*.json"))]
        if not files:
            return spark.createDataFrame([], sqlite.SCHEMA)
        return spark.read.schema(sqlite.SCHEMA).json(files)

    return Format(MovedFiles, {"folder": folder}, read=read)


SINK = ModelledSink(
    name="datasource-unprotected",
    build=build,
    model=StagedUnprotected,
    steps={"write": "stage_rows", "sink.move": "move_file"},
    refuted=frozenset({"at-most-once", "effectively-once", "atomic-visibility"}),
    unseen=frozenset({"durable"}),
)
