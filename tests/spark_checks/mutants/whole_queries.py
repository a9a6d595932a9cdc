"""Queries of a user's own, Spark's file sink, and jobs that are run again."""

from __future__ import annotations

import json

from onceproof.spark_checks import BatchJob, Files, ForeachBatch, Format, Query
from tests.spark_checks.mutants.mutant import DRIVER_DIES, DRIVER_RAISES, right, wrong
from tests.spark_checks.mutants.storage import (
    DONE,
    KEYED,
    ROWS,
    UPSERT,
    database,
    lines_of,
    opened,
    pairs,
    put,
    read_lines,
    read_table,
)


def starts_with_an_append(target):
    """Starts a query whose callback appends."""
    path = str(target.path / "t")

    def start(events, checkpoint):
        def write(batch, batch_id):
            batch.write.mode("append").parquet(path)

        return events.writeStream.foreachBatch(write).start()

    return Query(start, read=path)


def starts_with_a_place_for_each_batch(target):
    """Starts a query whose callback overwrites the place of its batch."""
    path = str(target.path / "t")

    def start(events, checkpoint):
        def write(batch, batch_id):
            batch.write.mode("overwrite").parquet(f"{path}/batch={batch_id}")

        return events.writeStream.foreachBatch(write).start()

    return Query(start, read=path)


def starts_with_a_format(target):
    """Starts a query into Spark's own file sink, read by its manifest."""
    path = str(target.path / "t")

    def start(events, checkpoint):
        writer = events.writeStream.format("parquet").option("path", path)
        return writer.option("checkpointLocation", checkpoint).start()

    return Query(start, read=path)


def totals(events):
    """Sum the amounts of each name."""
    return events.groupBy("name").sum("amount").toDF("name", "total")


TOTALS = "CREATE TABLE t (name TEXT PRIMARY KEY, total INTEGER)"


def read_totals(path):
    """Make a reader of totals."""
    return read_table(path, "SELECT name, total FROM t", "name string, total long")


def running(target, statement):
    """Start an aggregation that hands over the totals that have changed."""
    path = database(target, TOTALS)

    def start(events, checkpoint):
        def write(batch, batch_id):
            rows = [tuple(row) for row in batch.collect()]
            with opened(path) as db:
                db.executemany(statement, rows)
                db.commit()

        made = totals(events).writeStream.outputMode("update").foreachBatch(write)
        return made.start()

    return Query(start, read=read_totals(path), result=totals)


def totals_replaced(target):
    """Puts the new total in the place of the old one."""
    return running(target, "INSERT OR REPLACE INTO t VALUES (?, ?)")


def totals_of_batches_added(target):
    """Adds what each batch sums up to, as often as the batch comes."""
    path = database(target, TOTALS)
    add = (
        "INSERT INTO t VALUES (?, ?) "
        "ON CONFLICT (name) DO UPDATE SET total = total + excluded.total"
    )

    def write(batch, batch_id):
        rows = [tuple(row) for row in totals(batch).collect()]
        with opened(path) as db:
            db.executemany(add, rows)
            db.commit()

    return ForeachBatch(write, read=read_totals(path), result=totals)


def files_by_manifest(target):
    """Has Spark read the folder, which looks into its manifest."""
    path = str(target.path / "t")
    return Files("parquet", path, read=path)


def files_by_pattern(target):
    """Names files by a pattern, so that nobody looks into the manifest."""
    path = str(target.path / "t")

    def read(spark):
        found = [str(f) for f in (target.path / "t").glob("*.parquet")]
        frame = spark.read.schema(f"{ROWS}, name string")
        empty = spark.createDataFrame([], f"{ROWS}, name string")
        return frame.parquet(*found) if found else empty

    return Files("parquet", path, read=read)


def format_by_name(target):
    """Writes by the name of a format."""
    path = str(target.path / "t")
    return Format("json", {"path": path}, read=read_json(path))


def read_json(path):
    """Make a reader of JSON with a schema, which an empty folder has too."""

    def read(spark):
        return spark.read.schema(f"{ROWS}, name string").json(path)

    return read


def job_notes_first(target):
    """Notes a day as done, and then writes it."""
    path = database(target, KEYED, DONE.replace("INTEGER", "TEXT"))

    def run(events):
        rows = pairs(events.collect())
        day = min(rows)[0] if rows else ""
        with opened(path) as db:
            query = "SELECT 1 FROM done WHERE batch = ?"
            if db.execute(query, (day,)).fetchone():
                return
            db.execute("INSERT INTO done VALUES (?)", (day,))
            db.commit()
            db.executemany(UPSERT, rows)
            db.commit()

    return BatchJob(run, read=read_table(path))


def job_deletes_and_inserts(target):
    """Deletes what is there of a day and inserts it, in two transactions."""
    path = database(target, KEYED)

    def run(events):
        rows = pairs(events.collect())
        with opened(path) as db:
            db.executemany("DELETE FROM t WHERE id = ?", [row[:1] for row in rows])
            db.commit()
            db.executemany("INSERT INTO t VALUES (?, ?)", rows)
            db.commit()

    return BatchJob(run, read=read_table(path))


def job_prints_errors(target):
    """Prints an error and ends well, so that no scheduler runs it again."""
    path = database(target, KEYED)

    def run(events):
        try:
            rows = pairs(events.collect())
            with opened(path) as db:
                db.executemany(UPSERT, rows)
                db.commit()
        except Exception as error:  # noqa: BLE001 - the mistake
            print(f"the job has failed: {error}")

    return BatchJob(run, read=read_table(path))


def job_numbers_its_files(target):
    """Names a file by how many there are, also where it runs again."""

    def run(events):
        number = len(list(target.path.glob("*.jsonl")))
        put(target.path / f"{number}.jsonl", lines_of(events.collect()))

    return BatchJob(run, read=read_lines(target.path))


def job_names_its_files(target):
    """Names a file by the first event in it."""

    def run(events):
        rows = sorted(events.collect(), key=lambda row: row.id)
        if rows:
            put(target.path / f"{rows[0].id}.jsonl", lines_of(rows))

    return BatchJob(run, read=read_lines(target.path))


def job_keeps_one_file(target):
    """Reads all there is, puts the events in by key, and replaces the file."""
    file = target.path / "all.jsonl"

    def run(events):
        held = {}
        if file.exists():
            found = [json.loads(line) for line in file.read_text().splitlines()]
            held = {row["id"]: row["amount"] for row in found}
        held |= dict(pairs(events.collect()))
        named = [{"id": name, "amount": amount} for name, amount in held.items()]
        put(file, "".join(json.dumps(row) + "\n" for row in named))

    return BatchJob(run, read=read_lines(target.path))


TASKS = {"partitions": 1}
MUTANTS = (
    wrong(starts_with_an_append, DRIVER_DIES, DRIVER_RAISES, **TASKS),
    right(starts_with_a_place_for_each_batch, **TASKS),
    right(starts_with_a_format, **TASKS),
    right(totals_replaced, **TASKS),
    wrong(totals_of_batches_added, DRIVER_DIES, **TASKS),
    right(files_by_manifest, partitions=2),
    wrong(files_by_pattern, DRIVER_DIES, partitions=2),
    right(format_by_name, **TASKS),
    wrong(job_notes_first, DRIVER_DIES, DRIVER_RAISES, **TASKS),
    right(job_deletes_and_inserts, **TASKS),
    wrong(job_prints_errors, DRIVER_RAISES, **TASKS),
    wrong(job_numbers_its_files, DRIVER_DIES, **TASKS),
    right(job_names_its_files, **TASKS),
    right(job_keeps_one_file, **TASKS),
)
