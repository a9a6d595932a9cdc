"""Python data sources that write a stream."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamWriter,
    WriterCommitMessage,
)

from onceproof.spark_checks import Format
from tests.spark_checks.mutants.mutant import (
    DIES_IN_ABORT,
    DRIVER_DIES,
    DRIVER_RAISES,
    GIVEN_UP,
    TASK_DIES,
    TASK_RAISES,
    right,
    wrong,
)
from tests.spark_checks.mutants.storage import (
    TABLE,
    database,
    lines_of,
    opened,
    pairs,
    put,
    read_lines,
    read_table,
)

BATCH = "streaming.sql.batchId"


@dataclass
class Staged(WriterCommitMessage):
    """Names the file that a task has staged."""

    name: str


class Writer(DataSourceStreamWriter):
    """Stages a file in each task; a manifest for each batch names what is published."""

    def __init__(self, options):
        self.folder = Path(options["folder"])
        self.path = options.get("path", "")

    def write(self, iterator):
        name = f"{uuid.uuid4()}.part"
        (self.folder / name).write_text(lines_of(list(iterator)))
        return Staged(name)

    def commit(self, messages, batchId):  # noqa: N803 - Spark's name
        self.publish(f"{batchId}.manifest", messages)

    def publish(self, name, messages):
        put(self.folder / name, json.dumps([m.name for m in messages]))

    def abort(self, messages, batchId):  # noqa: N803 - Spark's name
        pass


def read_manifests(folder):
    """Make a reader of the files that the manifests name, as far as they are there."""

    def read(spark):
        names = []
        for manifest in sorted(folder.glob("*.manifest")):
            text = manifest.read_text()
            names += json.loads(text) if text.endswith("]") else []
        found = [(folder / name).read_text() for name in names]
        rows = [json.loads(line) for text in found for line in text.splitlines()]
        frame = [(row["id"], row["amount"]) for row in rows]
        return spark.createDataFrame(frame, "id string, amount long")

    return read


def format_of(writer, label):
    """Make a data source of a writer."""

    class Source(DataSource):
        @classmethod
        def name(cls):
            return label

        def streamWriter(self, schema, overwrite):  # noqa: N802 - Spark's name
            return writer(self.options)

    return Source


def with_manifests(target, writer):
    """Put a writer of manifests under test."""
    source = format_of(writer, writer.__name__.lower())
    return Format(source, {"folder": str(target.path)}, read_manifests(target.path))


class Sound(Writer):
    pass


class NamedAnew(Writer):
    def commit(self, messages, batchId):  # noqa: N803 - Spark's name
        self.publish(f"{uuid.uuid4()}.manifest", messages)


class Remembers(Writer):
    """Knows from the memory of the process that commits what it has published."""

    published: ClassVar[set[tuple[str, int]]] = set()

    def commit(self, messages, batchId):  # noqa: N803 - Spark's name
        here = (str(self.folder), batchId)
        if here not in self.published:
            self.publish(f"{uuid.uuid4()}.manifest", messages)
            self.published.add(here)


class Withdraws(Writer):
    def commit(self, messages, batchId):  # noqa: N803 - Spark's name
        self.publish(f"{batchId}.manifest", messages)
        print(f"batch {batchId} is published")

    def abort(self, messages, batchId):  # noqa: N803 - Spark's name
        last = self.folder / f"{batchId - 1}.manifest"
        last.unlink(missing_ok=True)


class WithdrawsItsOwn(Writer):
    def commit(self, messages, batchId):  # noqa: N803 - Spark's name
        self.publish(f"{batchId}.manifest", messages)
        print(f"batch {batchId} is published")

    def abort(self, messages, batchId):  # noqa: N803 - Spark's name
        (self.folder / f"{batchId}.manifest").unlink(missing_ok=True)


class OneManifest(Writer):
    """Keeps one manifest for all batches, and rewrites it as a whole."""

    def held(self):
        file = self.folder / "all.index"
        return json.loads(file.read_text()) if file.exists() else {}

    def commit(self, messages, batchId):  # noqa: N803 - Spark's name
        held = self.held() | {str(batchId): [m.name for m in messages]}
        put(self.folder / "all.index", json.dumps(held))


class RewritesInPlace(OneManifest):
    def abort(self, messages, batchId):  # noqa: N803 - Spark's name
        held = self.held()
        held.pop(str(batchId), None)
        file = self.folder / "all.index"
        file.unlink(missing_ok=True)
        file.write_text(json.dumps(held))


class RewritesAtOnce(OneManifest):
    def abort(self, messages, batchId):  # noqa: N803 - Spark's name
        held = self.held()
        held.pop(str(batchId), None)
        put(self.folder / "all.index", json.dumps(held))


def read_index(folder):
    """Make a reader of the one manifest."""

    def read(spark):
        file = folder / "all.index"
        held = json.loads(file.read_text()) if file.exists() else {}
        names = [name for batch in held.values() for name in batch]
        texts = [(folder / name).read_text() for name in names]
        rows = [json.loads(line) for text in texts for line in text.splitlines()]
        frame = [(row["id"], row["amount"]) for row in rows]
        return spark.createDataFrame(frame, "id string, amount long")

    return read


class Inserts(Writer):
    """Writes to the table in its tasks, and publishes nothing in ``commit``."""

    def write(self, iterator):
        context = TaskContext.get()
        place = (int(context.getLocalProperty(BATCH)), context.partitionId())
        found = [(*pair, *place) for pair in pairs(iterator)]
        with opened(self.path) as db:
            self.clear(db, place)
            db.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", found)
            db.commit()
        return Staged("")

    def clear(self, db, place):
        pass

    def commit(self, messages, batchId):  # noqa: N803 - Spark's name
        pass


class Replaces(Inserts):
    def clear(self, db, place):
        db.execute("DELETE FROM t WHERE batch = ? AND part = ?", place)


def in_a_table(target, writer):
    """Put a writer to a table under test."""
    path = database(target, TABLE)
    options = {"folder": str(target.path), "path": path}
    return Format(format_of(writer, writer.__name__.lower()), options, read_table(path))


def manifest_of_the_batch(target):
    return with_manifests(target, Sound)


def manifest_named_anew(target):
    return with_manifests(target, NamedAnew)


def commits_are_remembered(target):
    """Publishes a batch again if the process that knows of it has ended."""
    return with_manifests(target, Remembers)


def abort_withdraws_another(target):
    return with_manifests(target, Withdraws)


def abort_withdraws_its_own(target):
    return with_manifests(target, WithdrawsItsOwn)


def abort_rewrites_in_place(target):
    source = format_of(RewritesInPlace, "in_place")
    return Format(source, {"folder": str(target.path)}, read_index(target.path))


def abort_rewrites_at_once(target):
    source = format_of(RewritesAtOnce, "at_once")
    return Format(source, {"folder": str(target.path)}, read_index(target.path))


def tasks_insert(target):
    return in_a_table(target, Inserts)


def tasks_replace(target):
    return in_a_table(target, Replaces)


def staged_files_are_listed(target):
    """Has readers list the folder, where files of attempts that failed lie too."""
    source = format_of(Sound, "listed")
    options = {"folder": str(target.path)}
    return Format(source, options, read_lines(target.path, "*.part"))


FEW = {"batches": 2, "partitions": 1}
FAILS = (TASK_DIES, TASK_RAISES)
MUTANTS = (
    right(manifest_of_the_batch, **FEW),
    wrong(manifest_named_anew, DRIVER_DIES, DRIVER_RAISES, **FEW),
    wrong(commits_are_remembered, DRIVER_DIES, DRIVER_RAISES, **FEW),
    wrong(abort_withdraws_another, DRIVER_RAISES, **FEW),
    right(abort_withdraws_its_own, **FEW),
    wrong(abort_rewrites_in_place, DIES_IN_ABORT, **FEW),
    right(abort_rewrites_at_once, **FEW),
    wrong(tasks_insert, DRIVER_DIES, DRIVER_RAISES, *FAILS, GIVEN_UP, **FEW),
    right(tasks_replace, **FEW),
    wrong(
        staged_files_are_listed,
        DRIVER_DIES,
        DRIVER_RAISES,
        TASK_DIES,
        GIVEN_UP,
        **FEW,
    ),
)
