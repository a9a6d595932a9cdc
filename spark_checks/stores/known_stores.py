"""The kinds of store that a machine can start by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks.stores.kafka.store import Kafka
from onceproof.spark_checks.stores.postgres.store import Postgres
from onceproof.spark_checks.stores.s3.store import S3
from onceproof.spark_checks.stores.tables.delta import Delta
from onceproof.spark_checks.stores.tables.delta_rs import DeltaRs
from onceproof.spark_checks.stores.tables.duckdb import DuckDB
from onceproof.spark_checks.stores.tables.hudi import Hudi
from onceproof.spark_checks.stores.tables.iceberg import Iceberg
from onceproof.spark_checks.stores.tables.paimon import Paimon
from onceproof.spark_checks.stores.tables.pyiceberg import PyIceberg
from onceproof.spark_checks.stores.together import Together

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onceproof.spark_checks.stores.interface import SinkStore


def _postgres_and_kafka() -> Together:
    return Together(orders=Postgres(), events=Kafka())


STORES: Mapping[str, Callable[[], SinkStore]] = {
    "delta": Delta,
    "delta-rs": DeltaRs,
    "duckdb": DuckDB,
    "hudi": Hudi,
    "iceberg": Iceberg,
    "kafka": Kafka,
    "paimon": Paimon,
    "postgres": Postgres,
    "postgres-kafka": _postgres_and_kafka,
    "pyiceberg": PyIceberg,
    "s3": S3,
}
"""Each kind by its name; the folder of its reference sinks has ``_`` for each ``-``."""

STORE_NAMES = tuple(STORES)
