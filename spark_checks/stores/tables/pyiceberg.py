"""Iceberg without Spark: tables in a folder, written and read by pyiceberg."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.spark_checks.stores.tables.library_store import LibraryStore


@dataclass(frozen=True)
class PyIceberg(LibraryStore):
    """Tables of Iceberg for pyiceberg alone, in a fresh folder for each interleaving.

    The folder holds a catalog too, such as pyiceberg's ``SqlCatalog`` over SQLite.
    Spark needs no jar then; ``Iceberg()`` is for tables that Spark writes or reads.
    """

    name = "pyiceberg"
    package = "pyiceberg"
    extra = "iceberg"
