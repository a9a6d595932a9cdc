"""Real PySpark sinks are judged as their files state, and do as their models do."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.replay import events
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.report import counterexamples
from onceproof.spark_checks.sinks.reference import reference_sinks

pytestmark = pytest.mark.spark

SINKS = reference_sinks() | reference_sinks("new-checkpoint")
MARKS = {
    "foreach-batch-append": (),
    "foreach-batch-upsert": (pytest.mark.ci,),
}
ALL = [
    pytest.param(name, marks=MARKS.get(name, (pytest.mark.grid,)))
    for name in sorted(SINKS)
]
"""All sinks: the plain tests replay a quick one, `ci` another, `grid` the others."""


class Replayed(dict):
    """The reports of sinks by name; a sink is replayed when it is first asked for."""

    def __init__(self, pool):
        super().__init__()
        self._pool = pool
        self.heard = {}

    def __missing__(self, name):
        heard = self.heard[name] = []
        plan = ReplayRequest(sizes=Sizes(batches=2))
        [self[name]] = replay([SINKS[name]], heard.append, plan, pool=self._pool)
        return self[name]


@pytest.fixture(scope="module")
def reports(pool):
    return Replayed(pool)


@pytest.mark.parametrize("name", ALL)
def test_each_sink_is_judged_as_its_file_states(reports, name):
    """The wrong sinks are refuted, the right ones hold."""
    report = reports[name]

    verdicts = {n: str(v) for n, v in report.verdicts.items()}

    assert report.as_stated, verdicts


@pytest.mark.parametrize("name", ALL)
def test_no_sink_drifts_from_its_model(reports, name):
    """Spark leaves the very ledger that the model does, at every moment looked at."""
    drifting = [o for o in reports[name].outcomes if o.drift]

    shapes = [(o.failpoints, o.model, o.spark) for o in drifting]

    assert not shapes


@pytest.mark.parametrize("name", ALL)
def test_whatever_is_not_replayed_says_why(reports, name):
    """Only zombies of Spark's own file writer are out of reach, and say so."""
    missed = [o for o in reports[name].outcomes if o.spark is None]

    reasons = {o.not_replayed for o in missed}

    expected = {"no failpoint keeps a task of Spark's own file writer alive"}
    assert reasons == (expected if name.startswith("parquet") else set())


@pytest.mark.parametrize("name", ALL)
def test_every_durable_crash_state_is_struck(reports, name):
    """The replays cover each durable state that a fault can hit in the model."""
    report = reports[name]

    covered = report.covered

    assert covered == len(report.classes.durable_states)


def test_the_engine_tells_what_it_does(reports):
    """The stream of events begins, tells of each interleaving, and ends."""
    assert reports["foreach-batch-append"].outcomes
    heard = reports.heard["foreach-batch-append"]

    kinds = {type(e) for e in heard}

    assert isinstance(heard[0], events.Started)
    assert isinstance(heard[-1], events.Finished)
    assert {events.SinkBegun, events.InterleavingBegun, events.Replayed} <= kinds


def test_a_counterexample_file_can_be_read_by_people_and_by_replay(reports, tmp_path):
    """The file names the property, the failpoints, the steps and both ledgers."""
    report = reports["foreach-batch-append"]

    files = counterexamples.write_counterexamples(report, tmp_path)

    data = json.loads((tmp_path / files["at-most-once"].split("/")[-1]).read_text())
    assert data["property"] == "at-most-once"
    assert data["failpoints"]
    assert any(step["fault"] for step in data["steps"])
    worst = max(
        m["visible"] for row in data["observed"]["rows"] for m in row["outcomes"]
    )
    assert worst > 1


def test_a_verdict_of_no_runs_is_undecided(reports):
    """What was not replayed is never held."""
    report = replace(reports["foreach-batch-append"], outcomes=())

    verdicts = set(report.verdicts.values())

    assert verdicts == {Verdict.UNDECIDED}
