"""Sinks on PostgreSQL that try again after an error, as people write them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg
from pyspark import TaskContext

from onceproof.spark_checks import ForeachBatch
from tests.spark_checks.stores.postgres.postgres_sinks import (
    INSERT,
    UPSERT,
    reader,
    tables,
)

KNOWN = "SELECT 1 FROM done WHERE batch = %s"


def twice(work, *given, lost=psycopg.OperationalError):
    """Try again once where a connection breaks."""
    try:
        work(*given)
    except lost:
        work(*given)


def insert(url, rows, statement):
    with psycopg.connect(url) as db, db.cursor() as cursor:
        cursor.executemany(statement, rows)


def upsert_again(target):
    """It is right: a repeat changes nothing."""
    url = target.store.url
    tables(url, "PRIMARY KEY")

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        twice(insert, url, rows, UPSERT)

    return ForeachBatch(write, read=reader(url))


def looked_up_once(target):
    """It is right but for lost replies: it tries again without a second look."""
    url = target.store.url
    tables(url)

    def commit(rows, batch_id):
        with psycopg.connect(url) as db:
            with db.cursor() as cursor:
                cursor.executemany(INSERT, rows)
            done = "INSERT INTO done VALUES (%s) ON CONFLICT DO NOTHING"
            db.execute(done, (batch_id,))

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        with psycopg.connect(url) as db:
            if db.execute(KNOWN, (batch_id,)).fetchone():
                return
        twice(commit, rows, batch_id)

    return ForeachBatch(write, read=reader(url))


def clears_first(target):
    """It clears what a first try may have left; the ledger says that it is there.

    Either fault alone is repaired: by the second try, or by the next look at the
    ledger. But a driver that dies once it has cleared a batch, whose commit went
    through, does not write it again.
    """
    url = target.store.url
    tables(url, "PRIMARY KEY")

    def commit(rows, batch_id):
        with psycopg.connect(url) as db, db.cursor() as cursor:
            cursor.executemany(UPSERT, rows)
            done = "INSERT INTO done VALUES (%s) ON CONFLICT DO NOTHING"
            cursor.execute(done, (batch_id,))

    def clear(rows):
        ids = [one for one, _ in rows]
        with psycopg.connect(url) as db:
            db.execute("DELETE FROM orders WHERE id = ANY(%s)", (ids,))

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        with psycopg.connect(url) as db:
            if db.execute(KNOWN, (batch_id,)).fetchone():
                return
        try:
            commit(rows, batch_id)
        except psycopg.OperationalError:
            clear(rows)
            commit(rows, batch_id)

    return ForeachBatch(write, read=reader(url))


def overwrites(target):
    """It is right as long as no request arrives late: a repeat deletes first."""
    url = target.store.url
    tables(url)

    def write(batch, batch_id):
        rows = [(row.id, row.amount) for row in batch.collect()]
        ids = [one for one, _ in rows]
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("DELETE FROM orders WHERE id = ANY(%s)", (ids,))
            with db.cursor() as cursor:
                cursor.executemany(INSERT, rows)

    return ForeachBatch(write, read=reader(url))


def moves_all(target, *, where=""):
    """It is right unless what was staged late is there as the next batch begins."""
    url = target.store.url
    tables(url)
    with psycopg.connect(url) as db:
        db.execute("CREATE TABLE staged (batch bigint, id text, amount bigint)")

    def stage(rows, batch_id):
        with psycopg.connect(url) as db, db.cursor() as cursor:
            cursor.execute("DELETE FROM staged WHERE batch = %s", (batch_id,))
            cursor.executemany(f"INSERT INTO staged VALUES ({batch_id}, %s, %s)", rows)

    def move(batch_id):
        note = "INSERT INTO done VALUES (%s) ON CONFLICT DO NOTHING"
        gone = f"DELETE FROM staged {where.format(batch_id)} RETURNING id, amount"
        with psycopg.connect(url) as db:
            if db.execute(note, (batch_id,)).rowcount:
                db.execute(
                    f"WITH gone AS ({gone}) INSERT INTO orders SELECT * FROM gone"
                )

    def write(batch, batch_id):
        rows = [(row.id, row.amount) for row in batch.collect()]
        with psycopg.connect(url) as db:
            if db.execute(KNOWN, (batch_id,)).fetchone():
                return
        twice(stage, rows, batch_id)
        twice(move, batch_id)

    return ForeachBatch(write, read=reader(url))


def moves_own(target):
    """It moves what was staged for its own batch."""
    return moves_all(target, where="WHERE batch = {}")


def upsert_again_in_tasks(target):
    """It is right, in tasks."""
    url = target.store.url
    tables(url, "PRIMARY KEY")

    def partition(rows):
        twice(insert, url, [tuple(row) for row in rows], UPSERT)

    def write(batch, batch_id):
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=reader(url))


def clears_first_in_tasks(target):
    """It is ``clears_first`` in tasks, each with a ledger of its own."""
    url = target.store.url
    tables(url, "PRIMARY KEY")

    def commit(rows, task):
        with psycopg.connect(url) as db, db.cursor() as cursor:
            cursor.executemany(UPSERT, rows)
            done = "INSERT INTO done VALUES (%s) ON CONFLICT DO NOTHING"
            cursor.execute(done, (task,))

    def clear(rows):
        ids = [one for one, _ in rows]
        with psycopg.connect(url) as db:
            db.execute("DELETE FROM orders WHERE id = ANY(%s)", (ids,))

    def partition(rows, batch_id):
        rows = [tuple(row) for row in rows]
        task = 100 * batch_id + TaskContext.get().partitionId()
        with psycopg.connect(url) as db:
            if db.execute(KNOWN, (task,)).fetchone():
                return
        try:
            commit(rows, task)
        except psycopg.OperationalError:
            clear(rows)
            commit(rows, task)

    def write(batch, batch_id):
        batch.foreachPartition(partial(partition, batch_id=batch_id))

    return ForeachBatch(write, read=reader(url))


def insert_again_in_tasks(target):
    """A lost answer is enough for two rows."""
    url = target.store.url
    tables(url)

    def partition(rows):
        twice(insert, url, [tuple(row) for row in rows], INSERT)

    def write(batch, batch_id):
        batch.foreachPartition(partition)

    return ForeachBatch(write, read=reader(url))


def swallows(target):
    """It drops what it believes to be lost."""
    url = target.store.url
    tables(url, "PRIMARY KEY")

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        try:
            insert(url, rows, UPSERT)
        except psycopg.OperationalError:
            return

    return ForeachBatch(write, read=reader(url))


def past_the_store(target):
    """It connects to the server by itself, and not through its place."""
    url = target.store.url
    tables(url, "PRIMARY KEY")
    with psycopg.connect(url) as db:
        [(port,)] = db.execute("SELECT inet_server_port()").fetchall()
    direct = url.replace(f":{target.store.addresses[0][1]}/", f":{port}/")

    def write(batch, batch_id):
        insert(direct, [tuple(row) for row in batch.collect()], UPSERT)

    return ForeachBatch(write, read=reader(url))


def in_threads(target):
    """It writes from two threads at once."""
    url = target.store.url
    tables(url, "PRIMARY KEY")

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        parts = (rows[::2], rows[1::2])
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda part: insert(url, part, UPSERT), parts))

    return ForeachBatch(write, read=reader(url))


def put_back(target, *, looks_again):
    """A restart puts rows back that are missing, and tries that again after an error.

    All who write take the table's lock, so that no late request comes in between.
    """
    url = target.store.url
    tables(url)

    def locked(db):
        db.execute("LOCK TABLE orders IN EXCLUSIVE MODE")
        return db

    def put(rows):
        with psycopg.connect(url) as db, locked(db).cursor() as cursor:
            cursor.executemany(INSERT, rows)

    def missing(rows):
        ids = [row[0] for row in rows]
        with psycopg.connect(url) as db:
            found = "SELECT count(*) FROM orders WHERE id = ANY(%s)"
            [(number,)] = locked(db).execute(found, (ids,)).fetchall()
        return not number

    def repair(rows):
        with psycopg.connect(url) as db, locked(db).cursor() as cursor:
            cursor.executemany(INSERT, rows)

    def look_and_repair(rows):
        if missing(rows):
            repair(rows)

    def write(batch, batch_id):
        rows = [tuple(row) for row in batch.collect()]
        begun = target.path / f"begun-{batch_id}"
        if not begun.exists():
            begun.touch()
            put(rows)
        elif looks_again:
            twice(look_and_repair, rows)
        elif missing(rows):
            twice(repair, rows)

    return ForeachBatch(write, read=reader(url))


def put_back_blindly(target):
    """It is wrong if the reply of a repair is lost."""
    return put_back(target, looks_again=False)


def put_back_with_a_look(target):
    """It is right: each try looks what is there."""
    return put_back(target, looks_again=True)
