"""Iceberg: tables of a catalog in a folder, read and written by Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores import jars, maven
from onceproof.spark_checks.stores.local_folder import (
    UNBREAKABLE,
    FolderPlace,
    RunningFolder,
)
from onceproof.spark_checks.stores.spark_needs import SparkNeeds, own_version

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CATALOG = "onceproof_iceberg"
"""The catalog that has a namespace for each interleaving."""


@dataclass(frozen=True)
class Iceberg:
    """Tables of Iceberg, in a fresh namespace for each interleaving.

    Spark's session gets Iceberg's jar, and a catalog whose tables are in a folder.
    """

    @property
    def name(self) -> str:
        """The name of the kind of store."""
        return "iceberg"

    @property
    def unbreakable(self) -> str:
        """Why no connections to it can be broken."""
        return UNBREAKABLE

    def missing(self) -> tuple[str, ...]:
        """Say which Spark to install, if there is no Iceberg for the one that is."""
        return jars.missing_connector(self.name)

    def version(self) -> str:
        """Name the version of Iceberg that the session gets."""
        return jars.connector_version(self.name)

    def needs(self, settings: Mapping[str, str], folder: Path) -> SparkNeeds:
        """Say what Iceberg needs of the session; its jar, unless yours has it."""
        wanted = jars.connector(self.name)
        catalog = f"spark.sql.catalog.{CATALOG}"
        needed = (
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
        own = own_version([jar.coordinate for jar in wanted], settings)
        if own:
            return SparkNeeds((), needed, own)
        return SparkNeeds(maven.fetched(wanted), needed, self.version())

    def start(self, folder: Path) -> RunningIceberg:
        """Start nothing: the folder is the catalog's."""
        return RunningIceberg(folder, "iceberg")


@dataclass(frozen=True)
class IcebergPlace(FolderPlace):
    """A namespace that one interleaving has to itself."""

    namespace: str = ""
    """The name of the catalog and of the namespace, which goes before a table's."""


class RunningIceberg(RunningFolder):
    """A catalog whose namespaces are folders."""

    def place(self, name: str) -> IcebergPlace:
        """Make an empty namespace of that name."""
        place = super().place(name)
        return IcebergPlace(place.path, place.format, f"{CATALOG}.{name}")
