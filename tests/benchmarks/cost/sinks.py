"""The reference sinks on real Spark: what each guarantee costs, batch by batch."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from onceproof.spark_checks.own_session import session
from onceproof.spark_checks.session.store_pool import StorePool
from onceproof.spark_checks.sinks.interface import Files, Foreach, ForeachBatch, Target
from onceproof.spark_checks.sinks.reference import (
    append,
    batch_ledger,
    foreach_writer,
    sqlite,
    staged_files,
    upsert,
)
from onceproof.spark_checks.sinks.reference.delta import append as delta_append
from onceproof.spark_checks.sinks.reference.delta import merge as delta_merge
from onceproof.spark_checks.sinks.reference.delta import txn as delta_txn
from onceproof.spark_checks.sinks.reference.delta_rs import append as delta_rs_append
from onceproof.spark_checks.sinks.reference.delta_rs import txn as delta_rs_txn
from onceproof.spark_checks.sinks.reference.duckdb import insert as duckdb_insert
from onceproof.spark_checks.sinks.reference.duckdb import upsert as duckdb_upsert
from onceproof.spark_checks.sinks.reference.iceberg import append as iceberg_append
from onceproof.spark_checks.sinks.reference.iceberg import merge as iceberg_merge
from onceproof.spark_checks.sinks.reference.iceberg import stream as iceberg_stream
from onceproof.spark_checks.sinks.reference.kafka import append as kafka_append
from onceproof.spark_checks.sinks.reference.kafka import (
    transaction_per_batch as kafka_transaction,
)
from onceproof.spark_checks.sinks.reference.postgres import (
    deduplication_table as postgres_deduplication,
)
from onceproof.spark_checks.sinks.reference.postgres import insert as postgres_insert
from onceproof.spark_checks.sinks.reference.postgres import ledger as postgres_ledger
from onceproof.spark_checks.sinks.reference.postgres import (
    prepared as postgres_prepared,
)
from onceproof.spark_checks.sinks.reference.postgres import upsert as postgres_upsert
from onceproof.spark_checks.sinks.reference.pyiceberg import append as pyiceberg_append
from onceproof.spark_checks.sinks.reference.pyiceberg import ledger as pyiceberg_ledger
from onceproof.spark_checks.sinks.reference.s3 import append_magic as s3_append
from onceproof.spark_checks.sinks.reference.s3 import log_looked_up as s3_log
from onceproof.spark_checks.sinks.reference.s3 import stream as s3_stream
from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.postgres import server
from onceproof.spark_checks.stores.spark_needs import with_needs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.sinks.interface import ModelledSink

FILES = "SQLite and files"
PARTITIONS = 2
WAITING = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
"""Settings of PostgreSQL: unlike in replays, it waits for its disk."""
SETTINGS = {
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.default.parallelism": str(PARTITIONS),
    # Hadoop starts a process for each file that it creates.
    "spark.driver.extraJavaOptions": "-Djdk.lang.Process.launchMechanism=VFORK",
}


@dataclass(frozen=True)
class MeasuredSink:
    """A reference sink, and what it is compared with."""

    sink: ModelledSink
    """The sink, as replays use it."""
    store: str
    """The store that it writes to."""
    way: str
    """In what way it deals with a batch that comes again."""


AT_LEAST_ONCE = "at least once (append)"
SINKS = tuple(
    MeasuredSink(module.SINK, store, way)
    for store, module, way in (
        (FILES, append, AT_LEAST_ONCE),
        (FILES, upsert, "upsert by key"),
        (FILES, foreach_writer, "table of done (partition, epoch)"),
        (FILES, batch_ledger, "ledger in one transaction"),
        (FILES, staged_files, "staged, published by one rename"),
        ("PostgreSQL", postgres_insert, AT_LEAST_ONCE),
        ("PostgreSQL", postgres_upsert, "upsert by key"),
        ("PostgreSQL", postgres_deduplication, "deduplication table, by key"),
        ("PostgreSQL", postgres_ledger, "ledger in one transaction"),
        ("PostgreSQL", postgres_prepared, "two-phase commit"),
        ("DuckDB", duckdb_insert, AT_LEAST_ONCE),
        ("DuckDB", duckdb_upsert, "upsert by key"),
        ("Delta Lake", delta_append, AT_LEAST_ONCE),
        ("Delta Lake", delta_merge, "upsert by key"),
        ("Delta Lake", delta_txn, "version of the batch in the commit"),
        ("delta-rs", delta_rs_append, AT_LEAST_ONCE),
        ("delta-rs", delta_rs_txn, "version of the batch in the commit"),
        ("Iceberg", iceberg_append, AT_LEAST_ONCE),
        ("Iceberg", iceberg_merge, "upsert by key"),
        ("Iceberg", iceberg_stream, "id of the batch in the snapshot"),
        ("PyIceberg", pyiceberg_append, AT_LEAST_ONCE),
        ("PyIceberg", pyiceberg_ledger, "id of the batch in the snapshot"),
        ("Kafka", kafka_append, AT_LEAST_ONCE),
        ("Kafka", kafka_transaction, "ledger in one transaction"),
        ("S3", s3_append, AT_LEAST_ONCE),
        ("S3", s3_stream, "manifest of the files of a batch"),
        ("S3", s3_log, "id of the batch in a log, put if absent"),
    )
)


def batches_of(spark: SparkSession, folder: Path, rows: int, batches: int) -> DataFrame:
    """Write so many batches as files, one for each partition; read them as a stream."""
    events = spark.range(rows * batches).selectExpr(
        "cast(id as string) flight_id",
        "element_at(array('AA', 'UA', 'DL'), cast(id % 3 + 1 as int)) carrier",
        "'JFK' origin",
        "'LAX' dest",
        "id % 3000 distance",
        "id % 2 = 0 late",
    )
    source = folder / f"events-{rows}"
    source.mkdir()
    each = rows // PARTITIONS
    for number in range(batches * PARTITIONS):
        part = folder / f"part-{rows}"
        there = f"cast(flight_id as long) between {number * each} and "
        chosen = events.where(f"{there}{(number + 1) * each - 1}").coalesce(1)
        chosen.write.mode("overwrite").parquet(str(part))
        (file,) = part.glob("*.parquet")
        moved = source / f"{number:03}.parquet"
        shutil.move(file, moved)
        # Spark reads the oldest files first.
        os.utime(moved, (1_000_000 + number, 1_000_000 + number))
    reader = spark.readStream.schema(sqlite.SCHEMA)
    return reader.option("maxFilesPerTrigger", PARTITIONS).parquet(str(source))


def run_once(
    spark: SparkSession,
    measured: MeasuredSink,
    events: DataFrame,
    pool: StorePool,
    *,
    expected: int,
) -> dict[str, Any]:
    """Run a query into a fresh sink; give the seconds of its batches, but the first.

    Raises ``AssertionError`` where readers do not see each row once: a sink that loses
    or repeats rows without any failure is not measured.
    """
    name = f"cost_{uuid.uuid4().hex[:12]}"
    with tempfile.TemporaryDirectory(prefix="onceproof-cost-") as folder:
        path = Path(folder, "sink")
        path.mkdir()
        running = measured.sink.store and pool.running(measured.sink.store)
        place = running.place(name) if running else None
        try:
            built = measured.sink.build(Target(path, name, store=place))
            writer: Any = events.writeStream.trigger(availableNow=True)
            writer = writer.option("checkpointLocation", f"{folder}/checkpoint")
            if isinstance(built, ForeachBatch):
                query = writer.foreachBatch(built.write).start()
            elif isinstance(built, Foreach):
                query = writer.foreach(built.writer).start()
            elif isinstance(built, Files):
                query = writer.format(built.format).start(built.path)
            else:
                name_of = built.name
                if isinstance(name_of, type):
                    spark.dataSource.register(name_of)
                    name_of = name_of.name()
                query = writer.format(name_of).options(**built.options).start()
            query.awaitTermination()
            progress = [p for p in query.recentProgress if p["numInputRows"]]
            seen = built.read(spark)
            found = (seen.count(), seen.select("flight_id").distinct().count())
            assert found == (expected, expected), f"{measured.sink.name}: {found}"
        finally:
            if place:
                running.drop(place)
    later = progress[1:]
    seconds = [p["durationMs"]["triggerExecution"] / 1000 for p in later]
    return {
        "latency": statistics.median(seconds),
        "sink": statistics.median(p["durationMs"]["addBatch"] / 1000 for p in later),
        "rows_per_second": sum(p["numInputRows"] for p in later) / sum(seconds),
    }


@contextlib.contextmanager
def prepared() -> Iterator[
    tuple[SparkSession, StorePool, dict[str, str], dict[str, str]]
]:
    """Start a session and the stores; also give their versions, and what is missing."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    missing: dict[str, str] = {}
    versions = {FILES: f"SQLite {sqlite3.sqlite_version}"}
    settings = SETTINGS
    with (
        contextlib.closing(StorePool()) as pool,
        mock.patch.dict(server._SETTINGS, WAITING),
    ):
        for measured in SINKS:
            store = measured.sink.store
            if store is None or measured.store in (*missing, *versions):
                continue
            try:
                needs = pool.needs(store, settings)
            except StoreError as error:
                missing[measured.store] = str(error)
                continue
            settings = with_needs(settings, needs)
            version = needs.version or store.version()
            versions[measured.store] = f"{measured.store} {version}"
        with session(f"local[{PARTITIONS}]", settings, name="cost") as spark:
            yield spark, pool, versions, missing


def of_all_sinks(sizes: list[int], batches: int, rounds: int) -> dict[str, Any]:
    """Measure all sinks in turn, round by round; give medians and ratios."""
    with (
        prepared() as (spark, pool, versions, missing),
        tempfile.TemporaryDirectory(prefix="onceproof-cost-") as folder,
    ):
        chosen = [one for one in SINKS if one.store in versions]
        rows: list[dict[str, Any]] = []
        for size in sizes:
            events = batches_of(spark, Path(folder), size, batches)
            # The first round of all warms up Java's compiler and the stores.
            warming = size == sizes[0]
            taken = []
            for number in range(rounds + warming):
                print(f"sinks: {size} rows, round {number}", file=sys.stderr)
                taken.append(
                    [
                        run_once(spark, one, events, pool, expected=size * batches)
                        for one in chosen
                    ]
                )
            rows += _medians(size, chosen, taken[warming:])
        return {
            "spark": spark.version,
            "versions": versions,
            "missing": missing,
            "batches": batches - 1,
            "rounds": rounds,
            "partitions": PARTITIONS,
            "rows": rows,
        }


def _medians(
    size: int, chosen: list[MeasuredSink], rounds: list[list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Compare each sink with the append to the same store in the same round."""
    base = {
        one.store: place for place, one in enumerate(chosen) if one.way == AT_LEAST_ONCE
    }
    found = []
    for place, one in enumerate(chosen):
        ratios = {
            what: [
                taken[place][what] / taken[base[one.store]][what] for taken in rounds
            ]
            for what in ("latency", "sink", "rows_per_second")
        }
        found.append(
            {
                "rows_in_a_batch": size,
                "store": one.store,
                "way": one.way,
                "sink": one.sink.name,
                "refuted": sorted(one.sink.refuted),
                **{
                    f"{what}_{label}": round(take(values), 2)
                    for what, values in ratios.items()
                    for label, take in (
                        ("ratio", statistics.median),
                        ("least", min),
                        ("most", max),
                    )
                },
                "latency": round(
                    statistics.median(taken[place]["latency"] for taken in rounds), 3
                ),
            }
        )
    return found
