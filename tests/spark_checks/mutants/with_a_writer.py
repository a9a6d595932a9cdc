"""Writers for foreach."""

from __future__ import annotations

import json
import uuid

from onceproof.spark_checks import Foreach
from tests.spark_checks.mutants.mutant import (
    DRIVER_DIES,
    GIVEN_UP,
    INPUT_CUT,
    TASK_DIES,
    TASK_RAISES,
    right,
    wrong,
)
from tests.spark_checks.mutants.storage import (
    KEYED,
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

PARTS = "CREATE TABLE parts (part INTEGER, epoch INTEGER, PRIMARY KEY (part, epoch))"


class Buffered:
    """Keeps the rows of a partition until it is closed."""

    def open(self, partition, epoch):
        self.place, self.rows = (partition, epoch), []
        return True

    def process(self, row):
        self.rows.append(row)


class FirstFile(Buffered):
    """Leaves the file of a partition alone that an earlier attempt had written."""

    def __init__(self, folder):
        self.folder = folder

    def close(self, error):
        file = self.folder / f"{self.place[1]}-{self.place[0]}.jsonl"
        if error is None and not file.exists():
            put(file, lines_of(self.rows))


class LastFile(Buffered):
    """Has the file of a later attempt take the place of an earlier one's."""

    def __init__(self, folder):
        self.folder = folder

    def close(self, error):
        if error is None:
            draft = self.folder / f"{uuid.uuid4()}.draft"
            draft.write_text(lines_of(self.rows))
            draft.replace(self.folder / f"{self.place[1]}-{self.place[0]}.jsonl")


def first_file_stays(target):
    return Foreach(FirstFile(target.path), read=read_lines(target.path))


def last_file_stays(target):
    return Foreach(LastFile(target.path), read=read_lines(target.path))


class MarksFirst(Buffered):
    """Notes a partition as done where it opens it, before anything is written."""

    def __init__(self, path):
        self.path = path

    def open(self, partition, epoch):
        super().open(partition, epoch)
        with opened(self.path) as db:
            found = db.execute("INSERT OR IGNORE INTO parts VALUES (?, ?)", self.place)
            db.commit()
        return found.rowcount == 1

    def close(self, error):
        with opened(self.path) as db:
            db.executemany(UPSERT, pairs(self.rows))
            db.commit()


class MarksNothing(Buffered):
    """Upserts by the key of the event, and needs no note of what is done."""

    def __init__(self, path):
        self.path = path

    def close(self, error):
        with opened(self.path) as db:
            db.executemany(UPSERT, pairs(self.rows))
            db.commit()


def partition_marked_first(target):
    path = database(target, KEYED, PARTS)
    return Foreach(MarksFirst(path), read=read_table(path))


def partition_not_marked(target):
    path = database(target, KEYED)
    return Foreach(MarksNothing(path), read=read_table(path))


def inserts_each_row(target):
    """A function of a row that inserts it."""
    path = database(target, TABLE)

    def put_row(row):
        with opened(path) as db:
            db.execute("INSERT INTO t (id, amount) VALUES (?, ?)", (row.id, row.amount))
            db.commit()

    return Foreach(put_row, read=read_table(path))


def a_file_for_each_row(target):
    """A function of a row that puts a file in place, named after the event."""

    def put_row(row):
        text = json.dumps({"id": row.id, "amount": row.amount})
        draft = target.path / f"{uuid.uuid4()}.draft"
        draft.write_text(text)
        draft.replace(target.path / f"{row.id}.jsonl")

    return Foreach(put_row, read=read_lines(target.path))


FEW = {"batches": 1, "partitions": 1}
FAILS = (TASK_DIES, TASK_RAISES)
MUTANTS = (
    wrong(first_file_stays, INPUT_CUT, **FEW),
    right(last_file_stays, **FEW),
    right(partition_not_marked, **FEW),
    wrong(partition_marked_first, DRIVER_DIES, *FAILS, INPUT_CUT, **FEW),
    right(a_file_for_each_row, **FEW),
    wrong(inserts_each_row, DRIVER_DIES, *FAILS, GIVEN_UP, **FEW),
)
