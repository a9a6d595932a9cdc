"""The model says what Spark does with a cell, and a cell that differs is drift."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.cli.output.grid_console import show_grid
from onceproof.spark_checks.grid import prediction
from onceproof.spark_checks.grid.cell import GridCell
from onceproof.spark_checks.grid.comparison import Comparison
from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault, every_fault
from onceproof.spark_checks.grid.grid_run import GridReport, run_grid
from onceproof.spark_checks.grid.model_parts import (
    IN_LAST_TASKS,
    NOT_THERE,
    OWN_QUERY,
    QUERIES,
    STEPS,
    TASK_FAULTS,
    UNPREDICTED,
)
from onceproof.spark_checks.grid.prediction import predicted
from onceproof.spark_checks.queries.catalogue import every_query, named
from onceproof.spark_checks.queries.configuration import CHOICES, parsed
from tests.test_house import ROOT

FILES_WITH_IDS = "provider=rocksdb,changelog=on,format=2,sink=files"
IDS_SKIPPED = "provider=rocksdb,changelog=on,format=2,sink=skips"
RATE = "source=rate-micro-batch"
ASYNC = "source=kafka,sink=kafka,trigger=processing-time,progress=async"
NO_DATA = PlacedFault(GridFault.BEFORE_OFFSETS, 3)
LAST = PlacedFault(GridFault.BEFORE_COMMITS, 2)
LAST_AND_MORE = PlacedFault(GridFault.BEFORE_COMMITS, 3)
EARLY = PlacedFault(GridFault.TASK_AFTER_STATE, 0)
AFTER, TASKS = GridFault.AFTER_OFFSETS, GridFault.IN_TASKS
DIES, UNLOGGED = GridFault.TASK_BEFORE_STATE, GridFault.BEFORE_LOGS
TORN = PlacedFault(GridFault.TORN_COMMITS, 1)
HELD, REFUTED, UNDECIDED = Verdict.HELD, Verdict.REFUTED, Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("query", "configuration", "placed", "equal", "recovers"),
    [
        ("window-append", "default", LAST, HELD, HELD),
        ("window-append", "default", NO_DATA, REFUTED, HELD),
        ("window-append", "source=kafka", EARLY, HELD, HELD),
        ("window-append", "default", replace(NO_DATA, fault=AFTER), HELD, HELD),
        ("window-append", "default", replace(LAST, batch=3), HELD, HELD),
        ("window-append", "sink=skips", LAST, REFUTED, HELD),
        ("window-append", "sink=skips", replace(LAST, batch=3), HELD, HELD),
        ("window-update", IDS_SKIPPED, replace(LAST, batch=3), UNDECIDED, REFUTED),
        ("window-append", FILES_WITH_IDS, LAST, UNDECIDED, REFUTED),
        ("window-append-two-writes", "default", EARLY, HELD, HELD),
        ("window-update", "default", NO_DATA, HELD, HELD),
        ("window-update", "sink=skips", LAST, HELD, HELD),
        ("window-complete", IDS_SKIPPED, LAST, UNDECIDED, REFUTED),
        ("distinct", FILES_WITH_IDS, LAST, UNDECIDED, REFUTED),
        ("distinct-by-time", "sink=files", LAST, HELD, HELD),
        ("distinct", "source=rate-micro-batch", LAST, HELD, HELD),
        ("session-append", "default", NO_DATA, REFUTED, HELD),
        ("session-append", "default", LAST, HELD, HELD),
        ("session-append", "sink=skips", LAST, REFUTED, HELD),
        ("session-append", IDS_SKIPPED, replace(LAST, batch=0), UNDECIDED, REFUTED),
        ("join-inner", "default", NO_DATA, HELD, HELD),
        ("join-semi", "sink=skips", LAST, HELD, HELD),
        ("join-semi", IDS_SKIPPED, replace(LAST, batch=3), UNDECIDED, REFUTED),
        ("join-left", "default", NO_DATA, REFUTED, HELD),
        ("join-left", "default", LAST, HELD, HELD),
        ("join-full", "sink=skips", LAST, REFUTED, HELD),
        ("join-full", IDS_SKIPPED, replace(LAST, batch=3), UNDECIDED, REFUTED),
        ("window-of-windows", "default", NO_DATA, REFUTED, HELD),
        ("window-of-windows", "default", replace(LAST, fault=TASKS), HELD, HELD),
        ("window-of-windows", "sink=skips", LAST, REFUTED, HELD),
        ("distinct-then-window", "default", NO_DATA, REFUTED, HELD),
        ("distinct-then-window", "default", replace(LAST, fault=DIES), HELD, HELD),
        ("transform-windows", IDS_SKIPPED, LAST, UNDECIDED, REFUTED),
        ("transform-totals", "default", EARLY, HELD, HELD),
        ("window-append", RATE, replace(NO_DATA, batch=1), HELD, HELD),
        ("window-append", RATE, replace(NO_DATA, batch=5), HELD, HELD),
        ("window-append", RATE, replace(LAST, batch=5), HELD, HELD),
        ("map", ASYNC, LAST, HELD, HELD),
        ("map", ASYNC, replace(LAST, fault=UNLOGGED), HELD, HELD),
        ("map", "source=kafka,sink=kafka", LAST, HELD, HELD),
        ("map", "sink=files", EARLY, HELD, HELD),
    ],
)
def test_the_model_has_a_verdict_on_each_cell(
    query, configuration, placed, equal, recovers
):
    """As found on Spark: no batch without data, and no ids of a skipped batch."""
    found = predicted(named(query), parsed(configuration), placed)

    assert dict(found.verdicts) == {"batch-equivalence": equal, "recoverable": recovers}
    assert not found.reason


@pytest.mark.parametrize(
    ("query", "configuration", "placed", "missing"),
    [
        ("window-append", "default", TORN, "torn-write-of-commits"),
        ("window-append", "default", replace(NO_DATA, fault=TASKS), IN_LAST_TASKS),
        ("window-append", "default", replace(NO_DATA, fault=DIES), IN_LAST_TASKS),
        ("window-append", "default", replace(LAST, batch=9), NOT_THERE),
        ("map", "default", LAST_AND_MORE, NOT_THERE),
        ("map", "default", replace(LAST, fault=UNLOGGED), NOT_THERE),
    ],
)
def test_the_model_says_nothing_of_what_it_does_not_have(
    query, configuration, placed, missing
):
    """A kind of fault, tasks of a batch without data, or a batch that is not there."""
    found = predicted(named(query), parsed(configuration), placed)

    assert not found.verdicts
    assert found.reason == f"{missing}: {UNPREDICTED[missing]}"


@pytest.mark.parametrize(
    ("fault", "logged", "done"),
    [
        (GridFault.BEFORE_OFFSETS, 1, 1),
        (GridFault.AFTER_OFFSETS, 2, 1),
        (GridFault.BEFORE_COMMITS, 2, 2),
        (GridFault.BEFORE_LOGS, 1, 2),
    ],
)
def test_a_driver_dies_with_its_logs_behind_as_the_fault_says(
    fault, logged, done, monkeypatch
):
    """How many batches the offset log names then, and how many are done."""
    seen = []
    crash = prediction._Run._crash

    def noted(run):
        state = run._interpreter.look(run._state)
        seen.append((state.offsets, state.at, state.visible(2, 0)))
        crash(run)

    monkeypatch.setattr(prediction._Run, "_crash", noted)
    prediction._predicted.cache_clear()

    predicted(named("map"), parsed(ASYNC), PlacedFault(fault, 1))

    assert set(seen) == {(logged, done, 0)}, "the next batch has not begun"


def test_a_query_of_yours_by_that_name_is_not_the_model_s():
    """The prediction is about the query of the catalogue."""
    other = replace(named("window-append"), run=named("session-append").run)

    assert predicted(other, parsed("default"), LAST).missing == OWN_QUERY


def test_each_query_setting_and_fault_is_predicted_or_has_a_reason():
    """No more and no less: what is declared is there."""
    engines = [one.engine for one in QUERIES.values()]
    engines += [one.later for one in engines if one.later is not None]
    settings = [one.settings for one in engines]
    known = {
        f"{s}={v}" for one in settings for s, values in one.items() for v in values
    }
    every = {f"{s}={v}" for s, values in CHOICES.items() for v in values}
    faults = {*STEPS, *TASK_FAULTS, GridFault.NONE}
    named_here = set(UNPREDICTED) - {OWN_QUERY, IN_LAST_TASKS, NOT_THERE}

    assert known <= every
    assert (every - known) | (set(every_query()) - set(QUERIES)) | {
        str(fault) for fault in set(GridFault) - faults
    } == named_here
    assert all(set(one) == set(CHOICES) for one in settings)


def test_the_page_lists_what_has_no_prediction():
    """With the reason that the program gives."""
    page = ROOT / "docs" / "explanation" / "the-model-of-spark.md"
    text = page.read_text(encoding="utf-8")

    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)

    listed = {name.replace("`", ""): reason for name, reason in rows}
    assert UNPREDICTED.items() <= listed.items()
    assert set(QUERIES) <= set(re.findall("`([^`]+)`", text))


def _cell(seen):
    shown, seen = ((("key", "a"),),), tuple((("key", key),) for key in seen)
    return GridCell(
        named("window-append"),
        parsed("default"),
        EARLY,
        with_run=Comparison(shown, seen),
        with_batch=Comparison(shown, seen),
    )


def test_a_verdict_that_the_model_does_not_share_is_drift(capsys):
    """The cell says so, and so does the report; a cell that agrees does not."""
    agrees, differs = _cell("a"), _cell("")

    report = GridReport((agrees, differs), (), "4")

    assert agrees.drift == []
    assert "batch-equivalence" in differs.drift
    assert report.to_json()["drift"] == 1
    show_grid(report)
    shown = capsys.readouterr().out
    assert "batch-equivalence is refuted on Spark, and held in the model" in shown
    assert "the model predicts 2 of them; drift in 1" in shown


def test_drift_alone_is_no_success(monkeypatch):
    """Spark held where the model refutes: the model is wrong, or the run was."""
    cell = _cell("a")
    monkeypatch.setitem(cell.__dict__, "predicted", {"recoverable": Verdict.REFUTED})

    assert GridReport((cell,), (), "4").status() == 2


@pytest.mark.spark
@pytest.mark.grid
@pytest.mark.parametrize(
    "configuration", ["default", "sink=skips", "sink=files", FILES_WITH_IDS]
)
@pytest.mark.parametrize("query", sorted(QUERIES))
def test_spark_does_what_the_model_predicts(pool, query, configuration):
    """In each cell that the model knows, and those are nearly all."""
    if parsed(configuration).refusal(named(query)):
        pytest.skip("Spark does not run it so")

    report = run_grid([named(query)], [parsed(configuration)], pool=pool)

    known = [cell for cell in report.cells if cell.predicted]
    judged = [cell for cell in report.cells if not cell.refusal]
    assert len(known) >= len(every_fault(2)) - 2
    assert all(cell.prediction.reason for cell in judged if not cell.predicted)
    assert [cell.name for cell in report.drifted] == []
