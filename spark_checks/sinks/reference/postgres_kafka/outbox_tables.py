"""What the sinks with an outbox share: the transaction of orders, and what to send."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
from pyspark.sql import Row

from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.sinks.reference.postgres.ledger import MARK
from onceproof.spark_checks.sinks.reference.postgres_kafka import stores
from onceproof.spark_checks.sinks.reference.sqlite import COLUMNS

if TYPE_CHECKING:
    from onceproof.spark_checks.sinks.interface import Target

TO_OUTBOX = tables.INSERT.replace("flights", "outbox", 1)


def create(target: Target) -> str:
    """Make the tables of orders, of batches that are done, and of what is to be sent.

    Ids in the outbox are in the order of commits, since one driver writes it.
    """
    url = stores.create(target, ledger="batch_id bigint PRIMARY KEY")
    with psycopg.connect(url) as db:
        db.execute("CREATE TABLE outbox (id bigserial PRIMARY KEY, LIKE flights)")
    return url


def write_batch(url: str, rows: list[Row], batch_id: int) -> None:
    """Commit orders, events to send and the batch's id, unless the id is there."""
    with psycopg.connect(url) as db:
        if db.execute(MARK, (batch_id,)).rowcount:
            tables.insert(db, rows)
            tables.insert(db, rows, statement=TO_OUTBOX)


def pending(url: str, beyond: int = 0) -> tuple[list[Row], int]:
    """Return the events that are to be sent, in order, and the last one's id."""
    names = [name.strip() for name in COLUMNS.split(",")]
    query = f"SELECT {COLUMNS}, id FROM outbox WHERE id > %s ORDER BY id"
    with psycopg.connect(url) as db:
        found = db.execute(query, (beyond,)).fetchall()
    rows = [Row(**dict(zip(names, row[:-1], strict=True))) for row in found]
    return rows, found[-1][-1] if found else beyond
