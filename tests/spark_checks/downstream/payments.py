"""Where a shop's payments go: to PostgreSQL and to Delta Lake, rightly and wrongly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from onceproof.spark_checks import ForeachBatch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from onceproof.spark_checks import Target

EVENT = "payment_id string, amount long"


def inserted(target: Target) -> ForeachBatch:
    """Wrong: a batch that is repeated is inserted again."""
    return into_postgres(
        target,
        "CREATE TABLE payments (payment_id text, amount bigint)",
        "INSERT INTO payments VALUES (%s, %s)",
    )


def inserted_by_key(target: Target) -> ForeachBatch:
    """Right: a payment that is there is skipped."""
    return into_postgres(
        target,
        "CREATE TABLE payments (payment_id text PRIMARY KEY, amount bigint)",
        "INSERT INTO payments VALUES (%s, %s) ON CONFLICT DO NOTHING",
    )


def into_postgres(target: Target, create: str, insert: str) -> ForeachBatch:
    """Insert each batch in one transaction."""
    with psycopg.connect(target.store.url) as db:
        db.execute(create)

    def write(batch: DataFrame, batch_id: int) -> None:
        del batch_id
        with psycopg.connect(target.store.url) as db, db.cursor() as cursor:
            cursor.executemany(insert, batch.collect())

    return ForeachBatch(write, read=target.store.reader(EVENT, "TABLE payments"))


def added(target: Target) -> ForeachBatch:
    """Wrong: Delta adds a batch that is repeated once more."""
    path = f"{target.store.path}/payments"

    def write(batch: DataFrame, batch_id: int) -> None:
        del batch_id
        batch.write.format("delta").mode("append").save(path)

    return ForeachBatch(write, read=path)


def added_by_number(target: Target) -> ForeachBatch:
    """Right: Delta skips a batch whose number it has."""
    path = f"{target.store.path}/payments"

    def write(batch: DataFrame, batch_id: int) -> None:
        once = {"txnAppId": "payments", "txnVersion": batch_id}
        batch.write.format("delta").mode("append").options(**once).save(path)

    return ForeachBatch(write, read=path)
