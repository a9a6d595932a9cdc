"""A checkpoint is taken back to just what a crash would have left."""

from __future__ import annotations

import os
import shutil

import pytest

from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault
from onceproof.spark_checks.grid.rewind import rewind


@pytest.fixture
def run(tmp_path):
    """Make the checkpoint and the result of a query that has run three batches."""
    names = [f"{log}/{n}" for log in ("offsets", "commits") for n in range(3)]
    for partition in range(2):
        folder = f"state/0/{partition}"
        names += [f"{folder}/{n}.delta" for n in (1, 2, 3)]
        names += [f"{folder}/{n}_0a-b1.changelog" for n in (1, 2, 3)]
    for name in names:
        path = tmp_path / "checkpoint" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        (path.parent / f".{path.name}.crc").touch()
    result = tmp_path / "result"
    result.mkdir()
    for number in range(3):
        (result / f"{number}.json").touch()
    return tmp_path


def _left(run):
    checkpoint = run / "checkpoint"
    state = [
        max(int(p.name[0]) for p in (checkpoint / "state/0" / n).glob("[0-9]*"))
        for n in ("0", "1")
    ]
    logs = [
        max((int(p.name) for p in (checkpoint / log).glob("[0-9]*")), default=-1)
        for log in ("offsets", "commits")
    ]
    results = max((int(p.stem) for p in (run / "result").iterdir()), default=-1)
    return (*logs, *state, results)


@pytest.mark.parametrize(
    ("fault", "left"),
    [
        (GridFault.BEFORE_OFFSETS, (0, 0, 1, 1, 0)),
        (GridFault.AFTER_OFFSETS, (1, 0, 1, 1, 0)),
        (GridFault.IN_TASKS, (1, 0, 2, 1, 0)),
        (GridFault.BEFORE_COMMITS, (1, 0, 2, 2, 1)),
        (GridFault.BEFORE_LOGS, (0, 0, 2, 2, 1)),
        (GridFault.TORN_COMMITS, (1, 1, 2, 2, 1)),
    ],
)
def test_each_crash_leaves_what_was_durable(run, fault, left):
    """Offsets, commits, the state of both partitions, results: up to the crash."""
    refusal = rewind(run / "checkpoint", run / "result", PlacedFault(fault, 1))

    assert refusal == ""
    assert _left(run) == left
    orphans = [p for p in run.rglob(".*.crc") if not (p.parent / p.name[1:-4]).exists()]
    assert not orphans


def test_of_two_operators_in_a_row_the_first_one_has_a_task_that_committed(run):
    """The tasks of the second one start when all of the first have ended."""
    state = run / "checkpoint" / "state"
    shutil.copytree(state / "0", state / "1")
    for path in (state / "1").rglob("*"):
        os.utime(path, (1, 1))

    placed = PlacedFault(GridFault.IN_TASKS, 1)
    refusal = rewind(run / "checkpoint", run / "result", placed)

    assert refusal == ""
    assert {
        (of, n): max(int(p.name[0]) for p in (state / of / n).glob("[0-9]*"))
        for of in "01"
        for n in "01"
    } == {("0", "0"): 1, ("0", "1"): 1, ("1", "0"): 2, ("1", "1"): 1}


def test_a_query_without_state_has_no_crash_in_its_tasks(run):
    """Nothing durable tells such a crash from one before."""
    for path in (run / "checkpoint" / "state").rglob("*"):
        if path.is_file():
            path.unlink()

    placed = PlacedFault(GridFault.IN_TASKS, 1)

    assert rewind(run / "checkpoint", run / "result", placed)


def test_a_batch_that_is_not_there_is_refused(run):
    """No fault can be injected into it."""
    placed = PlacedFault(GridFault.BEFORE_COMMITS, 3)

    assert "no batch 3" in rewind(run / "checkpoint", run / "result", placed)


def test_before_the_first_batch_there_is_no_state_at_all(run):
    """Spark refuses to begin with a folder of state, which no crash leaves there."""
    placed = PlacedFault(GridFault.BEFORE_OFFSETS, 0)

    assert rewind(run / "checkpoint", run / "result", placed) == ""

    assert not (run / "checkpoint" / "state").exists()


@pytest.mark.parametrize(
    ("fault", "batch", "refused"),
    [
        (GridFault.BEFORE_COMMITS, 2, False),
        (GridFault.BEFORE_OFFSETS, 2, True),
        (GridFault.BEFORE_COMMITS, 1, True),
    ],
)
def test_what_a_later_batch_has_purged_is_not_made_up(run, fault, batch, refused):
    """A crash would have found what is gone, so nothing is judged without it."""
    placed = PlacedFault(fault, batch)

    refusal = rewind(run / "checkpoint", run / "result", placed, retain=1)

    assert ("purged" in refusal) == refused
