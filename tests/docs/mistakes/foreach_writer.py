"""Mistakes in ForeachWriters."""

from __future__ import annotations

import json
import uuid

from onceproof.spark_checks.sinks.interface import Foreach
from tests.docs.mistakes.mistake import Mistake
from tests.docs.mistakes.table import (
    KEYED,
    TABLE,
    create,
    open_by_row,
    open_table,
    read_lines,
    read_table,
)


def insert_in_process(target):
    database = create(target, TABLE)

    class Writer:
        def process(self, row):
            with open_by_row(database) as db:
                db.execute("INSERT INTO orders VALUES (?, ?, ?)", row)

    return Foreach(Writer(), read=read_table(database))


def upsert_in_process(target):
    database = create(target, KEYED)

    class Writer:
        def process(self, row):
            with open_by_row(database) as db:
                db.execute("INSERT OR REPLACE INTO orders VALUES (?, ?, ?)", row)

    return Foreach(Writer(), read=read_table(database))


def insert_in_close(target):
    database = create(target, TABLE)

    class Writer:
        def open(self, partition_id, epoch_id):
            self.rows = []
            return True

        def process(self, row):
            self.rows.append(row)

        def close(self, error):
            if error is None:
                with open_by_row(database) as db:
                    db.executemany("INSERT INTO orders VALUES (?, ?, ?)", self.rows)

    return Foreach(Writer(), read=read_table(database))


def upsert_in_close(target):
    database = create(target, KEYED)

    class Writer:
        def open(self, partition_id, epoch_id):
            self.rows = []
            return True

        def process(self, row):
            self.rows.append(row)

        def close(self, error):
            if error is None:
                upsert = "INSERT OR REPLACE INTO orders VALUES (?, ?, ?)"
                with open_by_row(database) as db:
                    db.executemany(upsert, self.rows)

    return Foreach(Writer(), read=read_table(database))


def file_by_partition(target):
    folder = target.path

    class Writer:
        def open(self, partition_id, epoch_id):
            self.file = (folder / f"{partition_id}.json").open("a")
            return True

        def process(self, row):
            self.file.write(json.dumps(row.asDict()) + "\n")

        def close(self, error):
            self.file.close()

    return Foreach(Writer(), read=read_lines(lambda: folder.glob("*.json")))


def file_by_uuid(target):
    folder = target.path

    class Writer:
        def open(self, partition_id, epoch_id):
            self.lines = []
            return True

        def process(self, row):
            self.lines.append(json.dumps(row.asDict()))

        def close(self, error):
            if error is None:
                draft = folder / f"{uuid.uuid4()}.draft"
                draft.write_text("\n".join(self.lines))
                draft.rename(draft.with_suffix(".json"))

    return Foreach(Writer(), read=read_lines(lambda: folder.glob("*.json")))


def file_by_key(target):
    folder = target.path

    class Writer:
        def process(self, row):
            draft = folder / f"{row.order_id}.draft"
            draft.write_text(json.dumps(row.asDict()))
            draft.replace(draft.with_suffix(".json"))

    return Foreach(Writer(), read=read_lines(lambda: folder.glob("*.json")))


PARTS = (
    "CREATE TABLE parts (partition_id, epoch_id, PRIMARY KEY (partition_id, epoch_id))"
)


def close_whatever_happened(target):
    database = create(target, TABLE, PARTS)

    class Writer:
        def open(self, partition_id, epoch_id):
            self.part, self.rows = (partition_id, epoch_id), []
            with open_table(database) as db:
                known = "SELECT 1 FROM parts WHERE partition_id = ? AND epoch_id = ?"
                return db.execute(known, self.part).fetchone() is None

        def process(self, row):
            self.rows.append(row)

        def close(self, error):
            if self.rows:
                with open_table(database) as db, db:
                    db.executemany("INSERT INTO orders VALUES (?, ?, ?)", self.rows)
                    db.execute("INSERT INTO parts VALUES (?, ?)", self.part)

    return Foreach(Writer(), read=read_table(database))


MISTAKES = (
    Mistake(
        "Insert each row in `process`",
        wrong=(insert_in_process,),
        fixed=(upsert_in_process,),
        fix="Upsert by a key of the event.",
        most=36,
    ),
    Mistake(
        "Insert all rows in `close`",
        wrong=(insert_in_close,),
        fixed=(upsert_in_close,),
        fix="Upsert by a key of the event.",
        most=36,
    ),
    Mistake(
        "Append to a file named after the partition",
        wrong=(file_by_partition,),
        fixed=(file_by_key,),
        fix="Name files after the event, and replace a file that exists.",
        most=36,
    ),
    Mistake(
        "Write a file of a new name in each task",
        wrong=(file_by_uuid,),
        fixed=(file_by_key,),
        fix="Name files after the event, and replace a file that exists.",
        most=36,
    ),
    Mistake(
        "Record (partition, epoch) as done in `close`, even after an error",
        wrong=(close_whatever_happened,),
        fixed=(upsert_in_close,),
        fix="Upsert by a key of the event, and write nothing after an error.",
        most=240,
    ),
)
