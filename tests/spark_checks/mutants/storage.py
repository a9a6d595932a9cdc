"""What the mutants write to: tables of SQLite and files of JSON lines."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

ROWS = "id string, amount long"
TABLE = "CREATE TABLE t (id TEXT, amount INTEGER, batch INTEGER, part INTEGER)"
KEYED = "CREATE TABLE t (id TEXT PRIMARY KEY, amount INTEGER)"
DONE = "CREATE TABLE done (batch INTEGER PRIMARY KEY)"
INSERT = "INSERT INTO t (id, amount) VALUES (?, ?)"
UPSERT = "INSERT OR REPLACE INTO t (id, amount) VALUES (?, ?)"


def database(target, *statements):
    """Make a database with tables; give its path."""
    path = str(target.path / "sink.db")
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
    return path


def opened(path):
    """Open a database, to be closed at the end of a block."""
    return closing(sqlite3.connect(path, timeout=30))


def is_done(db, batch):
    """Look for a batch in the table of those that are done."""
    return db.execute("SELECT 1 FROM done WHERE batch = ?", (batch,)).fetchone()


def pairs(rows):
    """Take the identifier and the amount of each row."""
    return [(row.id, row.amount) for row in rows]


def read_table(path, query="SELECT id, amount FROM t", schema=ROWS):
    """Make a reader of a database."""

    def read(spark):
        with opened(path) as db:
            return spark.createDataFrame(db.execute(query).fetchall(), schema)

    return read


def lines_of(rows):
    """Write rows as lines of JSON."""
    return "".join(json.dumps({"id": r.id, "amount": r.amount}) + "\n" for r in rows)


def put(file, text):
    """Put a file in place at once: readers see all of it, or what was there before."""
    draft = Path(f"{file}.draft")
    draft.write_text(text)
    draft.replace(file)


def read_lines(folder, pattern="*.jsonl"):
    """Make a reader of files of JSON lines; a line cut short counts for nothing."""

    def read(spark):
        found = []
        for file in sorted(Path(folder).glob(pattern)):
            for line in file.read_text().splitlines():
                if line.endswith("}"):
                    row = json.loads(line)
                    found.append((row["id"], row["amount"]))
        return spark.createDataFrame(found, ROWS)

    return read
