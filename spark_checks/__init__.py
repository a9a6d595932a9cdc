"""What Spark does: real runs, steered through interleavings.

What can be put under test is imported from here, as ``ForeachBatch``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.spark_checks.queries.query_spec import OutputMode, QuerySpec
    from onceproof.spark_checks.report.replay_file import replay_file
    from onceproof.spark_checks.sinks.interface import (
        BatchJob,
        Files,
        Foreach,
        ForeachBatch,
        Format,
        Query,
        Target,
    )
    from onceproof.spark_checks.stores.kafka.store import Kafka, KafkaPlace
    from onceproof.spark_checks.stores.postgres.store import Postgres, PostgresPlace
    from onceproof.spark_checks.stores.s3.place import S3Place
    from onceproof.spark_checks.stores.s3.store import S3
    from onceproof.spark_checks.stores.tables.delta import Delta
    from onceproof.spark_checks.stores.tables.delta_rs import DeltaRs
    from onceproof.spark_checks.stores.tables.duckdb import DuckDB
    from onceproof.spark_checks.stores.tables.hudi import Hudi
    from onceproof.spark_checks.stores.tables.iceberg import Iceberg
    from onceproof.spark_checks.stores.tables.local_folder import (
        CatalogPlace,
        FolderPlace,
    )
    from onceproof.spark_checks.stores.tables.paimon import Paimon
    from onceproof.spark_checks.stores.tables.pyiceberg import PyIceberg
    from onceproof.spark_checks.stores.together import JointPlace, Together
    from onceproof.spark_checks.stores.unreliable import Unreliable

__all__ = [
    "S3",
    "BatchJob",
    "CatalogPlace",
    "Delta",
    "DeltaRs",
    "DuckDB",
    "Files",
    "FolderPlace",
    "Foreach",
    "ForeachBatch",
    "Format",
    "Hudi",
    "Iceberg",
    "JointPlace",
    "Kafka",
    "KafkaPlace",
    "OutputMode",
    "Paimon",
    "Postgres",
    "PostgresPlace",
    "PyIceberg",
    "Query",
    "QuerySpec",
    "S3Place",
    "Target",
    "Together",
    "Unreliable",
    "replay_file",
]

_OF_STORES = {
    "Delta": "tables.delta",
    "DeltaRs": "tables.delta_rs",
    "DuckDB": "tables.duckdb",
    "FolderPlace": "tables.local_folder",
    "Hudi": "tables.hudi",
    "Iceberg": "tables.iceberg",
    "Paimon": "tables.paimon",
    "CatalogPlace": "tables.local_folder",
    "JointPlace": "together",
    "Kafka": "kafka.store",
    "KafkaPlace": "kafka.store",
    "Postgres": "postgres.store",
    "PostgresPlace": "postgres.store",
    "PyIceberg": "tables.pyiceberg",
    "S3": "s3.store",
    "S3Place": "s3.place",
    "Together": "together",
    "Unreliable": "unreliable",
}
"""The modules of stores that public names come from."""


def __getattr__(name: str) -> object:
    """Import on first use: the plugin is loaded even where it is not used."""
    if name == "replay_file":
        from onceproof.spark_checks.report import replay_file as module  # noqa: PLC0415

        return module.replay_file
    if name in _OF_STORES:
        place = f"onceproof.spark_checks.stores.{_OF_STORES[name]}"
        return getattr(importlib.import_module(place), name)
    if name in ("OutputMode", "QuerySpec"):
        from onceproof.spark_checks.queries import query_spec  # noqa: PLC0415

        return getattr(query_spec, name)
    if name in __all__:
        from onceproof.spark_checks.sinks import interface  # noqa: PLC0415

        return getattr(interface, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
