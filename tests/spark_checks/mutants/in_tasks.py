"""Functions for foreachBatch that write in tasks."""

from __future__ import annotations

import json
import shutil
import sqlite3
import uuid

from pyspark import TaskContext

from onceproof.spark_checks import ForeachBatch
from tests.spark_checks.mutants.mutant import (
    DRIVER_DIES,
    DRIVER_RAISES,
    GIVEN_UP,
    TASK_DIES,
    TASK_RAISES,
    right,
    wrong,
)
from tests.spark_checks.mutants.storage import (
    INSERT,
    KEYED,
    ROWS,
    TABLE,
    UPSERT,
    database,
    lines_of,
    opened,
    pairs,
    put,
    read_lines,
    read_table,
)

ATTEMPTS = (
    "CREATE TABLE attempts (batch INTEGER, part INTEGER, attempt INTEGER, "
    "PRIMARY KEY (batch, part))"
)
LATEST = (
    "INSERT INTO attempts VALUES (?, ?, ?) ON CONFLICT (batch, part) "
    "DO UPDATE SET attempt = max(attempt, excluded.attempt)"
)


def fenced(target, *, replaces):
    """Lets only the attempt that began last commit; it may replace what was there."""
    path = database(target, TABLE, ATTEMPTS)

    def begin(db, place, attempt):
        db.execute(LATEST, (*place, attempt))
        db.commit()

    def is_last(db, place, attempt):
        query = "SELECT attempt FROM attempts WHERE batch = ? AND part = ?"
        return db.execute(query, place).fetchone() == (attempt,)

    def write(batch, batch_id):
        def put_rows(rows):
            context = TaskContext.get()
            place, attempt = (batch_id, context.partitionId()), context.attemptNumber()
            found = [(*pair, *place) for pair in pairs(rows)]
            with opened(path) as db:
                begin(db, place, attempt)
                db.isolation_level = None
                db.execute("BEGIN IMMEDIATE")
                if is_last(db, place, attempt):
                    if replaces:
                        db.execute("DELETE FROM t WHERE batch = ? AND part = ?", place)
                    db.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", found)
                db.execute("COMMIT")

        with opened(path) as db, db:
            db.execute("DELETE FROM t WHERE batch = ?", (batch_id,))
            db.execute("DELETE FROM attempts WHERE batch = ?", (batch_id,))
        batch.foreachPartition(put_rows)

    return ForeachBatch(write, read=read_table(path))


def trusts_any_file(target):
    """Leaves a file alone that another attempt has begun, and may not have ended.

    There is one partition, so that a task knows how many rows are due.
    """
    folder = target.path

    def write(batch, batch_id):
        expected = batch.count()

        def put_rows(rows):
            file = folder / f"{batch_id}-{TaskContext.get().partitionId()}.jsonl"
            found = list(rows)
            if len(found) < expected:
                message = "the input was cut off"
                raise ValueError(message)
            if file.exists():
                return
            try:
                out = file.open("w")
                for row in found:
                    out.write(lines_of([row]))
                    out.flush()
            except BaseException:
                file.unlink(missing_ok=True)
                raise

        for file in folder.glob(f"{batch_id}-*.jsonl"):
            file.unlink()
        batch.foreachPartition(put_rows)

    return ForeachBatch(write, read=read_lines(folder))


def fenced_and_adds(target):
    """Keeps late attempts out, and adds to what an attempt that died had committed."""
    return fenced(target, replaces=False)


def fenced_and_replaces(target):
    """Keeps late attempts out, and replaces what an attempt that died had committed."""
    return fenced(target, replaces=True)


_PUT: set[tuple[str, int, int]] = set()
"""What tasks have put, as far as this process knows."""


class Remembering:
    """Puts the rows of a partition, unless this process has put them before."""

    def __init__(self, path, batch_id):
        self.path, self.batch_id = path, batch_id

    def __call__(self, rows):
        here = (self.path, self.batch_id, TaskContext.get().partitionId())
        found = pairs(rows)
        if here in _PUT:
            return
        with opened(self.path) as db, db:
            db.executemany(INSERT, found)
        _PUT.add(here)


def remembers_in_a_worker(target):
    """Knows from the memory of a worker which rows are there."""
    path = database(target, TABLE)

    def write(batch, batch_id):
        batch.foreachPartition(Remembering(path, batch_id))
        print(f"batch {batch_id} is done")

    return ForeachBatch(write, read=read_table(path))


def skips_bad_rows(target):
    """Skips a row that cannot be written, whatever the reason."""
    path = database(target, KEYED)

    def put_rows(rows):
        for pair in pairs(rows):
            try:
                with opened(path) as db:
                    db.execute(UPSERT, pair)
                    db.commit()
            except sqlite3.Error:
                continue

    return ForeachBatch(
        lambda batch, _: batch.foreachPartition(put_rows), read=read_table(path)
    )


def lets_errors_through(target):
    """Upserts row by row; an error ends the task, and another attempt begins."""
    path = database(target, KEYED)

    def put_rows(rows):
        for pair in pairs(rows):
            with opened(path) as db:
                db.execute(UPSERT, pair)
                db.commit()

    return ForeachBatch(
        lambda batch, _: batch.foreachPartition(put_rows), read=read_table(path)
    )


def looks_then_inserts(target):
    """Inserts what it did not find, in a transaction after the one that looked."""
    path = database(target, KEYED.replace(" PRIMARY KEY", ""))

    def put_rows(rows):
        found = pairs(rows)
        with opened(path) as db:
            known = set(db.execute("SELECT id, amount FROM t").fetchall())
        with opened(path) as db:
            db.executemany(
                "INSERT INTO t VALUES (?, ?)", [p for p in found if p not in known]
            )
            db.commit()

    return ForeachBatch(
        lambda batch, _: batch.foreachPartition(put_rows), read=read_table(path)
    )


def looks_and_inserts(target):
    """Inserts what it did not find, in the transaction that looked."""
    path = database(target, KEYED.replace(" PRIMARY KEY", ""))

    def put_rows(rows):
        found = pairs(rows)
        with opened(path) as db:
            db.isolation_level = None
            db.execute("BEGIN IMMEDIATE")
            known = set(db.execute("SELECT id, amount FROM t").fetchall())
            db.executemany(
                "INSERT INTO t VALUES (?, ?)", [p for p in found if p not in known]
            )
            db.execute("COMMIT")

    return ForeachBatch(
        lambda batch, _: batch.foreachPartition(put_rows), read=read_table(path)
    )


def retry_cleans_up(target):
    """Deletes what a failed attempt left, and believes that a first one has none."""
    path = database(target, TABLE)

    def write(batch, batch_id):
        def put_rows(rows):
            context = TaskContext.get()
            place = (batch_id, context.partitionId())
            found = [(*pair, *place) for pair in pairs(rows)]
            with opened(path) as db:
                if context.attemptNumber() > 0:
                    db.execute("DELETE FROM t WHERE batch = ? AND part = ?", place)
                db.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", found)
                db.commit()

        batch.foreachPartition(put_rows)

    return ForeachBatch(write, read=read_table(path))


def every_attempt_cleans_up(target):
    """Deletes what was there of its partition and batch, and inserts, at once."""
    path = database(target, TABLE)

    def write(batch, batch_id):
        def put_rows(rows):
            place = (batch_id, TaskContext.get().partitionId())
            found = [(*pair, *place) for pair in pairs(rows)]
            with opened(path) as db:
                db.execute("DELETE FROM t WHERE batch = ? AND part = ?", place)
                db.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", found)
                db.commit()

        batch.foreachPartition(put_rows)

    return ForeachBatch(write, read=read_table(path))


def staged(target, *, by_attempt):
    """Stages files in tasks; the driver publishes all that it finds, in one file."""

    def write(batch, batch_id):
        folder = target.path / "staging"

        def stage(rows):
            part = TaskContext.get().partitionId()
            name = f"{part}-{uuid.uuid4()}" if by_attempt else part
            put(folder / f"{name}.part", lines_of(list(rows)))

        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        batch.foreachPartition(stage)
        text = "".join(file.read_text() for file in sorted(folder.glob("*.part")))
        put(target.path / f"{batch_id}.jsonl", text)

    return ForeachBatch(write, read=read_lines(target.path))


def publishes_what_it_finds(target):
    """Publishes files of all attempts, of those that failed too."""
    return staged(target, by_attempt=True)


def publishes_a_file_for_each_part(target):
    """Has attempts replace each other's file."""
    return staged(target, by_attempt=False)


def publishes_what_won(target):
    """Publishes the files that Spark says its attempts have written."""

    def write(batch, batch_id):
        folder = target.path / f"staging-{batch_id}"
        folder.mkdir(exist_ok=True)

        def stage(frames):
            for frame in frames:
                name = f"{uuid.uuid4()}.part"
                put(folder / name, frame.to_json(orient="records", lines=True))
                yield frame.iloc[:1].assign(id=name)[["id"]]

        names = batch.select("id", "amount").mapInPandas(stage, "id string").collect()
        texts = [(folder / name).read_text().strip() for [name] in names]
        put(target.path / f"{batch_id}.jsonl", "\n".join(texts))

    return ForeachBatch(write, read=read_lines(target.path))


def counts_in_tasks(target):
    """Writes down in tasks what passes by, which nobody asked to happen once."""
    path = database(target, KEYED.replace(" PRIMARY KEY", ""))

    def write(batch, batch_id):
        def note(rows):
            for row in rows:
                with opened(path) as db:
                    db.execute("INSERT INTO t VALUES (?, ?)", (row.id, row.amount))
                    db.commit()
                yield row.id

        names = batch.rdd.mapPartitions(note).collect()
        put(target.path / f"{batch_id}.names", json.dumps(names))

    return ForeachBatch(write, read=read_table(path))


def counts_on_the_driver(target):
    """Has tasks hand over what passes by, and writes it down in one place."""

    def write(batch, batch_id):
        def hand_over(rows):
            for row in rows:
                yield row.id, row.amount

        found = batch.rdd.mapPartitions(hand_over).collect()
        named = [{"id": name, "amount": amount} for name, amount in found]
        text = "".join(json.dumps(row) + "\n" for row in named)
        put(target.path / f"{batch_id}.jsonl", text)

    return ForeachBatch(write, read=read_lines(target.path))


def appends_line_by_line(target):
    """Appends to the file of a partition; each attempt begins with what was there."""

    def write(batch, batch_id):
        def append(rows):
            part = TaskContext.get().partitionId()
            with (target.path / f"{batch_id}-{part}.jsonl").open("a") as out:
                for row in rows:
                    out.write(lines_of([row]))

        batch.foreachPartition(append)

    return ForeachBatch(write, read=read_lines(target.path))


def begins_a_file_anew(target):
    """Writes a draft of its own, and has it take the place of the partition's file."""

    def write(batch, batch_id):
        def replace(rows):
            part = TaskContext.get().partitionId()
            file = target.path / f"{batch_id}-{part}.jsonl"
            draft = target.path / f"{uuid.uuid4()}.draft"
            with draft.open("w") as out:
                for row in rows:
                    out.write(lines_of([row]))
            draft.replace(file)

        batch.foreachPartition(replace)

    return ForeachBatch(write, read=read_lines(target.path))


def written_by_spark(target):
    """Leaves it to Spark to write a folder for each batch."""

    def write(batch, batch_id):
        folder = str(target.path / f"batch={batch_id}")
        batch.select("id", "amount").write.mode("overwrite").json(folder)

    def read(spark):
        folders = [str(f) for f in target.path.glob("batch=*/")]
        frame = spark.read.schema(ROWS)
        return frame.json(folders) if folders else spark.createDataFrame([], ROWS)

    return ForeachBatch(write, read=read)


FAILS = (TASK_DIES, TASK_RAISES)
FEW = {"batches": 1, "partitions": 1}
TASKS = {"batches": 2, "partitions": 1}
MUTANTS = (
    wrong(trusts_any_file, TASK_DIES, **FEW),
    wrong(fenced_and_adds, TASK_DIES, GIVEN_UP, **TASKS),
    right(fenced_and_replaces, **TASKS),
    wrong(skips_bad_rows, TASK_RAISES, **FEW),
    right(lets_errors_through, **FEW),
    wrong(looks_then_inserts, GIVEN_UP, **FEW),
    right(looks_and_inserts, **FEW),
    wrong(retry_cleans_up, DRIVER_DIES, GIVEN_UP, **TASKS),
    right(every_attempt_cleans_up, **TASKS),
    wrong(publishes_what_it_finds, TASK_DIES, GIVEN_UP, **TASKS),
    right(publishes_a_file_for_each_part, **TASKS),
    right(publishes_what_won, **TASKS),
    wrong(counts_in_tasks, DRIVER_DIES, DRIVER_RAISES, *FAILS, GIVEN_UP, **FEW),
    right(counts_on_the_driver, **FEW),
    wrong(remembers_in_a_worker, DRIVER_DIES, DRIVER_RAISES, *FAILS, GIVEN_UP, **FEW),
    wrong(appends_line_by_line, DRIVER_DIES, *FAILS, GIVEN_UP, **FEW),
    right(begins_a_file_anew, **FEW),
    right(written_by_spark, **TASKS),
)
