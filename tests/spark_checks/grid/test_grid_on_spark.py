"""The grid on real Spark: what holds, what is refuted, and what a restart heals."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from onceproof.properties.guarantees import BATCH_EQUIVALENCE, RECOVERABLE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.cli.output.grid_console import show_grid
from onceproof.spark_checks.grid.cell_runs import CellRuns
from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault
from onceproof.spark_checks.grid.grid_query import GridQuery
from onceproof.spark_checks.grid.grid_run import run_grid
from onceproof.spark_checks.queries.catalogue import every_query, named
from onceproof.spark_checks.queries.configuration import CONFIGURATIONS, parsed
from onceproof.spark_checks.queries.sources import SOURCES

pytestmark = pytest.mark.spark


@pytest.fixture
def runs_of(pool):
    """Run queries in the warm session of the tests."""
    made = []
    with pool.session(attempts=2, partitions=2) as session:

        def make(query, configuration):
            one = CellRuns(
                session.fork(), pool.folder("grid"), named(query), parsed(configuration)
            )
            made.append(one)
            return one

        yield make
        for one in made:
            one.close()


@pytest.mark.ci
def test_a_batch_that_dies_in_its_tasks_counts_once(runs_of):
    """The stream equals the batch run, without a fault and after it."""
    runs = runs_of("total-update", "default")

    plain = runs.without_fault()
    hit = runs.with_fault(PlacedFault(GridFault.IN_TASKS, 1))

    assert plain.verdict(BATCH_EQUIVALENCE) is Verdict.HELD, plain.story()
    assert hit.verdict(BATCH_EQUIVALENCE) is Verdict.HELD, hit.story()
    assert hit.verdict(RECOVERABLE) is Verdict.HELD


@pytest.mark.ci
def test_a_skipped_batch_has_no_state_to_go_on_from(runs_of):
    """With checkpoint format 2 no restart brings such a query back."""
    runs = runs_of("window-append", "provider=rocksdb,changelog=on,format=2,sink=files")

    plain = runs.without_fault()
    hit = runs.with_fault(PlacedFault(GridFault.BEFORE_COMMITS, 2))

    assert not plain.refuted, plain.story()
    assert hit.verdict(RECOVERABLE) is Verdict.REFUTED
    assert not hit.rested
    assert any("no restart brings the query back" in line for line in hit.story())


@pytest.mark.ci
def test_rows_that_a_crash_holds_back_come_with_further_input(runs_of):
    """A restart does not run the batch without data that would have shown them."""
    runs = runs_of("window-append", "default")

    runs.without_fault()
    hit = runs.with_fault(PlacedFault(GridFault.BEFORE_OFFSETS, 3))

    assert hit.verdict(BATCH_EQUIVALENCE) is Verdict.REFUTED
    assert hit.with_batch.equal
    assert "further input makes up for it" in hit.story()


def test_a_fault_in_a_batch_that_is_not_there_is_not_judged(runs_of):
    """It is undecided, and not held."""
    runs = runs_of("total-update", "default")
    runs.without_fault()

    cell = runs.with_fault(PlacedFault(GridFault.BEFORE_COMMITS, 99))

    assert cell.refusal
    assert set(cell.verdicts.values()) == {Verdict.UNDECIDED}


@pytest.mark.ci
def test_what_a_worker_remembers_ends_with_the_driver(pool):
    """Each run has Python workers of its own; batches of one run may share one."""

    def process(batches):
        for batch in batches:
            yield batch.assign(process=os.getpid())[["id", "process"]]

    def run(events):
        return events.select("id").mapInPandas(process, "id long, process long")

    query = replace(named("map"), name="processes", run=run)
    with pool.session(attempts=2, partitions=2) as session:
        folder = pool.folder("grid") / "run"
        folder.mkdir(parents=True)
        runs = GridQuery(session.fork(), folder, query, parsed("default"))
        errors = []
        for begin, end in ((0, 2), (2, 4)):
            runs.input.offer(begin, end)
            errors.append(runs.once(60.0))
        rows = [dict(row) for row in runs.seen()]
        runs.close()

    assert errors == ["", ""]
    before = {row["process"] for row in rows if int(row["id"]) < 200}
    after = {row["process"] for row in rows if int(row["id"]) >= 200}
    assert before
    assert after
    assert not before & after


@pytest.mark.ci
def test_faults_are_left_out_where_the_query_is_wrong_without_one(pool):
    """Each of them would be refuted, and say nothing."""
    wrong = replace(named("map"), name="wrong", batch=lambda events: events.limit(0))

    report = run_grid([wrong], [parsed("default")], pool=pool)

    (cell,) = report.cells
    assert cell.refuted
    assert "this is so without a fault: none was injected" in cell.story()


def test_a_key_that_the_result_has_not_is_said(pool):
    query = replace(named("map"), name="keyless", key=("nokey",))

    report = run_grid([query], [parsed("default")], pool=pool)

    (cell,) = report.cells
    assert "the result has no column 'nokey', its key; it has id, key" in cell.refusal


def test_a_query_that_fails_without_a_fault_is_not_judged(pool, capsys):
    """It is undecided whether a restart would bring it back, and its error is shown."""

    def fail(batch):
        message = "this never works"
        raise ValueError(message)

    def run(events):
        return events.mapInPandas(fail, events.schema)

    query = replace(named("map"), name="broken", run=run)

    report = run_grid([query], [parsed("default")], pool=pool)

    (cell,) = report.cells
    assert set(cell.verdicts.values()) == {Verdict.UNDECIDED}
    assert "ValueError: this never works" in cell.refusal
    assert report.status() == 2, "undecided"
    show_grid(report)
    shown = capsys.readouterr().out
    assert "broken [default]: undecided, of 0 cells" in shown
    assert "this never works" in shown


@pytest.mark.grid
@pytest.mark.parametrize(
    "configuration",
    [c.name for c in CONFIGURATIONS if SOURCES[c.source].store is None],
)
@pytest.mark.parametrize("query", sorted(every_query()))
def test_without_a_fault_each_query_equals_its_batch_run(runs_of, query, configuration):
    """In each configuration that Spark has for it.

    Those with a store need a session of their own: ``test_sources_on_spark.py``.
    """
    if parsed(configuration).refusal(named(query)):
        pytest.skip("Spark does not run it so")

    cell = runs_of(query, configuration).without_fault()

    assert not cell.refusal
    assert not cell.refuted, cell.story()


@pytest.mark.ci
def test_a_failure_is_said_by_its_last_cause(runs_of):
    """What Spark says first is that it waited for something that failed."""
    pytest.importorskip("pyspark", minversion="4.1")
    runs = runs_of("window-append", "sink=skips")
    runs.without_fault()

    found = " ".join(runs.with_fault(PlacedFault(GridFault.BEFORE_COMMITS, 0)).story())

    assert "STATE_STORE_COMMIT_VALIDATION_FAILED: " in found
    assert "failed for batch 0" in found
