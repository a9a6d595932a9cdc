"""Delta Lake without Spark: tables in a folder, written and read by delta-rs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.versions import MISSING, versions_of
from onceproof.spark_checks.stores.interface import missing_client
from onceproof.spark_checks.stores.local_folder import UNBREAKABLE, RunningFolder
from onceproof.spark_checks.stores.spark_needs import NO_NEEDS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onceproof.spark_checks.stores.spark_needs import SparkNeeds


@dataclass(frozen=True)
class DeltaRs:
    """Tables of Delta Lake for delta-rs alone, in a fresh folder for each interleaving.

    Spark needs no jars then; ``Delta()`` is for tables that Spark writes or reads, too.
    """

    @property
    def name(self) -> str:
        """The name of the kind of store."""
        return "delta-rs"

    @property
    def unbreakable(self) -> str:
        """Why no connections to it can be broken."""
        return UNBREAKABLE

    def missing(self) -> tuple[str, ...]:
        """Say what to install, if the library is missing."""
        return missing_client("deltalake", "delta")

    def version(self) -> str:
        """Name the version of the library."""
        return versions_of("deltalake")["deltalake"].replace(MISSING, "")

    def needs(self, settings: Mapping[str, str], folder: Path) -> SparkNeeds:  # noqa: ARG002
        """Need nothing of Spark: the library reads and writes."""
        return NO_NEEDS

    def start(self, folder: Path) -> RunningFolder:
        """Start nothing: places are made in the folder."""
        return RunningFolder(folder)
