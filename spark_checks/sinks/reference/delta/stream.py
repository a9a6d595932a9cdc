"""Delta Lake's own streaming writer, as ``writeStream.format("delta")`` starts it.

It commits the id of the query and that of the batch with the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.spark_checks.sinks.interface import Format, ModelledSink
from onceproof.spark_checks.sinks.reference.delta import tables
from onceproof.spark_checks.stores.tables.delta import Delta

if TYPE_CHECKING:
    from onceproof.spark_checks.sinks.interface import Target


def build(target: Target) -> Format:
    """Let Spark write, and read by the table's log."""
    path = tables.place(target)
    return Format("delta", {"path": path}, read=tables.reader(path))


SINK = ModelledSink(
    name="delta-stream",
    build=build,
    model=BatchLedger,
    refuted=frozenset(),
    store=Delta(),
)
