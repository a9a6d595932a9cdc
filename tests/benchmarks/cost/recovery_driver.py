"""A driver with stateful queries: it is killed in a batch, or it recovers them.

``recovery.py`` starts it as a process of its own, with a JVM of its own. It is given a
folder and what to do as JSON, and prints JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.own_session import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

BATCHES, DIES_IN = 5, 3
"""The batches of a query, the first of which builds the state, and the one it dies in.
"""
SCHEMA = "key long"
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-Djdk.lang.Process.launchMechanism=VFORK",
    "spark.sql.streaming.minBatchesToRetain": "10",
}


def write_input(spark: SparkSession, folder: Path, keys: int, rows: int) -> None:
    """Write a file for each batch: one with every key, and then so many rows."""
    folder.mkdir(parents=True)
    for number in range(BATCHES):
        some = spark.range(keys) if not number else spark.range(rows)
        factor, part = 7 * number + 1, folder.with_suffix(".part")
        chosen = some.selectExpr(f"(id * {factor}) % {keys} key").coalesce(1)
        chosen.write.mode("overwrite").parquet(str(part))
        (file,) = part.glob("*.parquet")
        moved = folder / f"{number:03}.parquet"
        shutil.move(file, moved)
        os.utime(moved, (1_000_000 + number, 1_000_000 + number))


def counting(
    spark: SparkSession, source: Path, checkpoint: Path, *, dies: bool = False
) -> StreamingQuery:
    """Start a query that counts by key; it may wait in a batch, to be killed there."""
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    counts = stream.parquet(str(source)).groupBy("key").count()

    def write(batch: DataFrame, batch_id: int) -> None:
        batch.write.format("noop").mode("overwrite").save()
        if dies and batch_id == DIES_IN:
            time.sleep(3600)

    writer = counts.writeStream.outputMode("update").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(checkpoint))
    return writer.foreachBatch(write).start()


def prepare(spark: SparkSession, folder: Path, cases: list[tuple[int, int]]) -> None:
    """Bring each query into the batch that it dies in, and wait to be killed."""
    for keys, rows in cases:
        name = f"{keys}-{rows}"
        write_input(spark, folder / "input" / name, keys, rows)
        checkpoint = folder / "checkpoint" / name
        counting(spark, folder / "input" / name, checkpoint, dies=True)
        # The state of the batch is written, and the batch is not in the log.
        wanted = [
            checkpoint / "state" / "0" / str(part) / f"{DIES_IN + 1}.delta"
            for part in range(2)
        ]
        while not all(file.exists() for file in wanted):
            time.sleep(0.05)
        assert not (checkpoint / "commits" / str(DIES_IN)).exists()
    print(json.dumps("ready"), flush=True)
    time.sleep(3600)


def recover(
    spark: SparkSession, folder: Path, cases: list[tuple[int, int]], rounds: int
) -> list[dict[str, Any]]:
    """Start each query again from a copy of its checkpoint, round by round."""
    found = []
    for round_ in range(-1, rounds):
        for keys, rows in cases:
            name = f"{keys}-{rows}"
            copy = folder / "copies" / f"{name}-{round_}"
            shutil.copytree(folder / "checkpoint" / name, copy)
            began = time.perf_counter()
            query = counting(spark, folder / "input" / name, copy)
            while not (copy / "commits" / str(DIES_IN)).exists():
                assert query.isActive, query.exception()
                time.sleep(0.005)
            recovered = time.perf_counter() - began
            query.awaitTermination()
            replayed, after = (
                next(p for p in query.recentProgress if p["batchId"] == batch)
                for batch in (DIES_IN, DIES_IN + 1)
            )
            state = spark.read.format("statestore").load(str(copy))
            total = state.selectExpr("sum(value.count)").first()[0]
            assert total == keys + (BATCHES - 1) * rows, (name, total)
            if round_ >= 0:
                found.append(
                    {
                        "round": round_,
                        "keys": keys,
                        "rows": rows,
                        "recovery": recovered,
                        "replayed_batch": replayed["durationMs"]["triggerExecution"]
                        / 1000,
                        "next_batch": after["durationMs"]["triggerExecution"] / 1000,
                        "state_bytes": _bytes_of(copy / "state"),
                    }
                )
            shutil.rmtree(copy)
    return found


def _bytes_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main() -> None:
    """Do what is asked."""
    folder, what, cases, rounds = json.loads(sys.argv[1])
    began = time.perf_counter()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with session("local[2]", SETTINGS, name="cost") as spark:
        spark.range(3).count()
        started = time.perf_counter() - began
        if what == "prepare":
            prepare(spark, Path(folder), cases)
        found = recover(spark, Path(folder), cases, rounds)
        print(json.dumps({"session": started, "runs": found}), flush=True)


if __name__ == "__main__":
    main()
