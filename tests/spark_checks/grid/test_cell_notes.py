"""A run of the grid that is killed goes on where it was, and repeats nothing."""

from __future__ import annotations

import dataclasses
import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from onceproof.spark_checks.grid import grid_run
from onceproof.spark_checks.grid.cell import GridCell
from onceproof.spark_checks.grid.cell_notes import record_in
from onceproof.spark_checks.grid.comparison import Comparison
from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault, every_fault
from onceproof.spark_checks.grid.grid_run import run_grid
from onceproof.spark_checks.queries.catalogue import named
from onceproof.spark_checks.queries.configuration import parsed
from onceproof.spark_checks.replay.conformance.trace_check import TraceCheck
from onceproof.spark_checks.replay.journal.journals import Journals

QUERIES = [named("distinct"), named("total-update")]
BATCHES = 2
ROW = (("key", "a"), ("total", "1"))


class Pool:
    """Has a session that starts no JVM."""

    no_agent = ""

    def needs_of(self, store):
        return store

    def folder(self, name):
        return name

    @contextmanager
    def session(self, **_):
        yield SimpleNamespace(fork=lambda: None, release=lambda: None, agent=None)


@pytest.fixture
def ran(monkeypatch):
    """Replace the runs of Spark; return which were made, and when one is killed."""
    made = SimpleNamespace(cells=[], most=1000)

    class Runs:
        batches = BATCHES

        def __init__(self, spark, folder, query, configuration, **_):
            self.query, self.configuration = query, configuration

        def without_fault(self):
            return self.cell(PlacedFault(GridFault.NONE))

        def faults(self, *, torn):
            return every_fault(BATCHES, torn=torn)

        def with_fault(self, placed):
            return self.cell(placed)

        def cell(self, placed):
            if len(made.cells) == made.most:
                raise KeyboardInterrupt
            made.cells.append((self.query.name, placed))
            refuted = placed.fault is GridFault.BEFORE_COMMITS
            return GridCell(
                self.query,
                self.configuration,
                placed,
                with_run=Comparison((ROW,), () if refuted else (ROW,)),
                with_batch=Comparison((ROW,), (ROW,)),
                errors=("it died",) if refuted else (),
                trace=TraceCheck(checked=True, unexplained=("why",) * refuted),
                refusal="no state" if placed.fault is GridFault.IN_TASKS else "",
                seconds=1.5,
            )

        def close(self):
            pass

    monkeypatch.setattr(grid_run, "CellRuns", Runs)
    return made


def grid(folder, *, resume, queries=QUERIES, **given):
    return run_grid(
        queries,
        [parsed("default")],
        pool=Pool(),
        journals=Journals(folder, resume=resume),
        **given,
    )


def test_a_killed_grid_goes_on_and_says_what_one_in_one_piece_says(ran, tmp_path):
    """It is killed in the faults of the second query; no cell is judged twice."""
    whole = grid(tmp_path / "whole", resume=False).to_json()
    every = list(ran.cells)
    ran.cells, ran.most = [], len(every) - 3

    with pytest.raises(KeyboardInterrupt):
        grid(tmp_path, resume=False)
    first, ran.cells, ran.most = ran.cells, [], 1000
    again = grid(tmp_path, resume=True).to_json()

    assert again == whole
    assert [cell for cell in ran.cells if cell[1].fault is not GridFault.NONE] == [
        cell for cell in every if cell not in first
    ]
    assert len(ran.cells) == 4, "three faults, and the run that they are compared with"


def test_each_cell_is_told_before_it_is_run(ran, tmp_path):
    """What the run before it has noted is not told again."""
    ran.most = 3
    with pytest.raises(KeyboardInterrupt):
        grid(tmp_path, resume=False)
    ran.most, begun_cells = 1000, []

    def begun(cell):
        begun_cells.append((cell.pair, cell.number, cell.pairs, cell.cell, cell.cells))

    cells = len(grid(tmp_path, resume=True, begun=begun).cells)

    first, second = (f"{query.name} [default]" for query in QUERIES)
    each = cells // 2
    assert begun_cells[:2] == [(first, 1, 2, 1, 0), (first, 1, 2, 4, each)]
    assert begun_cells[-1] == (second, 2, 2, each, each)
    assert len(begun_cells) == cells - 2


def test_a_grid_that_comes_to_its_end_leaves_nothing_to_go_on_with(ran, tmp_path):
    grid(tmp_path, resume=False)
    first = len(ran.cells)

    grid(tmp_path, resume=True)

    assert not list(tmp_path.rglob("*.journal"))
    assert len(ran.cells) == 2 * first


def test_a_grid_out_of_time_goes_on(ran, tmp_path):
    """What is left is left in the journal, and found there."""
    report = grid(tmp_path, resume=False, budget=0.0)

    assert report.left
    assert report.status() == 2
    assert grid(tmp_path, resume=True).left == ()


@pytest.mark.parametrize(
    "given",
    [{"torn": True}, {"agent": True}, {"queries": QUERIES[:1]}],
    ids=["torn", "agent", "queries"],
)
def test_another_grid_recalls_nothing(ran, tmp_path, given):
    ran.most = 5
    with pytest.raises(KeyboardInterrupt):
        grid(tmp_path, resume=False)
    ran.cells, ran.most = [], 1000

    report = grid(tmp_path, resume=True, **given)

    assert len(ran.cells) == len(report.cells)


def test_a_grid_that_cannot_go_on_says_why(ran, tmp_path, monkeypatch):
    ran.most = 5
    with pytest.raises(KeyboardInterrupt):
        grid(tmp_path, resume=False)
    ran.most = 1000
    monkeypatch.setenv("ONCEPROOF_OTHER", "1")
    reasons = []

    report = grid(tmp_path, resume=True, changed=reasons.append)

    assert reasons == [report.not_resumed] == ["other settings in the environment"]
    assert report.to_json()["not_resumed"] == reasons[0]


def test_a_query_of_yours_is_not_noted(ran, tmp_path):
    """Its code may have changed since."""
    own = dataclasses.replace(QUERIES[0], writes=2)
    ran.most = 5
    with pytest.raises(KeyboardInterrupt):
        grid(tmp_path, resume=False, queries=[own])
    ran.cells, ran.most = [], 1000

    reasons = []
    report = grid(tmp_path, resume=True, queries=[own], changed=reasons.append)

    assert len(ran.cells) == len(report.cells)
    assert reasons == [report.not_resumed]
    assert f"cells of {own.name} are not noted" in report.not_resumed


@pytest.mark.parametrize(
    "data", [{}, {"plan": "1", "batches": 2, "cell": {}}, {"plan": "1", "batches": "x"}]
)
def test_what_is_no_cell_is_refused(data):
    with pytest.raises(ValueError, match=r"no cell|invalid literal"):
        record_in(json.loads(json.dumps(data)))
