"""Edits of a file sink's folder reach all of its files, whatever its layout."""

from __future__ import annotations

import json
import uuid

import pytest

from onceproof.spark_checks.inject.checkpoint_edits import (
    MANIFEST,
    add_unnamed_file,
    empty,
    undo_file_commit,
)

PLAIN, PARTITIONED = ("",), ("name=a", "name=b%20c/day=1")


def files_of(table):
    return {f for f in table.rglob("part-*") if f.is_file()}


@pytest.fixture(params=[PLAIN, PARTITIONED], ids=["plain", "partitioned"])
def table(request, tmp_path):
    """Lay the files of two tasks in each folder, and a manifest that names them."""
    table, lines = tmp_path / "table", ["v1"]
    for folder in request.param:
        for task in (0, 1):
            file = table / folder / f"part-{task:05}-{uuid.uuid4()}.c000.parquet"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("rows")
            lines.append(json.dumps({"path": file.as_uri()}))
    (table / MANIFEST).mkdir()
    (table / MANIFEST / "0").write_text("\n".join(lines))
    (tmp_path / "commits").mkdir()
    (tmp_path / "commits" / "0").touch()
    return table


def test_a_file_that_no_manifest_names_is_laid_beside_another(table):
    """Readers that list the folder see its rows, in whichever partition they are."""
    before = files_of(table)

    assert add_unnamed_file(table)

    [laid] = files_of(table) - before
    assert laid.read_text() == "rows"
    assert laid.parent in {file.parent for file in before}
    assert laid.name not in (table / MANIFEST / "0").read_text()


def test_a_table_without_rows_has_nothing_to_lay(tmp_path):
    """A manifest is no data."""
    (tmp_path / MANIFEST).mkdir()
    (tmp_path / MANIFEST / "part-0").touch()

    assert not add_unnamed_file(tmp_path)


def test_files_of_tasks_that_had_not_written_are_gone(table):
    """In every folder; the others stay, and no manifest names them."""
    tasks = {file.name.split("-")[1] for file in files_of(table)}

    undo_file_commit(table, table.parent, 0, {1})

    assert tasks == {"00000", "00001"}
    assert {file.name.split("-")[1] for file in files_of(table)} == {"00001"}
    assert not (table / MANIFEST / "0").exists()
    assert not (table.parent / "commits" / "0").exists()


def test_an_emptied_checkpoint_holds_nothing_of_the_query(tmp_path):
    """Neither its id nor its logs; and one that was never begun is empty anyway."""
    checkpoint = tmp_path / "checkpoint"
    (checkpoint / "commits").mkdir(parents=True)
    (checkpoint / "commits" / "0").touch()
    (checkpoint / "metadata").touch()

    empty(checkpoint)
    empty(tmp_path / "never")

    assert not list(tmp_path.rglob("*"))
