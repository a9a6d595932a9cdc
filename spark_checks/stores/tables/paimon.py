"""Paimon: tables of a catalog in a folder, read and written by Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.tables.catalog_store import CatalogStore
from onceproof.spark_checks.stores.tables.local_folder import RunningCatalog

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Paimon(CatalogStore):
    """Tables of Paimon, in a fresh namespace for each interleaving.

    Spark's session gets Paimon's jar, and a catalog whose tables are in a folder.
    """

    name = "paimon"
    implementation = "org.apache.paimon.spark.SparkCatalog"
    extension = "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions"

    def start(self, folder: Path) -> RunningPaimon:
        """Start nothing: the folder is the catalog's."""
        return RunningPaimon(folder, self.name, self.catalog)


class RunningPaimon(RunningCatalog):
    """A catalog that names the folder of a namespace in its own way."""

    def folder_of(self, namespace: str) -> str:
        """Return the name that Paimon looks for."""
        return f"{namespace}.db"
