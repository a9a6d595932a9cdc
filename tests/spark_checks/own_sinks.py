"""Sinks as users write them: right ones and wrong ones, of every kind."""

from __future__ import annotations

import csv
import functools
import io
import json
import os
import sqlite3
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Thread

from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamWriter,
    WriterCommitMessage,
)

from onceproof.spark_checks.inject.tracing.line_trace import MOST_NOTES
from onceproof.spark_checks.sinks.interface import (
    BatchJob,
    Foreach,
    ForeachBatch,
    Format,
    Query,
)
from onceproof.spark_checks.sinks.interface import (
    Files as FileSink,
)

CALLED = os.environ.get("ORDERS_ARE_CALLED", "orders")
START = uuid.uuid4().hex
"""An id that this module makes as it is imported: each start of a program has its own.
"""


def table(target, columns):
    path = str(target.path / "sink.db")
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"CREATE TABLE t ({columns})")
    return path


def rows_of(path, names, schema):
    def read(spark):
        with closing(sqlite3.connect(path)) as db:
            found = db.execute(f"SELECT {names} FROM t").fetchall()
        return spark.createDataFrame(found, schema)

    return read


def files_of(folder, pattern):
    def read(spark):
        found = [json.loads(f.read_text()) for f in sorted(Path(folder).glob(pattern))]
        rows = [(row["id"], row["amount"]) for rows in found for row in rows]
        return spark.createDataFrame(rows, "id string, amount long")

    return read


def remembers(target):
    """Keeps in memory which batches are done: that is lost with the driver."""
    path, done = str(target.path / "t"), set()

    def write(batch, batch_id):
        if batch_id in done:
            return
        done.add(batch_id)
        batch.write.mode("append").parquet(path)

    return ForeachBatch(functools.partial(write), read=path)


def counts_batches(target):
    """Names the batches by a count in memory: right as long as the driver lives."""
    path, done = target.path / "t", [0]

    def write(batch, batch_id):
        del batch_id
        done[0] += 1
        batch.write.mode("overwrite").parquet(f"{path}/n={done[0]}")

    def read(spark):
        return spark.read.parquet(str(path)).drop("n")

    return ForeachBatch(write, read=read)


def checks_first(target):
    """Tasks look whether a row is there, and insert it in another transaction."""
    path = table(target, "id, amount")

    def put(rows):
        with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as db:
            for row in rows:
                known = "SELECT 1 FROM t WHERE id = ?"
                if db.execute(known, (row.id,)).fetchone() is None:
                    db.execute("INSERT INTO t VALUES (?, ?)", (row.id, row.amount))

    def write(batch, batch_id):
        del batch_id
        batch.foreachPartition(put)

    return ForeachBatch(
        write, read=rows_of(path, "id, amount", "id string, amount long")
    )


def tries_a_block_again(target):
    """Lets the database take back what a failed try had done, before the next."""
    path = table(target, "id TEXT, amount INT")
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE done (batch INT PRIMARY KEY)")

    def write(batch, batch_id):
        rows = [(row.id, row.amount) for row in batch.collect()]
        with closing(sqlite3.connect(path)) as db:
            if db.execute("SELECT 1 FROM done WHERE batch = ?", (batch_id,)).fetchone():
                return
            for last in (False, True):
                try:
                    with db:
                        db.executemany("INSERT INTO t VALUES (?, ?)", rows)
                        db.execute(
                            "INSERT OR REPLACE INTO done VALUES (?)", (batch_id,)
                        )
                    return  # noqa: TRY300
                except sqlite3.Error:
                    if last:
                        raise

    return ForeachBatch(
        write, read=rows_of(path, "id, amount", "id string, amount long")
    )


def swallows(target, kind=Exception):
    """Takes an error for the end of its work: the batch is lost, and committed."""
    path = table(target, "id TEXT PRIMARY KEY, amount INT")

    def write(batch, batch_id):
        try:
            rows = [(row.id, row.amount) for row in batch.collect()]
            with closing(sqlite3.connect(path)) as db, db:
                db.executemany("INSERT OR REPLACE INTO t VALUES (?, ?)", rows)
        except kind as error:
            print(f"batch {batch_id} was not written: {error}")

    return ForeachBatch(
        write, read=rows_of(path, "id, amount", "id string, amount long")
    )


def left_to_a_thread(target):
    """Returns before its thread has written: Spark takes the batch for done."""
    folder = target.path

    def write(batch, batch_id):
        rows = [row.asDict() for row in batch.collect()]

        def put():
            draft = folder / f"{batch_id}.draft"
            draft.write_text(json.dumps(rows))
            draft.replace(folder / f"{batch_id}.json")

        Thread(target=put).start()

    return ForeachBatch(write, read=files_of(folder, "*.json"))


def in_a_kept_pool(target):
    """Has a pool of its own for all batches; its tasks insert what they are given."""
    path, pools = table(target, "id TEXT, amount INT"), []

    def put(rows):
        with closing(sqlite3.connect(path, timeout=30)) as db, db:
            values = [(row.id, row.amount) for row in rows]
            db.executemany("INSERT INTO t VALUES (?, ?)", values)

    def write(batch, batch_id):
        if not pools:
            pools.append(ThreadPoolExecutor(1))
        if batch_id:
            pools[0].submit(batch.foreachPartition, put).result()
        else:
            batch.foreachPartition(put)

    return ForeachBatch(
        write, read=rows_of(path, "id, amount", "id string, amount long")
    )


def tries_again(target):
    """Has a job done anew that fails, on top of what its tasks had done."""
    path = table(target, "id TEXT, amount INT")

    def put(rows):
        with closing(sqlite3.connect(path, timeout=30)) as db, db:
            values = [(row.id, row.amount) for row in rows]
            db.executemany("INSERT INTO t VALUES (?, ?)", values)

    def write(batch, batch_id):
        for last in (False, True):
            try:
                batch.foreachPartition(put)
                break
            except Exception:
                if last:
                    raise

    return ForeachBatch(
        write, read=rows_of(path, "id, amount", "id string, amount long")
    )


def in_threads(target, *, asked):
    """Writes even and odd amounts side by side, and asks how that went or does not."""
    folder = target.path

    def write(batch, batch_id):
        def part(n):
            rows = batch.where(f"amount % 2 = {n}").collect()
            draft = folder / f"{n}-{batch_id}.draft"
            draft.write_text(json.dumps([row.asDict() for row in rows]))
            draft.replace(draft.with_suffix(".json"))

        with ThreadPoolExecutor(2) as pool:
            parts = [pool.submit(part, n) for n in range(2)]
        for done in parts if asked else ():
            done.result()

    return ForeachBatch(write, read=files_of(folder, "*.json"))


class Closing:
    """Writes what a task was given when it is closed, under its own name."""

    def __init__(self, folder, unique):
        self.folder, self.unique = folder, unique

    def open(self, partition, epoch):
        self.name, self.rows = f"{epoch}-{partition}", []
        return True

    def process(self, row):
        self.rows.append(row.asDict())

    def close(self, error):
        if error is None:
            name = uuid.uuid4().hex if self.unique else self.name
            draft = Path(self.folder, f"{uuid.uuid4().hex}.draft")
            draft.write_text(json.dumps(self.rows))
            draft.replace(Path(self.folder, f"{name}.json"))


def _named_by(target, name):
    folder = str(target.path)

    def write(batch, number):
        rows = [row.asDict() for row in batch.collect()]
        made = Path(folder) / f"{name()}-{number}.tmp"
        made.write_text(json.dumps(rows))
        made.replace(made.with_suffix(".json"))

    return ForeachBatch(write, read=files_of(folder, "*.json"))


def named_by_start(target):
    """A driver that starts again does not know the files of the one before it."""
    return _named_by(target, lambda: START)


def named_by_table(target):
    """The same with a name that the environment has."""
    return _named_by(target, lambda: CALLED)


def named_by_build(target):
    """The same with a name that each build makes, as a restarted driver would."""
    made = uuid.uuid4().hex
    return _named_by(target, lambda: made)


def named_by_build_for_good(target):
    """The same where the program is said to have the name again."""
    made = target.lasting(uuid.uuid4().hex)
    return _named_by(target, lambda: made)


def named_by_epoch(target):
    folder = str(target.path)
    return Foreach(Closing(folder, unique=False), read=files_of(folder, "*.json"))


def named_at_random(target):
    folder = str(target.path)
    return Foreach(Closing(folder, unique=True), read=files_of(folder, "*.json"))


def after_very_much(target):
    """Does much in a task before it inserts, and ends with a loop over a reader."""
    path = table(target, "id TEXT, amount INT")

    def insert(rows):
        text = io.StringIO()
        for _ in range(MOST_NOTES // 2):
            text.tell()
        writer = csv.writer(text)
        writer.writerows([("id", "amount"), *((row.id, row.amount) for row in rows)])
        text.seek(0)
        for row in csv.DictReader(text):
            with closing(sqlite3.connect(path, timeout=60)) as db, db:
                db.execute("INSERT INTO t VALUES (:id, :amount)", row)

    return ForeachBatch(
        lambda batch, _: batch.foreachPartition(insert),
        read=rows_of(path, "id, amount", "id string, amount long"),
    )


def one_by_one(target):
    """Is called for each row, and so not at all where there is none."""
    folder = target.path

    def put(row):
        draft = folder / f"{uuid.uuid4().hex}.draft"
        draft.write_text(json.dumps([row.asDict()]))
        draft.replace(folder / f"{row.id}.json")

    return Foreach(put, read=files_of(folder, "*.json"))


def takes_turns(target, where):
    """Its tasks run other lines in every second run of the test."""
    folder, builds = target.path, Path(where)
    number = len(builds.read_text()) if builds.exists() else 0
    builds.write_text("x" * (number + 1))

    def put(row):
        draft = folder / f"{uuid.uuid4().hex}.draft"
        text = json.dumps([row.asDict()])
        if number % 2:
            draft.write_text(text)
        else:
            draft.write_bytes(text.encode())
        draft.replace(folder / f"{row.id}.json")

    return Foreach(put, read=files_of(folder, "*.json"))


class Once(Closing):
    """Leaves alone what was written for a partition and an epoch before."""

    def close(self, error):
        if not Path(self.folder, f"{self.name}.json").exists():
            super().close(error)


def keeps_the_first(target):
    folder = str(target.path)
    return Foreach(Once(folder, unique=False), read=files_of(folder, "*.json"))


class Staged(WriterCommitMessage):
    def __init__(self, name):
        self.name = name


class Mover(DataSourceStreamWriter):
    """Stages in tasks; commit moves what is staged, one file after the other."""

    def __init__(self, options):
        self.folder, self.guarded = options["folder"], options["guarded"] == "true"

    def write(self, rows):
        name = f"{uuid.uuid4().hex}.json"
        Path(self.folder, f"staged-{name}").write_text(
            json.dumps([row.asDict() for row in rows])
        )
        return Staged(name)

    def commit(self, messages, batch_id):
        if self.guarded:
            return self.publish(messages, batch_id)
        for message in messages:
            staged = Path(self.folder, f"staged-{message.name}")
            staged.replace(Path(self.folder, f"done-{message.name}"))
        return None

    def publish(self, messages, batch):
        final = Path(self.folder, f"done-{batch}.json")
        if final.exists():
            return
        staged = [Path(self.folder, f"staged-{m.name}") for m in messages]
        rows = [row for file in staged for row in json.loads(file.read_text())]
        draft = Path(self.folder, "draft")
        draft.write_text(json.dumps(rows))
        draft.replace(final)

    def abort(self, messages, batch_id):
        for message in messages:
            if message is not None:
                Path(self.folder, f"staged-{message.name}").unlink(missing_ok=True)


class Files(DataSource):
    @classmethod
    def name(cls):
        return "moved_files"

    def streamWriter(self, schema, overwrite):
        return Mover(self.options)


def moves_files(target, guarded="false"):
    folder = str(target.path)
    options = {"folder": folder, "guarded": guarded}
    return Format(Files, options, read=files_of(folder, "done-*.json"))


def publishes_once(target):
    return moves_files(target, guarded="true")


def totals(events):
    return events.groupBy("name").sum("amount").toDF("name", "total")


def running_totals(target):
    """A whole query that keeps state, and puts its whole result in place."""
    path = str(target.path / "t")

    def start(events, checkpoint):
        def write(batch, batch_id):
            del batch_id
            batch.write.mode("overwrite").parquet(path)

        made = totals(events).writeStream.outputMode("complete").foreachBatch(write)
        return made.trigger(processingTime="5 minutes").start()

    return Query(start, read=path, result=totals)


def adds_up(target):
    """Adds each batch to totals, and does not know which batches it has added."""
    path = table(target, "name TEXT PRIMARY KEY, total INTEGER")
    add = (
        "INSERT INTO t VALUES (?, ?) "
        "ON CONFLICT (name) DO UPDATE SET total = total + excluded.total"
    )

    def write(batch, batch_id):
        del batch_id
        rows = [tuple(row) for row in totals(batch).collect()]
        with closing(sqlite3.connect(path, timeout=30)) as db:
            db.executemany(add, rows)
            db.commit()

    read = rows_of(path, "name, total", "name string, total long")
    return ForeachBatch(write, read=read, result=totals)


def appending_job(target):
    path = str(target.path / "t")
    return BatchJob(lambda events: events.write.mode("append").parquet(path), read=path)


def swallowing_job(target):
    """Tells of an error and ends well: nobody runs the job again."""
    path = str(target.path / "t")

    def run(events):
        try:
            events.write.mode("overwrite").parquet(path)
        except OSError as error:
            print(f"nothing was written: {error}")

    return BatchJob(run, read=path)


def appends_and_goes_on(target):
    """Appends, and has something to do after it."""
    path = str(target.path / "t")

    def write(batch, batch_id):
        batch.write.mode("append").parquet(path)
        print(f"batch {batch_id} is written")

    return ForeachBatch(write, read=path)


def built_in(target):
    path = str(target.path / "t")
    return Format("parquet", {"path": path}, read=path)


def upserts_under_a_lock(target, insert="INSERT OR REPLACE"):
    """Takes the database's lock first, and waits for it as long as it takes."""
    path = table(target, "id TEXT PRIMARY KEY, amount INT")
    if insert == "INSERT":
        path = table_without_key(target)

    def put(rows):
        with closing(sqlite3.connect(path, isolation_level=None, timeout=90)) as db:
            db.execute("BEGIN IMMEDIATE")
            for row in rows:
                db.execute(f"{insert} INTO t VALUES (?, ?)", (row.id, row.amount))
            db.execute("COMMIT")

    return ForeachBatch(
        lambda batch, _: batch.foreachPartition(put),
        read=rows_of(path, "id, amount", "id string, amount long"),
    )


def inserts_under_a_lock(target):
    return upserts_under_a_lock(target, insert="INSERT")


def table_without_key(target):
    path = str(target.path / "sink.db")
    with closing(sqlite3.connect(path)) as db:
        db.executescript("DROP TABLE t; CREATE TABLE t (id TEXT, amount INT)")
    return path


def through_a_package(target):
    """Leaves all to a package: its own lines are right."""
    path = table(target, "id TEXT, amount INT")
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE done (batch INT PRIMARY KEY)")

    def write(batch, batch_id):
        from mylib.sinks import store

        store(path, [(row.id, row.amount) for row in batch.collect()], batch_id)

    return ForeachBatch(
        write, read=rows_of(path, "id, amount", "id string, amount long")
    )


def in_tables_of_its_own(target, db, keyed="TEXT PRIMARY KEY", fails=""):
    """Writes to a table of a database that all interleavings share, and drops it."""
    with closing(sqlite3.connect(db, timeout=60)) as con, con:
        con.execute(f"CREATE TABLE {target.name} (id {keyed}, amount INT)")

    def drop():
        with closing(sqlite3.connect(db, timeout=60)) as con, con:
            con.execute(f"DROP TABLE {target.name}")
        if fails:
            raise OSError(fails)

    target.cleanup(drop)

    def write(batch, batch_id):
        rows = [(row.id, row.amount) for row in batch.collect()]
        with closing(sqlite3.connect(db, timeout=60)) as con, con:
            con.executemany(f"INSERT OR REPLACE INTO {target.name} VALUES (?, ?)", rows)
        print(f"batch {batch_id} is written")

    def read(spark):
        with closing(sqlite3.connect(db, timeout=60)) as con:
            found = con.execute(f"SELECT id, amount FROM {target.name}").fetchall()
        return spark.createDataFrame(found, "id string, amount long")

    return ForeachBatch(write, read=read)


def _listed(path):
    """Give a reader that takes every file for part of the table."""

    def read(spark):
        files = [str(file) for file in sorted(path.glob("part-*.parquet"))]
        if not files:
            return spark.createDataFrame([], "id string, amount long, name string")
        return spark.read.parquet(*files)

    return read


def files_by_manifest(target):
    path = str(target.path / "t")
    return FileSink("parquet", path, read=path)


def files_by_listing(target):
    """Reads what lies in the folder, as pandas does: the manifest is not asked."""
    path = target.path / "t"
    return FileSink("parquet", str(path), read=_listed(path))


def files_by_name_and_listing(target):
    path = target.path / "t"
    return Format("parquet", {"path": str(path)}, read=_listed(path))


def query_into_listed_files(target):
    path = target.path / "t"

    def start(events, checkpoint):
        writer = events.writeStream.format("parquet")
        return writer.option("checkpointLocation", checkpoint).start(str(path))

    return Query(start, read=_listed(path))


def reaches_out(target, where):
    """Writes to what is not its own, in one way or another."""
    path = str(target.path / "t")

    def write(batch, batch_id):
        if where.startswith("file:"):
            batch.write.mode("append").parquet(where)
        elif where.endswith(".db"):
            sqlite3.connect(where).close()
        else:
            Path(where).write_text("reached")
        batch.write.mode("overwrite").parquet(f"{path}/batch={batch_id}")

    return ForeachBatch(write, read=path)


def other_checkpoint(target):
    path = str(target.path / "t")

    def start(events, checkpoint):
        writer = events.writeStream.format("parquet")
        return writer.option("checkpointLocation", f"{checkpoint}-other").start(path)

    return Query(start, read=path)
