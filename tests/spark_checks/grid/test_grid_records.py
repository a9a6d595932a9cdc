"""What the grid leaves as evidence, and where the matrix finds it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceproof.properties.evidence.store import read_folder, write
from onceproof.properties.matrix.compositions import compositions
from onceproof.properties.matrix.judging import judge
from onceproof.properties.matrix.matrix import matrix_of
from onceproof.properties.matrix.page import page
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.grid.cell import UNREACHED, GridCell
from onceproof.spark_checks.grid.comparison import Comparison
from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault
from onceproof.spark_checks.grid.grid_records import model_of, records_of_grid
from onceproof.spark_checks.grid.grid_run import GridReport
from onceproof.spark_checks.grid.model_parts import QUERIES
from onceproof.spark_checks.queries.catalogue import named
from onceproof.spark_checks.queries.configuration import parsed
from onceproof.spark_checks.report.evidence.staleness import stale
from tests.test_house import ROOT

ROWS = tuple((("id", one),) for one in "abc")
EQUAL = Comparison(ROWS, ROWS)
LOST = Comparison(ROWS, ROWS[:2])
LAST = PlacedFault(GridFault.BEFORE_COMMITS, 2)
NO_DATA = PlacedFault(GridFault.BEFORE_OFFSETS, 3)


def cell(placed, seen, query="window-append", configuration="default", **more):
    return GridCell(named(query), parsed(configuration), placed, seen, seen, **more)


def records(*cells, left=()):
    found = records_of_grid(GridReport(cells, tuple(left), "4.1"), day="2026-01-01")
    return {one.guarantee: one for one in found}


def test_one_refuted_cell_refutes_and_is_shown():
    """The model has the fault, too: a restart runs no batch without data."""
    found = records(cell(LAST, EQUAL), cell(NO_DATA, LOST))["batch-equivalence"]

    assert found.verdict is Verdict.REFUTED
    assert found.trace is not None
    assert "before offsets/3 is written" in found.trace.steps[0]
    assert found.subject == "grid window-append default"


def test_what_is_held_was_replayed_whole_and_as_the_model_says():
    """A refusal, a drift, or a fault that is left makes it undecided."""
    whole = [cell(LAST, EQUAL)]
    refused = replace(whole[0], refusal=f"{UNREACHED}: the query goes on")
    absent = replace(whole[0], refusal="no task of batch 3 ran, so none died")

    assert records(*whole)["batch-equivalence"].verdict is Verdict.HELD
    assert records(*whole, absent)["batch-equivalence"].verdict is Verdict.HELD
    for found in (
        records(*whole, refused),
        records(*whole, cell(NO_DATA, EQUAL)),
        records(*whole, left=["window-append [default]: 3 faults"]),
    ):
        assert found["batch-equivalence"].verdict is Verdict.UNDECIDED
        assert found["batch-equivalence"].note


def test_a_fault_that_the_model_has_not_is_not_passed_over():
    """It says nothing of the model, and nothing is held beside it."""
    beyond = cell(PlacedFault(GridFault.TORN_COMMITS, 1), LOST)

    found = records(cell(LAST, EQUAL), beyond)["batch-equivalence"]

    assert not beyond.predicted
    assert found.verdict is Verdict.UNDECIDED
    assert "the model has not" in found.note


def test_a_query_that_the_model_has_not_leaves_no_record(monkeypatch):
    monkeypatch.delitem(QUERIES, "join-full")

    assert records(cell(LAST, EQUAL, query="join-full")) == {}


def test_a_query_that_is_part_of_a_function_has_the_sources_of_that():
    """Joins are one function, with the kind of join filled in."""
    found = records(cell(LAST, EQUAL, query="join-semi"))["batch-equivalence"]

    assert "spark_checks/queries/catalogue/joins.py" in found.fingerprints.sources


def test_a_record_goes_stale_with_the_file_of_its_query(tmp_path):
    found = records(cell(LAST, EQUAL))["batch-equivalence"]
    other = dict.fromkeys(found.fingerprints.sources, "0" * 64)
    changed = replace(found, fingerprints=replace(found.fingerprints, sources=other))
    write([found], tmp_path)

    assert stale(read_folder(tmp_path), ROOT) == {}
    (why,) = stale({"it": changed}, ROOT).values()
    assert "windows.py has changed" in " ".join(why.why)


@pytest.mark.ci
def test_the_matrix_has_it_beside_the_composition():
    """The one that is listed is another name of the same."""
    found = records(cell(LAST, EQUAL), cell(NO_DATA, LOST))
    model = model_of(named("window-append"), parsed("default"))
    one = next(
        c
        for c in compositions().found
        if c.engine == "micro-batch-stateful-idle" and not c.changed
    )

    made = matrix_of([(one, judge(one))], (), found.values())

    (row,) = made.rows
    assert model.label() == "micro-batch-stateful"
    assert row.spark["batch-equivalence"].verdict is Verdict.REFUTED
    assert row.spark["batch-equivalence"].sinks == ("grid window-append default",)
    assert not made.elsewhere
    assert "1 replay, of batch-equivalence" in page(made, {})
