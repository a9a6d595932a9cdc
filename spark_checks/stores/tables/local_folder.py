"""Stores whose tables are files in a folder of this machine: no server is started."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

UNBREAKABLE = "its tables are files in a folder, which nobody connects to"


@dataclass(frozen=True)
class FolderPlace:
    """A folder that one interleaving has to itself; tables are made in it."""

    path: str
    """The folder, which is empty."""
    format: str = ""
    """The format that Spark reads a path in it in; empty where that is not known."""

    @property
    def allowed(self) -> tuple[str, ...]:
        """The folder is where Spark may write to for the sink."""
        return (self.path,)


@dataclass(frozen=True)
class CatalogPlace(FolderPlace):
    """A namespace of a catalog that one interleaving has to itself."""

    namespace: str = ""
    """The name of the catalog and of the namespace, which goes before a table's."""


class RunningFolder:
    """A folder of places; several threads may call its methods at once."""

    process = None

    def __init__(self, folder: Path, format_of_paths: str = "") -> None:
        """Make places in a ``folder``, whose paths Spark reads in one format."""
        self._folder = folder
        self._format = format_of_paths

    def place(self, name: str) -> FolderPlace:
        """Make an empty folder of that name."""
        path = self._folder / name
        path.mkdir()
        return FolderPlace(str(path), self._format)

    def drop(self, place: FolderPlace) -> None:
        """Remove a folder with all that is in it, if it is there."""
        shutil.rmtree(place.path, ignore_errors=True)

    def stop(self) -> None:
        """End nothing: no process was started."""


class RunningCatalog(RunningFolder):
    """A catalog of Spark's, each of whose namespaces is a folder."""

    def __init__(self, folder: Path, table_format: str, catalog: str) -> None:
        """Make namespaces of a ``catalog`` whose warehouse is a ``folder``."""
        super().__init__(folder, table_format)
        self._catalog = catalog

    def place(self, name: str) -> CatalogPlace:
        """Make an empty namespace of that name."""
        place = super().place(self.folder_of(name))
        return CatalogPlace(place.path, place.format, f"{self._catalog}.{name}")

    def folder_of(self, namespace: str) -> str:
        """Return the name of a namespace's folder."""
        return namespace
