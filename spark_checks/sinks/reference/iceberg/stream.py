"""Iceberg's own streaming writer, as ``writeStream.format("iceberg")`` starts it.

It commits the id of the query and that of the batch with the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.spark_checks.sinks.interface import Format, ModelledSink
from onceproof.spark_checks.sinks.reference.iceberg import tables
from onceproof.spark_checks.stores.tables.iceberg import Iceberg

if TYPE_CHECKING:
    from onceproof.spark_checks.sinks.interface import Target


def build(target: Target) -> Format:
    """Let Spark write, and read the last snapshot."""
    table = tables.create(target)
    return Format("iceberg", {"path": table}, read=tables.reader(table))


SINK = ModelledSink(
    name="iceberg-stream",
    build=build,
    model=BatchLedger,
    refuted=frozenset(),
    store=Iceberg(),
)
