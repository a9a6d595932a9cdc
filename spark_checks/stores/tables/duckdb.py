"""DuckDB: database files in a folder, written and read by DuckDB's own library."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.spark_checks.stores.tables.library_store import LibraryStore


@dataclass(frozen=True)
class DuckDB(LibraryStore):
    """Database files of DuckDB, in a fresh folder for each interleaving."""

    name = "duckdb"
    package = "duckdb"
    extra = "duckdb"
