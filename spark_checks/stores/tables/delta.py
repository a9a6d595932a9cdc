"""Delta Lake: tables in a folder, read and written by Spark or by delta-rs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.tables.connector_store import ConnectorStore

if TYPE_CHECKING:
    from pathlib import Path

_SETTINGS = (
    ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
    (
        "spark.sql.catalog.spark_catalog",
        "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    ),
    # It is 50 by default: each look at a table would start as many tasks.
    ("spark.databricks.delta.snapshotPartitions", "1"),
    # They let a reader skip files, and cost each write another aggregation.
    ("spark.databricks.delta.stats.collect", "false"),
)


@dataclass(frozen=True)
class Delta(ConnectorStore):
    """Tables of Delta Lake, in a fresh folder for each interleaving.

    Spark's session gets Delta's jars and settings, beside those of your own.
    """

    name = "delta"

    def settings(self, folder: Path) -> tuple[tuple[str, str], ...]:  # noqa: ARG002
        """Return the extension, the catalog, and what makes small tables fast."""
        return _SETTINGS
