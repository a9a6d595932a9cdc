"""Each stage of a replay makes one record, once, and changes none afterwards."""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from pathlib import Path

import pytest

from onceproof.model.interleavings.interleaving import Interleaving
from onceproof.spark_checks.inputs.user_events import own_events
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.plan.run_plan import InterleavingPlan, RunPlan
from onceproof.spark_checks.plan.schedule import Schedule
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.observations import Observations
from onceproof.spark_checks.replay.outcome import Outcome
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.replay.run_evidence import RunEvidence, RunRecord
from onceproof.spark_checks.replay.sink_report import SinkReport
from onceproof.spark_checks.report.assessment import Assessment
from onceproof.spark_checks.sinks.user_sink import own_sink
from tests.spark_checks import own_sinks
from tests.spark_checks.steering import SMALL

SCHEMA = "id string, amount long"
STAGES = (
    Interleaving,
    InterleavingPlan,
    RunPlan,
    RunRecord,
    Observations,
    RunEvidence,
    Outcome,
    SinkReport,
    Assessment,
)
"""The records that an interleaving becomes, in order."""


@pytest.mark.parametrize("stage", STAGES)
def test_the_record_of_a_stage_is_frozen(stage):
    """Its lists are tuples, too."""
    lists = [f.name for f in dataclasses.fields(stage) if "list[" in str(f.type)]

    assert stage.__dataclass_params__.frozen
    assert not lists


@pytest.fixture
def made(monkeypatch):
    """Count, by stage and interleaving, how often a record is made, whoever makes it.

    A field that is replaced makes another record, and is counted, too.
    """
    counts = {}

    def counted(kind, number_of):
        plain, count = kind.__init__, counts.setdefault(kind, Counter())

        @functools.wraps(plain)
        def counting(self, *rest, **named):
            plain(self, *rest, **named)
            count[number_of(self, *rest)] += 1

        monkeypatch.setattr(kind, "__init__", counting)

    counted(Schedule, lambda _, one, *rest: one.number)
    counted(InterleavingPlan, lambda made, *_: made.interleaving.number)
    counted(RunEvidence, lambda made, *_: made.plan.interleaving.number)
    counted(Outcome, lambda made, *_: made.interleaving.number)
    counted(SinkReport, lambda made, *_: made.sink.name)
    return counts


@pytest.mark.spark
def test_each_stage_of_a_replay_makes_one_record(pool, made):
    """Also where interleavings are thinned, which reads the plans of all of them."""
    sink = own_sink(own_sinks.remembers, Path(own_sinks.__file__).parent)
    events = own_events(SCHEMA, (), SMALL)
    request = ReplayRequest(sizes=SMALL, choice=Choice(most=4), given=events)

    [report] = replay([sink], lambda _: None, request, pool=pool)

    numbers = {one.number for one in report.classes.classes}
    runs = Counter(o.interleaving.number for o in report.outcomes)
    for number, again in report.again.items():
        runs[number] += len(again)
    assert len(report.outcomes) < len(numbers)
    assert report.again
    assert made[Schedule] == dict.fromkeys(numbers, 1)
    assert made[InterleavingPlan] == dict.fromkeys(numbers, 1)
    assert made[Outcome] == runs
    assert made[RunEvidence] == runs
    assert made[SinkReport] == {sink.name: 1}
