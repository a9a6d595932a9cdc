"""Where results go: a file for each batch id, written whole; or Spark's file sink."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from onceproof.model.files import write_whole
from onceproof.spark_checks.inject.checkpoint_edits import entries
from onceproof.spark_checks.queries.events import CLOSING
from onceproof.spark_checks.queries.query_spec import OutputMode, QuerySpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    ResultRow = tuple[tuple[str, str], ...]

DIES = 9


def as_text(row: Any) -> list[list[str]]:
    """Write a row as its columns and values, in the order of the columns."""
    return [[name, str(value)] for name, value in row.asDict().items()]


def plain(rows: Iterable[Any]) -> list[ResultRow]:
    """Return rows as text, without those that only close windows."""
    found = (tuple((name, value) for name, value in row) for row in rows)
    return [row for row in found if dict(row).get("key") != CLOSING]


def writer_of(
    result: Path, query: QuerySpec, *, skips: bool
) -> Callable[[DataFrame, int], None]:
    """Return a function for foreachBatch that puts a file in place for each batch id.

    A batch that is handed over again takes the place of the first, so that no fault
    leaves a row twice or half. Where it ``skips``, it does nothing for an id that it
    has, as a sink does that keeps a ledger.
    """
    result.mkdir(exist_ok=True)

    def write(batch: DataFrame, batch_id: int) -> None:
        path = result / f"{batch_id}.json"
        if skips and path.exists():
            return
        for _ in range(query.writes - 1):
            batch.collect()
        rows = [as_text(row) for row in batch.collect()]
        write_whole(path, json.dumps(rows))

    return write


def seen(
    spark: SparkSession, result: Path, query: QuerySpec, *, replaces: bool = False
) -> list[ResultRow]:
    """Read what a reader sees: rows that later ones replace are gone.

    In update mode they do, and where the sink ``replaces`` rows by their key.
    """
    if (result / "_spark_metadata").exists():
        schema = json.loads((result / "schema").read_text(encoding="utf-8"))
        from pyspark.sql.types import StructType  # noqa: PLC0415 - slow to import

        files = spark.read.schema(StructType.fromJson(schema)).parquet(str(result))
        return plain(as_text(row) for row in files.collect())
    numbers = sorted(
        int(path.stem) for path in result.glob("*.json") if path.stem.isdigit()
    )
    batches = [
        plain(json.loads((result / f"{number}.json").read_text(encoding="utf-8")))
        for number in numbers
    ]
    if query.mode is OutputMode.COMPLETE:
        return batches[-1] if batches else []
    if replaces or query.mode is OutputMode.UPDATE:
        latest = {_key(row, query): row for batch in batches for row in batch}
        return list(latest.values())
    return [row for batch in batches for row in batch]


def _key(row: ResultRow, query: QuerySpec) -> tuple[str, ...]:
    values = dict(row)
    return tuple(values[name] for name in query.key)


def dying(result: DataFrame, marks: Path, batch: int, *, after: bool) -> DataFrame:
    """Let the first attempt of each task of a batch die, and leave a mark.

    It dies before it takes a row, or after it has taken all, when the operators above
    it have committed their state.
    """

    def passed(parts: Iterable[Any]) -> Iterable[Any]:
        from pyspark import TaskContext  # noqa: PLC0415 - in workers only

        context: Any = TaskContext.get()
        running = context.getLocalProperty("streaming.sql.batchId")
        strikes = running == str(batch) and context.attemptNumber() == 0
        if strikes and not after:
            (marks / str(context.partitionId())).touch()
            os._exit(DIES)
        yield from parts
        if strikes:
            (marks / str(context.partitionId())).touch()
            os._exit(DIES)

    return result.mapInArrow(passed, result.schema)


def committed(checkpoint: Path) -> int:
    """Count the batches that the commit log names."""
    return max(entries(checkpoint, "commits"), default=-1) + 1
