"""What table formats share that Spark writes and reads by a connector, in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.jars import connectors, maven
from onceproof.spark_checks.stores.spark_needs import SparkNeeds, own_version
from onceproof.spark_checks.stores.tables.local_folder import UNBREAKABLE, RunningFolder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class ConnectorStore:
    """A store that needs jars and settings of Spark's session, and nothing else."""

    name = ""
    """The name of the kind of store, which ``jars.toml`` has the jars of."""

    @property
    def unbreakable(self) -> str:
        """Why no connections to it can be broken."""
        return UNBREAKABLE

    def missing(self) -> tuple[str, ...]:
        """Say which Spark to install, if there is no connector for the one that is."""
        return connectors.missing_connector(self.name)

    def version(self) -> str:
        """Name the version of the connector that the session gets."""
        return connectors.connector_version(self.name)

    def settings(self, folder: Path) -> tuple[tuple[str, str], ...]:
        """Return the settings of the session; ``folder`` holds all places."""
        raise NotImplementedError

    def needs(self, settings: Mapping[str, str], folder: Path) -> SparkNeeds:
        """Say what the session gets: the jars too, unless your settings name them."""
        wanted = connectors.connector(self.name)
        needed = self.settings(folder)
        own = own_version([jar.coordinate for jar in wanted], settings)
        if own:
            return SparkNeeds((), needed, own)
        return SparkNeeds(maven.fetched(wanted), needed, self.version())

    def start(self, folder: Path) -> RunningFolder:
        """Start nothing: places are made in the folder."""
        return RunningFolder(folder, self.name)
