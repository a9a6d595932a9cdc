"""A ForeachWriter whose rows are keyed by partition and epoch."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.partition_ledger import PartitionLedger
from onceproof.spark_checks.sinks.interface import Foreach, ModelledSink, Target
from onceproof.spark_checks.sinks.reference import sqlite

if TYPE_CHECKING:
    from pyspark.sql import Row


def commit_rows(database: str, partition: int, epoch: int, rows: list[Row]) -> None:
    """Commit rows and their (partition, epoch) together, unless the key is there."""
    with closing(sqlite.connect(database)) as db:
        db.execute("BEGIN IMMEDIATE")
        known = "SELECT 1 FROM ledger WHERE partition = ? AND epoch = ?"
        if db.execute(known, (partition, epoch)).fetchone() is None:
            sqlite.insert(db, rows)
            db.execute("INSERT INTO ledger VALUES (?, ?)", (partition, epoch))
        db.execute("COMMIT")


class Writer:
    """Buffers the rows of a task, and commits them as it is closed."""

    def __init__(self, database: str) -> None:
        """Write to ``database``."""
        self.database = database
        self.rows: list[Row] = []
        self.key = (0, 0)

    def open(self, partition_id: int, epoch_id: int) -> bool:
        """Begin a task."""
        self.key, self.rows = (partition_id, epoch_id), []
        return True

    def process(self, row: Row) -> None:
        """Keep a row."""
        self.rows.append(row)

    def close(self, error: Exception | None) -> None:
        """End the task."""
        if error is None:
            commit_rows(self.database, *self.key, self.rows)


def build(target: Target) -> Foreach:
    """Trust (partition, epoch) to name the same rows for ever (SPARK-28650)."""
    key = "partition INTEGER, epoch INTEGER, PRIMARY KEY (partition, epoch)"
    database = sqlite.create(target.path, ledger=key)
    return Foreach(Writer(database), read=sqlite.reader(database))


SINK = ModelledSink(
    name="foreach-writer",
    build=build,
    model=PartitionLedger,
    steps={"write": "commit_rows"},
    refuted=frozenset(
        {
            "at-most-once",
            "at-least-once",
            "effectively-once",
            "atomic-visibility",
            "durable",
            "recoverable",
            "agreement",
        }
    ),
    parameters={"rescales": 1},
)
