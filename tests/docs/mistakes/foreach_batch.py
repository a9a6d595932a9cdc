"""Mistakes in functions for foreachBatch."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from onceproof.properties.guarantees import ATOMIC_VISIBILITY
from onceproof.spark_checks.sinks.interface import ForeachBatch
from tests.docs.mistakes.mistake import Mistake
from tests.docs.mistakes.table import (
    ADD,
    INSERT,
    KEYED,
    LEDGER,
    ORDERS,
    TABLE,
    TOTALS,
    UPSERT,
    create,
    open_by_row,
    open_table,
    read_table,
)

log = logging.getLogger("orders")


def append(target):
    path = str(target.path / "orders")

    def write(batch, batch_id):
        batch.write.mode("append").parquet(path)

    return ForeachBatch(write, read=path)


def overwrite_by_batch(target):
    path = str(target.path / "orders")

    def write(batch, batch_id):
        batch.write.mode("overwrite").parquet(f"{path}/batch={batch_id}")

    return ForeachBatch(write, read=path)


def marked_first(target):
    database = create(target, TABLE, LEDGER)

    def write(batch, batch_id):
        with open_table(database) as db:
            known = "SELECT 1 FROM done WHERE batch_id = ?"
            if db.execute(known, (batch_id,)).fetchone():
                return
            db.execute("INSERT INTO done VALUES (?)", (batch_id,))
            db.commit()
            db.executemany(INSERT, batch.collect())
            db.commit()

    return ForeachBatch(write, read=read_table(database))


def marked_afterwards(target):
    database = create(target, TABLE, LEDGER)

    def write(batch, batch_id):
        with open_table(database) as db:
            known = "SELECT 1 FROM done WHERE batch_id = ?"
            if db.execute(known, (batch_id,)).fetchone():
                return
            db.executemany(INSERT, batch.collect())
            db.commit()
            db.execute("INSERT INTO done VALUES (?)", (batch_id,))
            db.commit()

    return ForeachBatch(write, read=read_table(database))


def marked_with_the_rows(target):
    database = create(target, TABLE, LEDGER)

    def write(batch, batch_id):
        with open_table(database) as db:
            known = "SELECT 1 FROM done WHERE batch_id = ?"
            if db.execute(known, (batch_id,)).fetchone():
                return
            db.executemany(INSERT, batch.collect())
            db.execute("INSERT INTO done VALUES (?)", (batch_id,))
            db.commit()

    return ForeachBatch(write, read=read_table(database))


def marked_in_finally(target):
    database = create(target, KEYED, LEDGER)

    def write(batch, batch_id):
        with open_table(database) as db:
            known = "SELECT 1 FROM done WHERE batch_id = ?"
            if db.execute(known, (batch_id,)).fetchone():
                return
            try:
                db.executemany(UPSERT, batch.collect())
            finally:
                db.execute("INSERT INTO done VALUES (?)", (batch_id,))
                db.commit()

    return ForeachBatch(write, read=read_table(database))


def errors_are_logged(target):
    database = create(target, KEYED)

    def write(batch, batch_id):
        try:
            rows = batch.collect()
            with open_table(database) as db, db:
                db.executemany(UPSERT, rows)
        except Exception:
            log.exception("batch %d was not written", batch_id)

    return ForeachBatch(write, read=read_table(database))


def remembered_in_memory(target):
    path = str(target.path / "orders")
    done = set()

    def write(batch, batch_id):
        if batch_id in done:
            return
        batch.write.mode("append").parquet(path)
        done.add(batch_id)

    return ForeachBatch(write, read=path)


def key_made_up(target):
    database = create(
        target,
        "CREATE TABLE orders (id TEXT PRIMARY KEY, order_id, customer, amount)",
    )

    def write(batch, batch_id):
        rows = batch.selectExpr("uuid()", "order_id", "customer", "amount").collect()
        with open_table(database) as db, db:
            db.executemany("INSERT OR REPLACE INTO orders VALUES (?, ?, ?, ?)", rows)

    return ForeachBatch(write, read=read_table(database))


def key_of_the_event(target):
    database = create(target, KEYED)

    def write(batch, batch_id):
        rows = batch.collect()
        with open_table(database) as db, db:
            db.executemany(UPSERT, rows)

    return ForeachBatch(write, read=read_table(database))


def check_then_insert(target):
    database = create(target, TABLE)

    def insert_missing(rows):
        with open_by_row(database) as db:
            known = set(db.execute("SELECT order_id FROM orders").fetchall())
            new = [row for row in rows if (row.order_id,) not in known]
            db.executemany(INSERT, new)

    def write(batch, batch_id):
        batch.foreachPartition(insert_missing)

    return ForeachBatch(write, read=read_table(database))


def insert_or_replace(target):
    database = create(target, KEYED)

    def upsert(rows):
        with open_by_row(database) as db:
            db.executemany(UPSERT, rows)

    def write(batch, batch_id):
        batch.foreachPartition(upsert)

    return ForeachBatch(write, read=read_table(database))


def two_writes(target):
    path = target.path

    def write(batch, batch_id):
        large = batch.where("amount >= 100")
        small = batch.where("amount < 100")
        large.write.mode("overwrite").parquet(f"{path}/large/batch={batch_id}")
        small.write.mode("overwrite").parquet(f"{path}/small/batch={batch_id}")

    def read(spark):
        both = [str(file) for file in path.glob("*/batch=*/*.parquet")]
        return spark.read.schema(ORDERS).parquet(*both)

    return ForeachBatch(write, read=read)


def two_tables_at_once(target):
    tables = [KEYED.replace("orders", name) for name in ("large", "small")]
    database = create(target, *tables)

    def write(batch, batch_id):
        with open_table(database) as db, db:
            for row in batch.collect():
                table = "large" if row.amount >= 100 else "small"
                db.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", row)

    both = "SELECT * FROM large UNION ALL SELECT * FROM small"
    return ForeachBatch(write, read=read_table(database, both))


def file_written_over(target):
    file = target.path / "orders.json"

    def write(batch, batch_id):
        text = file.read_text() if file.exists() else ""
        orders = json.loads(text or "{}")
        orders |= {row.order_id: row.asDict() for row in batch.collect()}
        with file.open("w") as out:
            json.dump(orders, out)

    return ForeachBatch(write, read=read_json(file))


def file_replaced(target):
    file = target.path / "orders.json"

    def write(batch, batch_id):
        text = file.read_text() if file.exists() else ""
        orders = json.loads(text or "{}")
        orders |= {row.order_id: row.asDict() for row in batch.collect()}
        draft = file.with_suffix(".draft")
        draft.write_text(json.dumps(orders))
        draft.replace(file)

    return ForeachBatch(write, read=read_json(file))


def read_json(file):
    def read(spark):
        text = file.read_text() if Path(file).exists() else ""
        orders = json.loads(text or "{}")
        return spark.createDataFrame(list(orders.values()), ORDERS)

    return read


def sums(orders):
    return orders.groupBy("customer").agg({"amount": "sum"}).toDF("customer", "amount")


def read_totals(database):
    def read(spark):
        with open_table(database) as db:
            rows = db.execute("SELECT customer, amount FROM totals").fetchall()
        return spark.createDataFrame(rows, "customer string, amount long")

    return read


def running_total(target):
    database = create(target, TOTALS)

    def write(batch, batch_id):
        rows = sums(batch).collect()
        with open_table(database) as db, db:
            db.executemany(ADD, rows)

    return ForeachBatch(write, read=read_totals(database), result=sums)


def running_total_with_ledger(target):
    database = create(target, TOTALS, LEDGER)

    def write(batch, batch_id):
        rows = sums(batch).collect()
        with open_table(database) as db, db:
            known = "SELECT 1 FROM done WHERE batch_id = ?"
            if db.execute(known, (batch_id,)).fetchone():
                return
            db.executemany(ADD, rows)
            db.execute("INSERT INTO done VALUES (?)", (batch_id,))

    return ForeachBatch(write, read=read_totals(database), result=sums)


MISTAKES = (
    Mistake(
        "Append a batch",
        wrong=(append,),
        fixed=(overwrite_by_batch,),
        fix="Write each batch to a folder named after its id, in mode `overwrite`.",
    ),
    Mistake(
        "Mark the batch id as done, then write",
        wrong=(marked_first,),
        fixed=(marked_with_the_rows,),
        fix="Commit the id and the rows in one transaction.",
    ),
    Mistake(
        "Write, then mark the batch id as done in another transaction",
        wrong=(marked_afterwards,),
        fixed=(marked_with_the_rows,),
        fix="Commit the id and the rows in one transaction.",
    ),
    Mistake(
        "Mark the batch id as done in `finally`",
        wrong=(marked_in_finally,),
        fixed=(marked_with_the_rows,),
        fix="Commit the id and the rows in one transaction, and nothing on an error.",
    ),
    Mistake(
        "Log an error, and go on",
        wrong=(errors_are_logged,),
        fixed=(key_of_the_event,),
        fix="Let errors through: the query fails, and a restart repeats the batch.",
    ),
    Mistake(
        "Remember in memory which batches are done",
        wrong=(remembered_in_memory,),
        fixed=(marked_with_the_rows,),
        fix="Store the ids beside the rows, in the same transaction.",
    ),
    Mistake(
        "Upsert by a key that the sink generates",
        wrong=(key_made_up,),
        fixed=(key_of_the_event,),
        fix="Upsert by a key that comes with the event.",
    ),
    Mistake(
        "Look up which keys exist, then insert the others, in tasks",
        wrong=(check_then_insert,),
        fixed=(insert_or_replace,),
        fix="Give the table the key: the database then checks it at each write.",
    ),
    Mistake(
        "Write a batch to two places",
        wrong=(two_writes,),
        fixed=(two_tables_at_once,),
        fix="Write both in one transaction, or let readers read only one of them.",
        claims=(ATOMIC_VISIBILITY,),
    ),
    Mistake(
        "Rewrite a file in place",
        wrong=(file_written_over,),
        fixed=(file_replaced,),
        fix="Write a new file beside it, and rename it over the old one.",
    ),
    Mistake(
        "Add to a running total",
        wrong=(running_total, sums),
        fixed=(running_total_with_ledger,),
        fix="Commit the batch id with the totals, and skip an id that exists.",
    ),
)
