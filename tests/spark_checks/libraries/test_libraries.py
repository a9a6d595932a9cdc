"""Sinks and readers that use libraries with threads, pools and connections."""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path

import pytest

from onceproof.properties.counterexample.file import TraceStep
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.report.assessment import CLAIMED, AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest

pytestmark = pytest.mark.spark

HERE = Path(__file__).parent
ROWS = [{"id": f"e{n}", "amount": n} for n in range(4)]
DIES = Choice(steps=(TraceStep("crash_in_commit", (), True, {}),))
NEEDS = {
    "deltalake": "deltalake",
    "sqlalchemy": "sqlalchemy",
    "polars": "polars",
    "duckdb": "duckdb",
    "kafka": "confluent_kafka",
    "pyiceberg": "pyiceberg",
    "grpc": "grpc",
    "a_pool": "concurrent.futures",
}
TIMES, APART = 20, 7
MARKS = {"a_pool": (), "deltalake": (pytest.mark.grid,)}
"""Of which libraries the plain tests judge a right sink, and `ci`; `grid` judges all.
"""


@pytest.fixture
def judged(pool, tmp_path, monkeypatch):
    servers = []

    def ask(library, name, choice, **words):
        pytest.importorskip(NEEDS[library])
        database = tmp_path / "orders.db"
        monkeypatch.setenv("ORDERS_DATABASE", f"sqlite:///{database}")
        sinks = importlib.import_module(f"tests.spark_checks.libraries.with_{library}")
        if library == "grpc" and not servers:
            port, server = sinks.serve()
            servers.append(server)
            monkeypatch.setenv("ORDERS_STORE", f"127.0.0.1:{port}")
        test = RequestingTest("", ("id",), (str(tmp_path),), CLAIMED)
        words = {"events": ROWS, "batches": 1, "partitions": 1, **words}
        question = AssessmentRequest(HERE, tmp_path, test=test, choice=choice, **words)
        return judge(getattr(sinks, name), question, pool=pool)

    yield ask
    for server in servers:
        server.stop(None)


@pytest.mark.parametrize(
    "library",
    [pytest.param(name, marks=MARKS.get(name, (pytest.mark.grid,))) for name in NEEDS],
)
def test_a_right_sink_is_not_accused(judged, library):
    """Whatever the library keeps in the process that dies, or in that which reads."""
    found = judged(library, "right", DIES)

    assert found.verdict is Verdict.HELD, found.headline
    assert not found.report.missed


@pytest.mark.grid
@pytest.mark.parametrize("library", ["deltalake", "sqlalchemy"])
def test_a_wrong_sink_is_refuted(judged, library):
    """It appends, and does so again after the driver has died."""
    found = judged(library, "wrong", DIES, stop=True)

    assert found.verdict is Verdict.REFUTED
    assert not found.report.missed


@pytest.mark.ci
def test_a_pool_that_is_made_as_the_sink_is_built_is_emptied(judged):
    """Its connections are made again in each process."""
    found = judged("sqlalchemy", "right_of_its_own", DIES)

    assert found.verdict is Verdict.HELD, found.headline


@pytest.mark.grid
@pytest.mark.parametrize("library", sorted(set(NEEDS) - {"deltalake", "sqlalchemy"}))
def test_each_wrong_sink_is_refuted(judged, library):
    """The same, of all the other libraries."""
    found = judged(library, "wrong", DIES, stop=True)

    assert found.verdict is Verdict.REFUTED
    assert not found.report.missed


@pytest.mark.grid
@pytest.mark.parametrize("library", NEEDS)
def test_a_right_sink_is_never_accused(judged, library):
    """Each time at another of its points, whatever else the machine does."""
    found = []
    for time in itertools.count():
        one = Choice(nth=APART * time)
        judgement = judged(library, "right", one, batches=2, partitions=2)
        # What no failpoint realises is no try.
        if not all(o.known for o in judgement.report.outcomes):
            found.append(judgement)
        if len(found) == TIMES:
            break

    assert [str(one.verdict) for one in found] == ["held"] * TIMES
    assert not [o.not_replayed for one in found for o in one.report.missed]
