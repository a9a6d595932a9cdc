"""What table formats share whose tables are in a catalog of Spark's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.tables.connector_store import ConnectorStore
from onceproof.spark_checks.stores.tables.local_folder import RunningCatalog

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class CatalogStore(ConnectorStore):
    """A store whose places are namespaces of a catalog in a folder."""

    implementation = ""
    """The class of the catalog."""
    extension = ""
    """The class that extends Spark's SQL."""

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """Further settings of the catalog, by their names below it."""
        return ()

    @property
    def catalog(self) -> str:
        """The name of the catalog in the session."""
        return f"onceproof_{self.name}"

    def settings(self, folder: Path) -> tuple[tuple[str, str], ...]:
        """Return the extension and the catalog, whose warehouse is the folder."""
        catalog = f"spark.sql.catalog.{self.catalog}"
        return (
            ("spark.sql.extensions", self.extension),
            (catalog, self.implementation),
            (f"{catalog}.warehouse", str(folder)),
            *((f"{catalog}.{name}", value) for name, value in self.options),
        )

    def start(self, folder: Path) -> RunningCatalog:
        """Start nothing: the folder is the catalog's."""
        return RunningCatalog(folder, self.name, self.catalog)
