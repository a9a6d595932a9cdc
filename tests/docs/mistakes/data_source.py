"""Mistakes in Python data sources that write a stream."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamWriter,
    WriterCommitMessage,
)

from onceproof.spark_checks.sinks.interface import Format
from tests.docs.mistakes.mistake import Mistake
from tests.docs.mistakes.table import read_lines


@dataclass
class Staged(WriterCommitMessage):
    name: str


def stage(folder, rows):
    """Write rows to a new file in a folder; give its name."""
    name = f"{uuid.uuid4()}.json"
    lines = [json.dumps(row.asDict()) for row in rows]
    Path(folder, name).write_text("\n".join(lines))
    return name


class StraightWriter(DataSourceStreamWriter):
    def __init__(self, folder):
        self.folder = folder

    def write(self, iterator):
        return Staged(stage(f"{self.folder}/published", iterator))

    def commit(self, messages, batch_id):
        pass

    def abort(self, messages, batch_id):
        for message in messages:
            if message is not None:
                Path(self.folder, "published", message.name).unlink(missing_ok=True)


class MovingWriter(DataSourceStreamWriter):
    def __init__(self, folder):
        self.folder = folder

    def write(self, iterator):
        return Staged(stage(f"{self.folder}/staged", iterator))

    def commit(self, messages, batch_id):
        for message in messages:
            staged = Path(self.folder, "staged", message.name)
            staged.rename(Path(self.folder, "published", message.name))

    def abort(self, messages, batch_id):
        for message in messages:
            if message is not None:
                Path(self.folder, "staged", message.name).unlink(missing_ok=True)


class ListingWriter(DataSourceStreamWriter):
    def __init__(self, folder):
        self.folder = folder

    def write(self, iterator):
        return Staged(stage(f"{self.folder}/staged", iterator))

    def commit(self, messages, batch_id):
        with Path(self.folder, "manifest").open("a") as manifest:
            manifest.write("".join(f"{message.name}\n" for message in messages))

    def abort(self, messages, batch_id):
        pass


class DeletingWriter(DataSourceStreamWriter):
    def __init__(self, folder):
        self.folder = folder

    def write(self, iterator):
        return Staged(stage(f"{self.folder}/staged", iterator))

    def commit(self, messages, batch_id):
        manifest = Path(self.folder, "published", f"{batch_id}.manifest")
        if not manifest.exists():
            draft = manifest.with_suffix(".draft")
            draft.write_text("\n".join(message.name for message in messages))
            draft.rename(manifest)

    def abort(self, messages, batch_id):
        for message in messages:
            if message is not None:
                Path(self.folder, "staged", message.name).unlink(missing_ok=True)


class CarefulWriter(DeletingWriter):
    def abort(self, messages, batch_id):
        kept = set(published(self.folder))
        for message in messages:
            if message is not None and message.name not in kept:
                Path(self.folder, "staged", message.name).unlink(missing_ok=True)


def published(folder):
    """List the files that the manifests name."""
    manifests = Path(folder, "published").glob("*.manifest")
    return [name for one in manifests for name in one.read_text().split()]


class Straight(DataSource):
    @classmethod
    def name(cls):
        return "straight"

    def streamWriter(self, schema, overwrite):  # noqa: N802 - Spark's name
        return StraightWriter(self.options["folder"])


class Moving(DataSource):
    @classmethod
    def name(cls):
        return "moving"

    def streamWriter(self, schema, overwrite):  # noqa: N802 - Spark's name
        return MovingWriter(self.options["folder"])


class Listing(DataSource):
    @classmethod
    def name(cls):
        return "listing"

    def streamWriter(self, schema, overwrite):  # noqa: N802 - Spark's name
        return ListingWriter(self.options["folder"])


class Deleting(DataSource):
    @classmethod
    def name(cls):
        return "deleting"

    def streamWriter(self, schema, overwrite):  # noqa: N802 - Spark's name
        return DeletingWriter(self.options["folder"])


class Careful(DataSource):
    @classmethod
    def name(cls):
        return "careful"

    def streamWriter(self, schema, overwrite):  # noqa: N802 - Spark's name
        return CarefulWriter(self.options["folder"])


def folders(target):
    for name in ("staged", "published"):
        (target.path / name).mkdir()
    return {"folder": str(target.path)}


def visible_at_once(target):
    options = folders(target)
    seen = read_lines(lambda: (target.path / "published").glob("*.json"))
    return Format(Straight, options, read=seen)


def files_moved_one_by_one(target):
    options = folders(target)
    seen = read_lines(lambda: (target.path / "published").glob("*.json"))
    return Format(Moving, options, read=seen)


def files_listed_again(target):
    options = folders(target)
    manifest = target.path / "manifest"

    def files():
        names = manifest.read_text().split() if manifest.exists() else []
        return [target.path / "staged" / name for name in names]

    return Format(Listing, options, read=read_lines(files))


def abort_deletes_published(target):
    options = folders(target)

    def files():
        found = [target.path / "staged" / name for name in published(target.path)]
        return [file for file in found if file.exists()]

    return Format(Deleting, options, read=read_lines(files))


def published_by_manifest(target):
    options = folders(target)

    def files():
        return [target.path / "staged" / name for name in published(target.path)]

    return Format(Careful, options, read=read_lines(files))


FIX = (published_by_manifest, DeletingWriter.commit, CarefulWriter)

MISTAKES = (
    Mistake(
        "Write to the readers' folder in `write`",
        wrong=(visible_at_once, StraightWriter),
        fixed=FIX,
        fix="Stage in `write`; publish in `commit` by one rename, named by batch id.",
        most=36,
    ),
    Mistake(
        "Move staged files one by one in `commit`",
        wrong=(files_moved_one_by_one, MovingWriter),
        fixed=FIX,
        fix="Publish a manifest of the files by one rename, named by batch id.",
        most=36,
    ),
    Mistake(
        "Append to a manifest in `commit` without reading it first",
        wrong=(files_listed_again, ListingWriter),
        fixed=FIX,
        fix="Look for the batch id first: a batch in the manifest is published.",
        most=36,
    ),
    Mistake(
        "Delete in `abort` what may be published",
        wrong=(abort_deletes_published, DeletingWriter),
        fixed=FIX,
        fix="Delete only what no manifest names: `commit` may raise after its work.",
        most=36,
    ),
)
