"""Paimon: tables of a catalog in a folder, read and written by Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.tables.connector_store import ConnectorStore
from onceproof.spark_checks.stores.tables.local_folder import RunningCatalog

if TYPE_CHECKING:
    from pathlib import Path

CATALOG = "onceproof_paimon"
"""The catalog that has a namespace for each interleaving."""


@dataclass(frozen=True)
class Paimon(ConnectorStore):
    """Tables of Paimon, in a fresh namespace for each interleaving.

    Spark's session gets Paimon's jar, and a catalog whose tables are in a folder.
    """

    name = "paimon"

    def settings(self, folder: Path) -> tuple[tuple[str, str], ...]:
        """Return the extension and the catalog, whose warehouse is the folder."""
        catalog = f"spark.sql.catalog.{CATALOG}"
        return (
            (
                "spark.sql.extensions",
                "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
            ),
            (catalog, "org.apache.paimon.spark.SparkCatalog"),
            (f"{catalog}.warehouse", str(folder)),
        )

    def start(self, folder: Path) -> RunningPaimon:
        """Start nothing: the folder is the catalog's."""
        return RunningPaimon(folder, self.name, CATALOG)


class RunningPaimon(RunningCatalog):
    """A catalog that names the folder of a namespace in its own way."""

    def folder_of(self, namespace: str) -> str:
        """Return the name that Paimon looks for."""
        return f"{namespace}.db"
