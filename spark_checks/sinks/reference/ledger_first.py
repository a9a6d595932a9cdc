"""foreachBatch that records a batch's id before it writes the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.ledger_apart import LedgerBefore
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink, Target
from onceproof.spark_checks.sinks.reference import sqlite
from onceproof.spark_checks.sinks.reference.ledger_apart import (
    in_ledger,
    write_ledger,
    write_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build(target: Target) -> ForeachBatch:
    """Write the batch's id, then the rows."""
    database = sqlite.create(target.path, ledger="batch_id INTEGER PRIMARY KEY")

    def write(batch: DataFrame, batch_id: int) -> None:
        if in_ledger(database, batch_id):
            return
        # As in the model, the tasks are done before the driver takes a step.
        rows = batch.collect()
        write_ledger(database, batch_id)
        write_rows(database, rows)

    return ForeachBatch(write, read=sqlite.reader(database))


SINK = ModelledSink(
    name="foreach-batch-ledger-first",
    build=build,
    model=LedgerBefore,
    steps={"sink.write_rows": "write_rows", "sink.write_ledger": "write_ledger"},
    refuted=frozenset({"at-least-once", "effectively-once", "durable", "recoverable"}),
)
