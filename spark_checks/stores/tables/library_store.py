"""What stores share whose tables a Python library writes and reads, in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.versions import MISSING, versions_of
from onceproof.spark_checks.stores.interface import missing_client
from onceproof.spark_checks.stores.spark_needs import NO_NEEDS
from onceproof.spark_checks.stores.tables.local_folder import UNBREAKABLE, RunningFolder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onceproof.spark_checks.stores.spark_needs import SparkNeeds


@dataclass(frozen=True)
class LibraryStore:
    """A store that needs a library and nothing else."""

    name = ""
    """The name of the kind of store."""
    package = ""
    """The library, by the name that it is imported and installed by."""
    extra = ""
    """The extra of Onceproof that brings it."""

    @property
    def unbreakable(self) -> str:
        """Why no connections to it can be broken."""
        return UNBREAKABLE

    def missing(self) -> tuple[str, ...]:
        """Say what to install, if the library is missing."""
        return missing_client(self.package, self.extra)

    def version(self) -> str:
        """Name the version of the library."""
        return versions_of(self.package)[self.package].replace(MISSING, "")

    def needs(self, settings: Mapping[str, str], folder: Path) -> SparkNeeds:  # noqa: ARG002
        """Need nothing of Spark: the library reads and writes."""
        return NO_NEEDS

    def start(self, folder: Path) -> RunningFolder:
        """Start nothing: places are made in the folder."""
        return RunningFolder(folder)
