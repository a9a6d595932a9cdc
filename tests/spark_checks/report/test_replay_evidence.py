"""What a test's replays leave: records of their own, and a command that makes them."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import Postgres, Unreliable
from onceproof.spark_checks.inputs.flights import flights_input
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.pytest_plugin import replayer
from onceproof.spark_checks.replay.sink_report import SinkReport
from onceproof.spark_checks.report.evidence.records import records_of_replay
from tests.spark_checks.steering import SINKS, SMALL


@pytest.fixture(scope="module")
def report():
    """Give the report of a replay in which nothing was run."""
    sink = replace(SINKS["foreach-batch-append"], code=("sinks/orders.py",))
    protocol = protocol_of(sink, SMALL)
    classes, model = interleavings(protocol), check(protocol)
    return SinkReport(sink, protocol, classes, model, flights_input(SMALL))


def test_each_replay_of_a_test_has_an_id_of_its_own(report, tmp_path):
    """The first bears no number, so that one alone is named as ever."""
    found = {"root": tmp_path, "test": "test_it"}

    one, two, same = (
        records_of_replay(report, nth=nth, **found)[0] for nth in (1, 2, 2)
    )

    assert "replay of the test" not in one.scope
    assert two.scope["replay of the test"] == 2
    assert len({one.id, two.id}) == 2
    assert same.id == two.id


@pytest.mark.parametrize(
    ("store", "named"),
    [
        (None, None),
        (Postgres(), "postgres"),
        (Unreliable(Postgres()), "postgres, whose connections break"),
    ],
)
def test_a_record_names_the_store_that_was_written_to(report, tmp_path, store, named):
    """What holds on one store is no evidence for another one."""
    on_store = replace(report, sink=replace(report.sink, store=store))

    [record, *_] = records_of_replay(on_store, root=tmp_path)

    assert record.scope.get("store") == named


def test_the_command_that_makes_a_record_again_looks_at_as_much(report, tmp_path):
    """It names the profile, and what was asked for besides."""
    words = "--onceproof-profile=ci --onceproof-faults=2"

    [record, *_] = records_of_replay(
        report, root=tmp_path, test="test_it", options=words, into=tmp_path / "kept"
    )

    assert record.command == f"pytest test_it {words} --onceproof-evidence=kept"


@pytest.fixture
def left(monkeypatch, tmp_path):
    """Give a replayer, and what it leaves: the name of a sink and its number."""
    found = []
    monkeypatch.setattr(
        replayer,
        "records_of_replay",
        lambda report, **words: [(report.sink.name, words["nth"])],
    )
    monkeypatch.setattr(
        replayer, "write", lambda records, folder: found.extend(records)
    )
    config = SimpleNamespace(rootpath=tmp_path, stash=pytest.Stash())
    options = SimpleNamespace(spark={}, evidence=Path("kept"), words="", agent=False)
    made = replayer.Replayer(config, options)

    def leave(*names, **marks):
        made.begin(SimpleNamespace(nodeid="t", obj=SimpleNamespace(**marks)))
        for name in names:
            result = SimpleNamespace(sink=SimpleNamespace(name=name))
            judged = SimpleNamespace(
                report=result, guarantee="", file="", drift="", unsettled=""
            )
            made._leave(judged, SimpleNamespace(test=SimpleNamespace(claims=())))
        return found

    return leave


def test_replays_are_numbered_by_sink_and_test(left):
    """So neither of two is lost, and a test that runs again numbers them the same."""
    left("orders", "orders", "sales")

    found = left("orders")

    assert found == [("orders", 1), ("orders", 2), ("sales", 1), ("orders", 1)]


def test_examples_of_hypothesis_leave_no_evidence(left):
    """They differ from run to run."""
    assert left("orders", is_hypothesis_test=True) == []


class Held(SinkReport):
    """Stands for a report of a replay in which each guarantee held."""

    def concluded(self, prop):
        return Verdict.HELD


def test_what_drifts_from_its_model_part_is_no_evidence_of_a_guarantee(
    report, tmp_path
):
    """The record is undecided and says why; without the drift it is held."""
    held = Held(*(getattr(report, f.name) for f in fields(report)))

    [record, *_] = records_of_replay(held, root=tmp_path, unsettled="readers see less")
    [plain, *_] = records_of_replay(held, root=tmp_path)

    assert (record.verdict, record.note) == (Verdict.UNDECIDED, "readers see less")
    assert (plain.verdict, plain.note) == (Verdict.HELD, "")


def test_a_record_of_a_replay_that_was_cut_short_says_so(report, tmp_path):
    """Something was left when time ran out."""
    [record, *_] = records_of_replay(replace(report, left=3), root=tmp_path)

    assert record.verdict is Verdict.UNDECIDED
    assert record.note == "time ran out before 3 interleavings"
