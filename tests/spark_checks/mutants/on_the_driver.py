"""Functions for foreachBatch that write on the driver."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
import uuid

from onceproof.properties.guarantees import DURABLE, EFFECTIVELY_ONCE
from onceproof.spark_checks import ForeachBatch
from onceproof.spark_checks.plan.choice import Choice
from tests.spark_checks.mutants.mutant import (
    DRIVER_DIES,
    DRIVER_RAISES,
    TWO_FAULTS,
    right,
    wrong,
)
from tests.spark_checks.mutants.storage import (
    DONE,
    INSERT,
    KEYED,
    ROWS,
    TABLE,
    UPSERT,
    database,
    is_done,
    lines_of,
    opened,
    pairs,
    put,
    read_lines,
    read_table,
)


def cuts_back_on_error(target):
    """Takes back what it appended where an error is raised, and not where it dies."""
    file = target.path / "all.jsonl"

    def write(batch, batch_id):
        rows = batch.collect()
        length = file.stat().st_size if file.exists() else 0
        with file.open("a") as out:
            try:
                for row in rows:
                    out.write(lines_of([row]))
                    out.flush()
            except BaseException:
                os.truncate(file, length)
                raise

    return ForeachBatch(write, read=read_lines(target.path))


def cuts_back_on_start(target):
    """Notes how long the file is, and cuts it to that where a batch comes again."""
    file, note = target.path / "all.jsonl", target.path / "note"

    def write(batch, batch_id):
        rows = batch.collect()
        noted, length = json.loads(note.read_text()) if note.exists() else (-1, 0)
        if noted == batch_id:
            os.truncate(file, length)
        else:
            file.touch()
            put(note, json.dumps((batch_id, file.stat().st_size)))
        with file.open("a") as out:
            for row in rows:
                out.write(lines_of([row]))
                out.flush()

    return ForeachBatch(write, read=read_lines(target.path))


def gives_up_quietly(target):
    """Suppresses the errors of a database, so that Spark takes the batch for done."""
    path = database(target, KEYED)

    def write(batch, batch_id):
        rows = pairs(batch.collect())
        with contextlib.suppress(sqlite3.Error), opened(path) as db:
            for row in rows:
                db.execute(UPSERT, row)
            db.commit()

    return ForeachBatch(write, read=read_table(path))


def gives_up_loudly(target):
    """Adds words to an error and raises it."""
    path = database(target, KEYED)

    def write(batch, batch_id):
        rows = pairs(batch.collect())
        try:
            with opened(path) as db:
                for row in rows:
                    db.execute(UPSERT, row)
                db.commit()
        except sqlite3.Error as error:
            message = f"batch {batch_id} was not written"
            raise RuntimeError(message) from error

    return ForeachBatch(write, read=read_table(path))


def commits_in_finally(target):
    """Commits what there is, in ``finally``; a batch with any row counts as done."""
    path = database(target, TABLE)
    known = "SELECT 1 FROM t WHERE batch = ?"

    def write(batch, batch_id):
        rows = pairs(batch.collect())
        with opened(path) as db:
            if db.execute(known, (batch_id,)).fetchone():
                return
            try:
                for row in rows:
                    db.execute("INSERT INTO t VALUES (?, ?, ?, 0)", (*row, batch_id))
            finally:
                db.commit()

    return ForeachBatch(write, read=read_table(path))


def commits_at_the_end(target):
    """Commits once all rows are there; a batch with any row is done."""
    path = database(target, TABLE)
    known = "SELECT 1 FROM t WHERE batch = ?"

    def write(batch, batch_id):
        rows = pairs(batch.collect())
        with opened(path) as db:
            if db.execute(known, (batch_id,)).fetchone():
                return
            for row in rows:
                db.execute("INSERT INTO t VALUES (?, ?, ?, 0)", (*row, batch_id))
            db.commit()

    return ForeachBatch(write, read=read_table(path))


def transaction_in_name_only(target):
    """Opens a block for a transaction on a connection that commits each statement."""
    path = database(target, KEYED.replace(" PRIMARY KEY", ""), DONE)

    def write(batch, batch_id):
        rows = pairs(batch.collect())
        with opened(path) as db, db:
            db.isolation_level = None
            if is_done(db, batch_id):
                return
            for row in rows:
                db.execute(INSERT, row)
            db.execute("INSERT INTO done VALUES (?)", (batch_id,))

    return ForeachBatch(write, read=read_table(path))


def transaction_by_hand(target):
    """Begins and commits a transaction itself."""
    path = database(target, KEYED.replace(" PRIMARY KEY", ""), DONE)

    def write(batch, batch_id):
        rows = pairs(batch.collect())
        with opened(path) as db:
            db.isolation_level = None
            db.execute("BEGIN IMMEDIATE")
            if is_done(db, batch_id):
                return
            for row in rows:
                db.execute(INSERT, row)
            db.execute("INSERT INTO done VALUES (?)", (batch_id,))
            db.execute("COMMIT")

    return ForeachBatch(write, read=read_table(path))


def new_name_each_time(target):
    """Puts a whole file in place, under a name that no one has had."""

    def write(batch, batch_id):
        put(target.path / f"{uuid.uuid4()}.jsonl", lines_of(batch.collect()))

    return ForeachBatch(write, read=read_lines(target.path))


def name_of_the_batch(target):
    """Puts a whole file in place, under the name of the batch."""

    def write(batch, batch_id):
        put(target.path / f"{batch_id}.jsonl", lines_of(batch.collect()))

    return ForeachBatch(write, read=read_lines(target.path))


def next_number(target):
    """Numbers rows on from the last one in the table, and upserts by that number."""
    path = database(target, "CREATE TABLE t (n INTEGER PRIMARY KEY, id, amount)")

    def write(batch, batch_id):
        rows = pairs(batch.orderBy("id").collect())
        with opened(path) as db:
            [last] = db.execute("SELECT coalesce(max(n), 0) FROM t").fetchone()
            found = [(last + n, *row) for n, row in enumerate(rows, 1)]
            db.executemany("INSERT OR REPLACE INTO t VALUES (?, ?, ?)", found)
            db.commit()

    return ForeachBatch(write, read=read_table(path))


def number_of_the_batch(target):
    """Numbers rows from the batch id on, in an order that is always the same."""
    path = database(target, "CREATE TABLE t (n INTEGER PRIMARY KEY, id, amount)")

    def write(batch, batch_id):
        rows = pairs(batch.orderBy("id").collect())
        with opened(path) as db:
            found = [(1000 * batch_id + n, *row) for n, row in enumerate(rows)]
            db.executemany("INSERT OR REPLACE INTO t VALUES (?, ?, ?)", found)
            db.commit()

    return ForeachBatch(write, read=read_table(path))


def totals(events):
    """Sum the amounts of each name."""
    return events.groupBy("name").sum("amount").toDF("name", "total")


def read_totals(file):
    """Make a reader of totals in a file."""

    def read(spark):
        found = json.loads(file.read_text())["totals"] if file.exists() else {}
        return spark.createDataFrame(list(found.items()), "name string, total long")

    return read


def added_each_time(target):
    """Adds to totals that do not say which batches are in them."""
    file = target.path / "totals.json"

    def write(batch, batch_id):
        held = json.loads(file.read_text()) if file.exists() else {"totals": {}}
        for name, total in totals(batch).collect():
            held["totals"][name] = held["totals"].get(name, 0) + total
        put(file, json.dumps(held))

    return ForeachBatch(write, read=read_totals(file), result=totals)


def added_once(target):
    """Adds to totals that say which batch was last."""
    file = target.path / "totals.json"

    def write(batch, batch_id):
        held = {"totals": {}, "last": -1}
        if file.exists():
            held = json.loads(file.read_text())
        if held["last"] >= batch_id:
            return
        for name, total in totals(batch).collect():
            held["totals"][name] = held["totals"].get(name, 0) + total
        put(file, json.dumps({**held, "last": batch_id}))

    return ForeachBatch(write, read=read_totals(file), result=totals)


def read_current(folder):
    """Make a reader of the version that a pointer names."""

    def read(spark):
        pointer = folder / "current"
        name = pointer.read_text() if pointer.exists() else "none"
        return read_lines(folder, f"{name}.jsonl")(spark)

    return read


def pointer_first(target):
    """Points readers to the next version before that is there."""
    folder = target.path

    def write(batch, batch_id):
        before = folder / f"v{batch_id - 1}.jsonl"
        text = before.read_text() if before.exists() else ""
        text += lines_of(batch.collect())
        put(folder / "current", f"v{batch_id}")
        put(folder / f"v{batch_id}.jsonl", text)

    return ForeachBatch(write, read=read_current(folder))


def pointer_last(target):
    """Writes the next version, then points readers to it."""
    folder = target.path

    def write(batch, batch_id):
        before = folder / f"v{batch_id - 1}.jsonl"
        text = before.read_text() if before.exists() else ""
        text += lines_of(batch.collect())
        put(folder / f"v{batch_id}.jsonl", text)
        put(folder / "current", f"v{batch_id}")

    return ForeachBatch(write, read=read_current(folder))


def appended_by_pandas(target):
    """Appends to a file of comma-separated values."""
    file = str(target.path / "all.csv")

    def write(batch, batch_id):
        frame = batch.select("id", "amount").toPandas()
        frame.to_csv(file, mode="a", header=False, index=False)

    return ForeachBatch(write, read=read_csv(target.path))


def replaced_by_pandas(target):
    """Writes a file for each batch, and renames it when it is whole."""

    def write(batch, batch_id):
        draft = target.path / f"{batch_id}.draft"
        frame = batch.select("id", "amount").toPandas()
        frame.to_csv(draft, header=False, index=False)
        draft.replace(draft.with_suffix(".csv"))

    return ForeachBatch(write, read=read_csv(target.path))


def read_csv(folder):
    """Make a reader of comma-separated values."""

    def read(spark):
        files = [str(file) for file in folder.glob("*.csv")]
        frame = spark.read.schema(ROWS)
        return frame.csv(files) if files else spark.createDataFrame([], ROWS)

    return read


def folder_means_done(target):
    """Takes a folder that is there for one that is full."""

    def write(batch, batch_id):
        rows = batch.collect()
        folder = target.path / str(batch_id)
        if folder.exists():
            return
        folder.mkdir()
        for row in rows:
            put(folder / f"{row.id}.jsonl", lines_of([row]))

    return ForeachBatch(write, read=read_lines(target.path, "*/*.jsonl"))


def mark_means_done(target):
    """Writes a mark into a folder as the last thing."""

    def write(batch, batch_id):
        rows = batch.collect()
        folder = target.path / str(batch_id)
        if (folder / "done").exists():
            return
        folder.mkdir(exist_ok=True)
        for row in rows:
            put(folder / f"{row.id}.jsonl", lines_of([row]))
        (folder / "done").touch()

    return ForeachBatch(write, read=read_lines(target.path, "*/*.jsonl"))


def lock_left_behind(target):
    """Leaves a batch to whoever holds the lock, which a driver that dies keeps."""
    path = database(target, KEYED)
    lock = target.path / "lock"

    def write(batch, batch_id):
        rows = pairs(batch.collect())
        try:
            lock.open("x").close()
        except FileExistsError:
            return
        try:
            with opened(path) as db, db:
                db.executemany(UPSERT, rows)
        finally:
            lock.unlink()

    return ForeachBatch(write, read=read_table(path))


def lock_of_the_system(target):
    """Waits for a lock that ends with the process that holds it."""
    path = database(target, KEYED)
    lock = target.path / "lock"

    def write(batch, batch_id):
        rows = pairs(batch.collect())
        with lock.open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            with opened(path) as db, db:
                db.executemany(UPSERT, rows)

    return ForeachBatch(write, read=read_table(path))


def tries_again_blindly(target):
    """Inserts again after any error, also where the first try had been committed."""
    path = database(target, TABLE, DONE)

    def write(batch, batch_id):
        rows = pairs(batch.collect())
        with opened(path) as db:
            if is_done(db, batch_id):
                return
            for last in (False, True):
                try:
                    db.executemany(INSERT, rows)
                    db.execute("INSERT OR REPLACE INTO done VALUES (?)", (batch_id,))
                    db.commit()
                    print(f"batch {batch_id} is written")
                    break
                except Exception:
                    db.rollback()
                    if last:
                        raise

    return ForeachBatch(write, read=read_table(path))


def looks_before_it_tries_again(target):
    """Looks before each try whether the batch is there."""
    path = database(target, TABLE, DONE)

    def write(batch, batch_id):
        rows = pairs(batch.collect())
        with opened(path) as db:
            for last in (False, True):
                try:
                    if is_done(db, batch_id):
                        return
                    db.executemany(INSERT, rows)
                    db.execute("INSERT INTO done VALUES (?)", (batch_id,))
                    db.commit()
                    print(f"batch {batch_id} is written")
                    break
                except Exception:
                    db.rollback()
                    if last:
                        raise

    return ForeachBatch(write, read=read_table(path))


def one_ledger_for_two_stores(target):
    """Writes to two databases, of which only the first says what is done."""
    first = database(target, KEYED, DONE)
    second = str(target.path / "second.db")
    with opened(second) as db:
        db.execute(KEYED)

    def write(batch, batch_id):
        rows = pairs(batch.collect())
        with opened(first) as db:
            if is_done(db, batch_id):
                return
            db.executemany(UPSERT, rows)
            db.execute("INSERT INTO done VALUES (?)", (batch_id,))
            db.commit()
        with opened(second) as db:
            db.executemany(UPSERT, rows)
            db.commit()

    return ForeachBatch(write, read=read_table(second))


def a_ledger_for_each_store(target):
    """Writes to two databases, each of which says what is done."""
    first = database(target, KEYED, DONE)
    second = str(target.path / "second.db")
    with opened(second) as db:
        db.execute(KEYED)
        db.execute(DONE)

    def write(batch, batch_id):
        rows = pairs(batch.collect())
        for path in (first, second):
            with opened(path) as db:
                if not is_done(db, batch_id):
                    db.executemany(UPSERT, rows)
                    db.execute("INSERT INTO done VALUES (?)", (batch_id,))
                    db.commit()

    return ForeachBatch(write, read=read_table(second))


def forgets_while_it_recovers(target):
    """Deletes its note before it has cut the file back: a second death shows it."""
    file, note = target.path / "all.jsonl", target.path / "note"
    after = target.path / "after"

    def write(batch, batch_id):
        rows = batch.collect()
        done = after.exists() and int(after.read_text()) >= batch_id
        if note.exists() and not done:
            length = int(note.read_text())
            note.unlink()
            os.truncate(file, length)
        if not done:
            file.touch()
            put(note, str(file.stat().st_size))
            with file.open("a") as out:
                out.write(lines_of(rows))
            put(after, str(batch_id))
        note.unlink(missing_ok=True)

    return ForeachBatch(write, read=read_lines(target.path))


def recovers_again(target):
    """Cuts the file back to its note as often as it must, then deletes the note."""
    file, note = target.path / "all.jsonl", target.path / "note"
    after = target.path / "after"

    def write(batch, batch_id):
        rows = batch.collect()
        done = after.exists() and int(after.read_text()) >= batch_id
        if note.exists() and not done:
            os.truncate(file, int(note.read_text()))
        if not done:
            file.touch()
            put(note, str(file.stat().st_size))
            with file.open("a") as out:
                out.write(lines_of(rows))
            put(after, str(batch_id))
        note.unlink(missing_ok=True)

    return ForeachBatch(write, read=read_lines(target.path))


TWO = {"faults": 2, "batches": 1, "choice": Choice(most=1)}
MUTANTS = (
    wrong(cuts_back_on_error, DRIVER_DIES, DRIVER_RAISES),
    right(cuts_back_on_start),
    wrong(gives_up_quietly, DRIVER_RAISES),
    right(gives_up_loudly),
    wrong(commits_in_finally, DRIVER_RAISES),
    right(commits_at_the_end),
    wrong(transaction_in_name_only, DRIVER_DIES, DRIVER_RAISES),
    right(transaction_by_hand),
    wrong(new_name_each_time, DRIVER_DIES),
    right(name_of_the_batch),
    wrong(next_number, DRIVER_DIES),
    right(number_of_the_batch),
    wrong(added_each_time, DRIVER_DIES),
    right(added_once),
    wrong(
        pointer_first,
        DRIVER_DIES,
        DRIVER_RAISES,
        claims=(EFFECTIVELY_ONCE, DURABLE),
    ),
    right(pointer_last, claims=(EFFECTIVELY_ONCE, DURABLE)),
    wrong(appended_by_pandas, DRIVER_DIES),
    right(replaced_by_pandas),
    wrong(folder_means_done, DRIVER_DIES, DRIVER_RAISES),
    right(mark_means_done),
    wrong(lock_left_behind, DRIVER_DIES, DRIVER_RAISES),
    right(lock_of_the_system),
    wrong(tries_again_blindly, DRIVER_RAISES),
    right(looks_before_it_tries_again),
    wrong(one_ledger_for_two_stores, DRIVER_DIES, DRIVER_RAISES),
    right(a_ledger_for_each_store),
    wrong(forgets_while_it_recovers, TWO_FAULTS, **TWO),
    right(recovers_again, **TWO),
)
