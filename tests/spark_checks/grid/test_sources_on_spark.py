"""Queries on each source: right ones hold, after faults too, and wrong ones do not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from onceproof.properties.guarantees import BATCH_EQUIVALENCE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.grid import grid_run
from onceproof.spark_checks.grid.cell_runs import CellRuns
from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault
from onceproof.spark_checks.grid.grid_run import run_grid
from onceproof.spark_checks.queries import events
from onceproof.spark_checks.queries.catalogue import named
from onceproof.spark_checks.queries.configuration import parsed
from onceproof.spark_checks.queries.sources import SOURCES
from onceproof.spark_checks.queries.sources.event_source import EventSource
from onceproof.spark_checks.stores.kafka.store import Kafka
from tests.spark_checks.mutants.queries import RIGHT, WRONG

pytestmark = [pytest.mark.spark, pytest.mark.ci]

MADE = sorted(set(SOURCES) - {"files"})
FAULTS = (
    PlacedFault(GridFault.BEFORE_OFFSETS, 0),
    PlacedFault(GridFault.BEFORE_COMMITS, 1),
    PlacedFault(GridFault.TASK_AFTER_STATE, 1),
)
ASYNC = "source=kafka,sink=kafka,trigger=processing-time,progress=async"
BY_NAME = {query.name: query for query in (*RIGHT, *WRONG)}


@pytest.fixture
def cells(pool):
    """Run a query on a source without a fault, and with each; return both."""

    def run(query, source):
        store = SOURCES[source].store
        if store is not None and (missing := store.missing()):
            pytest.skip("; ".join(missing))
        needs = pool.needs_of(store)
        with pool.session(attempts=2, partitions=2, needs=needs) as session:
            runs = CellRuns(
                session.fork(),
                pool.folder("grid"),
                query,
                parsed(f"source={source}"),
                store=None if store is None else pool.stores.running(store),
            )
            try:
                found = [runs.without_fault()]
                found += [runs.with_fault(placed) for placed in FAULTS]
            finally:
                runs.close()
        return found

    return run


@pytest.mark.grid
@pytest.mark.parametrize("source", MADE)
@pytest.mark.parametrize(
    "query",
    [
        "map",
        pytest.param("window-append", marks=pytest.mark.grid),
        pytest.param("join-inner", marks=pytest.mark.grid),
    ],
)
def test_a_right_query_holds_on_each_source(cells, source, query):
    """Both oracles show rows, so that nothing holds because nothing was read."""
    for cell in cells(named(query), source):
        assert not cell.refusal
        assert cell.verdict(BATCH_EQUIVALENCE) is Verdict.HELD, cell.story()
        assert cell.with_batch.expected
        if cell.with_run is not None:
            assert cell.with_run.expected


@pytest.mark.grid
@pytest.mark.parametrize("source", MADE)
@pytest.mark.parametrize(
    "query",
    ["random-receipt", pytest.param("appended-updates", marks=pytest.mark.grid)],
)
def test_a_wrong_query_is_refuted_on_each_source(cells, source, query):
    """As it is on files."""
    found = {cell.verdict(BATCH_EQUIVALENCE) for cell in cells(BY_NAME[query], source)}

    assert Verdict.REFUTED in found


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_a_batch_is_what_was_designed_as_one(pool, source):
    """What is late depends on it: each source cuts the events in the same way."""
    store = SOURCES[source].store
    if store is not None and (missing := store.missing()):
        pytest.skip("; ".join(missing))
    seen = []
    with pool.session(attempts=2, partitions=2, needs=pool.needs_of(store)) as session:
        spark = session.fork()
        folder = pool.folder("source")
        folder.mkdir()
        running = None if store is None else pool.stores.running(store)
        made = SOURCES[source].opened(folder / "input", 1, running)
        begin = 0
        for end in made.ends(0, events.FIRST):
            made.offer(begin, end)
            begin = end
            writer = made.frames(spark)[0].writeStream.trigger(availableNow=True)
            writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
            started = writer.foreachBatch(
                lambda batch, _: seen.append({row.id for row in batch.collect()})
            ).start()
            assert started.awaitTermination(60)
        made.close()

    lines = events.lines(events.BATCHES)[: events.FIRST]
    assert seen == [{json.loads(text)["id"] for text in batch} for batch in lines]


def test_a_source_that_cannot_be_had_leaves_its_cells(pool, monkeypatch):
    """The others are judged, and the answer is undecided."""
    nobody = EventSource(SOURCES["kafka"].opened, store=Kafka("127.0.0.1:9"))
    monkeypatch.setitem(grid_run.SOURCES, "kafka", nobody)

    report = run_grid([named("map")], [parsed("source=kafka")], pool=pool)

    assert report.cells == ()
    assert "map [source=kafka]: no run" in report.left[0]
    assert report.status() == 2


@pytest.fixture
def on_kafka(pool):
    """Run a query that reads from Kafka and writes there, by its configuration."""
    store = SOURCES["kafka"].store
    if missing := store.missing():
        pytest.skip("; ".join(missing))
    made = []
    with pool.session(attempts=2, partitions=2, needs=pool.needs_of(store)) as session:

        def make(query, configuration):
            runs = CellRuns(
                session.fork(),
                pool.folder("grid"),
                query,
                configuration,
                store=pool.stores.running(store),
            )
            made.append(runs)
            return runs

        yield make
        for runs in made:
            runs.close()


@pytest.mark.grid
def test_asynchronous_progress_loses_nothing(on_kafka):
    """A batch that is there and not logged is repeated, and its rows are replaced."""
    runs = on_kafka(named("map"), parsed(ASYNC))

    cells = [runs.without_fault()]
    cells += [
        runs.with_fault(PlacedFault(fault, 1))
        for fault in (GridFault.BEFORE_LOGS, GridFault.BEFORE_COMMITS)
    ]

    assert {placed.fault for placed in runs.faults()} >= {GridFault.BEFORE_LOGS}
    for cell in cells:
        assert not cell.refusal
        assert cell.verdict(BATCH_EQUIVALENCE) is Verdict.HELD, cell.story()
        assert cell.with_batch.expected


def test_progress_is_asynchronous_where_it_is_said_to_be(on_kafka):
    """Spark refuses a trigger that goes with the usual progress alone."""
    runs = on_kafka(named("map"), replace(parsed(ASYNC), trigger="available-now"))

    cell = runs.without_fault()

    assert "Async progress tracking cannot be used with AvailableNow" in cell.refusal


def test_a_wrong_query_is_refuted_in_a_topic(on_kafka):
    """Rows are replaced by their key, and the others of a repeat are seen."""
    query = replace(BY_NAME["random-receipt"], key=("id",))
    runs = on_kafka(query, parsed("source=kafka,sink=kafka"))

    assert runs.without_fault().verdict(BATCH_EQUIVALENCE) is Verdict.REFUTED
