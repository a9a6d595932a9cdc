"""Delta Lake: tables in a folder, read and written by Spark or by delta-rs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores import jars, maven
from onceproof.spark_checks.stores.local_folder import UNBREAKABLE, RunningFolder
from onceproof.spark_checks.stores.spark_needs import SparkNeeds, own_version

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SETTINGS = (
    ("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"),
    (
        "spark.sql.catalog.spark_catalog",
        "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    ),
    # It is 50 by default: each look at a table would start as many tasks.
    ("spark.databricks.delta.snapshotPartitions", "2"),
)


@dataclass(frozen=True)
class Delta:
    """Tables of Delta Lake, in a fresh folder for each interleaving.

    Spark's session gets Delta's jars and settings, beside those of your own.
    """

    @property
    def name(self) -> str:
        """The name of the kind of store."""
        return "delta"

    @property
    def unbreakable(self) -> str:
        """Why no connections to it can be broken."""
        return UNBREAKABLE

    def missing(self) -> tuple[str, ...]:
        """Say which Spark to install, if there is no Delta for the one that is."""
        return jars.missing_connector(self.name)

    def version(self) -> str:
        """Name the version of Delta that the session gets."""
        return jars.connector_version(self.name)

    def needs(self, settings: Mapping[str, str], folder: Path) -> SparkNeeds:
        """Say what Delta needs of the session; its jars, unless yours has them."""
        del folder
        wanted = jars.connector(self.name)
        own = own_version([jar.coordinate for jar in wanted], settings)
        if own:
            return SparkNeeds((), _SETTINGS, own)
        return SparkNeeds(maven.fetched(wanted), _SETTINGS, self.version())

    def start(self, folder: Path) -> RunningFolder:
        """Start nothing: places are made in the folder."""
        return RunningFolder(folder, "delta")
