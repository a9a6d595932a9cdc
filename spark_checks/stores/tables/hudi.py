"""Hudi: tables in a folder, read and written by Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.tables.connector_store import ConnectorStore

if TYPE_CHECKING:
    from pathlib import Path

_SETTINGS = (
    ("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension"),
    (
        "spark.sql.catalog.spark_catalog",
        "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    ),
    # Hudi refuses to write with another one.
    ("spark.serializer", "org.apache.spark.serializer.KryoSerializer"),
    ("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar"),
)


@dataclass(frozen=True)
class Hudi(ConnectorStore):
    """Tables of Hudi, in a fresh folder for each interleaving.

    Spark's session gets Hudi's jar and settings, beside those of your own.
    """

    name = "hudi"

    def settings(self, folder: Path) -> tuple[tuple[str, str], ...]:  # noqa: ARG002
        """Return the extension, the catalog, and how Spark serialises for Hudi."""
        return _SETTINGS
