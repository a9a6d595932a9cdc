"""Delta Lake without Spark: tables in a folder, written and read by delta-rs."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.spark_checks.stores.tables.library_store import LibraryStore


@dataclass(frozen=True)
class DeltaRs(LibraryStore):
    """Tables of Delta Lake for delta-rs alone, in a fresh folder for each interleaving.

    Spark needs no jars then; ``Delta()`` is for tables that Spark writes or reads, too.
    """

    name = "delta-rs"
    package = "deltalake"
    extra = "delta"
