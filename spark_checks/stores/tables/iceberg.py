"""Iceberg: tables of a catalog in a folder, read and written by Spark."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.spark_checks.stores.tables.catalog_store import CatalogStore


@dataclass(frozen=True)
class Iceberg(CatalogStore):
    """Tables of Iceberg, in a fresh namespace for each interleaving.

    Spark's session gets Iceberg's jar, and a catalog whose tables are in a folder.
    """

    name = "iceberg"
    implementation = "org.apache.iceberg.spark.SparkCatalog"
    extension = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """The kind of catalog, and no cache of tables.

        With a cache, a reader would see tables as they were when it first looked.
        """
        return (("type", "hadoop"), ("cache-enabled", "false"))
