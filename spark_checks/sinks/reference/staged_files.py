"""A Python DataSource writer that stages files and publishes them by a manifest."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamWriter,
    WriterCommitMessage,
)

from onceproof.model.protocols.parts.sinks.staged import Staged
from onceproof.spark_checks.sinks.interface import Format, ModelledSink, Target
from onceproof.spark_checks.sinks.reference import sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.types import StructType


@dataclass
class StagedFile(WriterCommitMessage):
    """The file that a task has staged."""

    name: str
    """The name of the file."""


def stage_rows(folder: str, rows: list[Row]) -> str:
    """Write rows to a file of a new name, whole or not at all."""
    name = f"{uuid.uuid4().hex}.json"
    staged = Path(folder) / "staged" / name
    draft = staged.with_suffix(".tmp")
    draft.write_text("\n".join(json.dumps(row.asDict()) for row in rows))
    draft.replace(staged)
    return name


def publish(folder: str, batch_id: int, names: list[str]) -> None:
    """Publish a batch's files by one rename, unless the batch is published."""
    manifest = Path(folder) / "published" / f"{batch_id}.json"
    if not manifest.exists():
        draft = manifest.with_suffix(".tmp")
        draft.write_text(json.dumps(names))
        draft.replace(manifest)


def published(folder: str) -> list[str]:
    """List the published files, batch by batch."""
    manifests = sorted((Path(folder) / "published").glob("*.json"))
    return [name for m in manifests for name in json.loads(m.read_text())]


class StagedWriter(DataSourceStreamWriter):
    """Stages in tasks, publishes in ``commit``, and leaves what is published alone."""

    def __init__(self, folder: str) -> None:
        """Write below ``folder``."""
        self.folder = folder

    def write(self, iterator: Iterator[Any]) -> StagedFile:
        """Stage the rows of a partition."""
        return StagedFile(stage_rows(self.folder, list(iterator)))

    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Publish the batch."""
        publish(self.folder, batchId, [m.name for m in messages])

    def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803, ARG002 - Spark's name
        """Remove what was staged and is not published."""
        kept = set(published(self.folder))
        for message in messages:
            if message is not None and message.name not in kept:
                (Path(self.folder) / "staged" / message.name).unlink(missing_ok=True)


class StagedFiles(DataSource):
    """The format ``staged_files`` with the option ``folder``."""

    @classmethod
    def name(cls) -> str:
        """Name the format."""
        return "staged_files"

    def streamWriter(self, schema: StructType, overwrite: bool) -> StagedWriter:  # noqa: N802, ARG002, FBT001 - Spark's signature
        """Make the writer."""
        return StagedWriter(self.options["folder"])


def folders(target: Target) -> str:
    """Make the folders of the sink."""
    for name in ("staged", "published"):
        (target.path / name).mkdir(parents=True)
    return str(target.path)


def build(target: Target) -> Format:
    """Read the files that manifests name."""
    folder = folders(target)

    def read(spark: SparkSession) -> DataFrame:
        files = [str(Path(folder) / "staged" / name) for name in published(folder)]
        if not files:
            return spark.createDataFrame([], sqlite.SCHEMA)
        return spark.read.schema(sqlite.SCHEMA).json(files)

    return Format(StagedFiles, {"folder": folder}, read=read)


SINK = ModelledSink(
    name="datasource-staged",
    build=build,
    model=Staged,
    steps={"write": "stage_rows", "sink.publish": "publish"},
    refuted=frozenset(),
)
