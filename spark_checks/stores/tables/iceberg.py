"""Iceberg: tables of a catalog in a folder, read and written by Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.tables.connector_store import ConnectorStore
from onceproof.spark_checks.stores.tables.local_folder import RunningCatalog

if TYPE_CHECKING:
    from pathlib import Path

CATALOG = "onceproof_iceberg"
"""The catalog that has a namespace for each interleaving."""


@dataclass(frozen=True)
class Iceberg(ConnectorStore):
    """Tables of Iceberg, in a fresh namespace for each interleaving.

    Spark's session gets Iceberg's jar, and a catalog whose tables are in a folder.
    """

    name = "iceberg"

    def settings(self, folder: Path) -> tuple[tuple[str, str], ...]:
        """Return the extension and the catalog, whose warehouse is the folder."""
        catalog = f"spark.sql.catalog.{CATALOG}"
        return (
            (
                "spark.sql.extensions",
                "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            ),
            (catalog, "org.apache.iceberg.spark.SparkCatalog"),
            (f"{catalog}.type", "hadoop"),
            (f"{catalog}.warehouse", str(folder)),
            # Else a reader sees a table as it was when its session first looked.
            (f"{catalog}.cache-enabled", "false"),
        )

    def start(self, folder: Path) -> RunningCatalog:
        """Start nothing: the folder is the catalog's."""
        return RunningCatalog(folder, self.name, CATALOG)
