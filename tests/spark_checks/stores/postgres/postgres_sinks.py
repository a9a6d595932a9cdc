"""Sinks on PostgreSQL, as people write them with psycopg."""

from __future__ import annotations

import psycopg

from onceproof.spark_checks import ForeachBatch

UPSERT = (
    "INSERT INTO orders VALUES (%s, %s) "
    "ON CONFLICT (id) DO UPDATE SET amount = excluded.amount"
)
INSERT = "INSERT INTO orders VALUES (%s, %s)"


def tables(url, key=""):
    with psycopg.connect(url) as db:
        db.execute(f"CREATE TABLE orders (id text {key}, amount bigint)")
        db.execute("CREATE TABLE done (batch bigint PRIMARY KEY)")


def reader(url):
    def read(spark):
        with psycopg.connect(url) as db:
            rows = db.execute("SELECT id, amount FROM orders").fetchall()
        return spark.createDataFrame(rows, "id string, amount long")

    return read


def insert(target):
    url = target.store.url
    tables(url)

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        with psycopg.connect(url) as db, db.cursor() as cursor:
            cursor.executemany(INSERT, rows)

    return ForeachBatch(write, read=reader(url))


def upsert(target):
    url = target.store.url
    tables(url, "PRIMARY KEY")

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        with psycopg.connect(url) as db, db.cursor() as cursor:
            cursor.executemany(UPSERT, rows)

    return ForeachBatch(write, read=reader(url))


def ledger(target):
    url = target.store.url
    tables(url)

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        with psycopg.connect(url) as db, db.cursor() as cursor:
            cursor.execute(
                "INSERT INTO done VALUES (%s) ON CONFLICT DO NOTHING", (batch_id,)
            )
            if cursor.rowcount:
                cursor.executemany(INSERT, rows)

    return ForeachBatch(write, read=reader(url))


def ledger_apart(target):
    url = target.store.url
    tables(url)

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        with psycopg.connect(url) as db:
            known = db.execute("SELECT 1 FROM done WHERE batch = %s", (batch_id,))
            if known.fetchone():
                return
            with db.cursor() as cursor:
                cursor.executemany(INSERT, rows)
            db.commit()
            db.execute("INSERT INTO done VALUES (%s)", (batch_id,))

    return ForeachBatch(write, read=reader(url))


def upsert_in_tasks(target):
    url = target.store.url
    tables(url, "PRIMARY KEY")

    def partition(rows):
        with psycopg.connect(url) as db, db.cursor() as cursor:
            cursor.executemany(UPSERT, [tuple(row) for row in rows])

    def write(batch, batch_id):
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=reader(url))


OPEN = []


def leaves_transactions_open(target):
    """It is right, but its readers never end their transactions."""
    url = target.store.url
    tables(url, "PRIMARY KEY")

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        with psycopg.connect(url) as db, db.cursor() as cursor:
            cursor.executemany(UPSERT, rows)

    def read(spark):
        db = psycopg.connect(url)
        OPEN.append(db)
        rows = db.execute("SELECT id, amount FROM orders").fetchall()
        return spark.createDataFrame(rows, "id string, amount long")

    return ForeachBatch(write, read=read)


def makes_its_table(target):
    """It is right, and its table is not there before the first batch."""
    url = target.store.url

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        with psycopg.connect(url) as db, db.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE IF NOT EXISTS orders (id text PRIMARY KEY, amount bigint)"
            )
            cursor.executemany(UPSERT, rows)

    return ForeachBatch(write, read=reader(url))


def in_a_schema_of_all(target):
    """It swallows errors; with a fixed schema, what it loses is there from before."""
    url = target.store.url
    with psycopg.connect(url) as db:
        db.execute("CREATE SCHEMA IF NOT EXISTS onceproof_of_all")
        db.execute(
            "CREATE TABLE IF NOT EXISTS onceproof_of_all.orders "
            "(id text PRIMARY KEY, amount bigint)"
        )
    fixed = UPSERT.replace("orders", "onceproof_of_all.orders", 1)

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        with psycopg.connect(url) as db, db.cursor() as cursor:
            cursor.executemany(fixed, rows)

    def read(spark):
        with psycopg.connect(url) as db:
            rows = db.execute("SELECT * FROM onceproof_of_all.orders").fetchall()
        return spark.createDataFrame(rows, "id string, amount long")

    return ForeachBatch(write, read=read)


def transfers(target, *, loses=False):
    """Two accounts that open with 5000; the balance and the batch's id go together."""
    url = target.store.url
    tables(url)
    with psycopg.connect(url) as db:
        db.execute("CREATE TABLE account (id text, balance bigint)")
        db.execute("INSERT INTO account VALUES ('a', 5000), ('b', 5000)")

    def write(batch, batch_id):
        total = sum(row.amount for row in batch.collect())
        with psycopg.connect(url) as db:
            mark = "INSERT INTO done VALUES (%s) ON CONFLICT DO NOTHING"
            if not db.execute(mark, (batch_id,)).rowcount:
                return
            if loses:
                db.commit()
            db.execute(
                "UPDATE account SET balance = balance - %s WHERE id = 'a'", (total,)
            )
            db.execute(
                "UPDATE account SET balance = balance + %s WHERE id = 'b'", (total,)
            )

    def read(spark):
        with psycopg.connect(url) as db:
            rows = db.execute("SELECT id, balance FROM account").fetchall()
        return spark.createDataFrame(rows, "account string, balance long")

    def balances(events):
        moved = events.selectExpr("COALESCE(SUM(amount), 0) AS total")
        return moved.selectExpr(
            "EXPLODE(ARRAY(STRUCT('a' AS account, 5000 - total AS balance), "
            "STRUCT('b' AS account, 5000 + total AS balance))) AS row"
        ).select("row.*")

    return ForeachBatch(write, read=read, result=balances)


def transfers_that_lose(target):
    """The batch's id is committed before the balances."""
    return transfers(target, loses=True)


def transfers_from_nothing(target):
    """What should be seen does not know of what was there before."""
    made = transfers(target)

    def moved(events):
        return made.result(events).where("balance <> 5000")

    return ForeachBatch(made.write, read=made.read, result=moved)
