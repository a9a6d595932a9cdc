"""Shows that Hudi skips batches of a new checkpoint. Needs onceproof[spark], 3.5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.spark_checks import Hudi
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.session.session_pool import SessionPool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

SCHEMA = "order_id string, amount long"
IDENTIFIER = "hoodie.datasource.write.streaming.checkpoint.identifier"
BY_KEY = {"hoodie.datasource.write.recordkey.field": "order_id"}


def arrive(spark: SparkSession, root: str, first: int) -> None:
    """Put ten orders into the folder that the query reads."""
    orders = spark.range(first, first + 10).selectExpr(
        "CAST(id AS string) order_id", "id amount"
    )
    orders.coalesce(1).write.mode("append").parquet(f"{root}/input")


def run(
    spark: SparkSession, root: str, table: str, checkpoint: str, more: Mapping[str, str]
) -> int:
    """Let Hudi's writer write what is there to a table; count its orders."""
    path = f"{root}/{table}"
    written = spark.readStream.schema(SCHEMA).parquet(f"{root}/input").writeStream
    written = written.format("hudi").option("hoodie.table.name", table)
    written = written.option("checkpointLocation", f"{root}/{checkpoint}")
    query = written.options(**more).trigger(availableNow=True).start(path)
    query.awaitTermination()
    return spark.read.format("hudi").load(path).select("order_id").distinct().count()


def main() -> None:
    """Write three tables, each by two queries, and print how many orders they have."""
    pool = SessionPool(ENTRY_POINTS)
    try:
        root = pool.stores.running(Hudi()).place("findings").path
        needs = pool.needs_of(Hudi())
        with pool.session(attempts=1, partitions=1, needs=needs) as session:
            spark = session.spark
            tables: dict[str, Mapping[str, str]] = {
                "the same checkpoint": {},
                "a new checkpoint": {},
                "a new checkpoint and identifier": BY_KEY | {IDENTIFIER: "second"},
            }
            arrive(spark, root, 0)
            for number, more in enumerate(tables.values()):
                first = BY_KEY if BY_KEY.items() <= more.items() else {}
                run(spark, root, f"orders{number}", f"checkpoint{number}", first)
            arrive(spark, root, 10)
            for number, (what, more) in enumerate(tables.items()):
                checkpoint = f"checkpoint{number}" if number == 0 else f"new{number}"
                found = run(spark, root, f"orders{number}", checkpoint, more)
                print(f"restart with {what}: {found} of 20 orders are there")
    finally:
        pool.close()


if __name__ == "__main__":
    main()
