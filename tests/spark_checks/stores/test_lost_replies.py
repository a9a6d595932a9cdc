"""Connections to a real PostgreSQL server break before it acts, and after."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

from onceproof.model.errors import UsageError
from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import Unreliable
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.plan.rules import CUTS, LATE_REQUEST, LOSE_REPLY
from onceproof.spark_checks.replay.cleanup import CleanupWarning
from onceproof.spark_checks.report.assessment import AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest
from tests.spark_checks.stores import retrying_sinks as sinks
from tests.spark_checks.stores.postgres.test_postgres import schemas

pytestmark = pytest.mark.spark

SCHEMA = "id string, amount long"


@pytest.fixture
def judged(pool, tmp_path, postgres):
    """Judge a sink; no schema, no thread and no port is left."""

    def ask(build, *, store=None, choice=None, **words):
        test = RequestingTest("", ("id",), (), (EFFECTIVELY_ONCE,), ())
        request = AssessmentRequest(
            Path(__file__).parent,
            tmp_path,
            events=SCHEMA,
            test=test,
            choice=choice or Choice(most=4),
            batches=words.pop("batches", 1),
            store=store or Unreliable(postgres),
            **words,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("error", CleanupWarning)
            return judge(build, request, pool=pool)

    yield ask
    assert schemas(pool.stores.running(postgres)) == set()
    assert not [t for t in threading.enumerate() if t.name == "onceproof-proxy"]


def cuts(found):
    """Give what was done to which exchanges, in replays that have a verdict."""
    return {
        (hit.do, hit.line)
        for outcome in found.report.replayed
        for hit in outcome.hits
        if hit.do in CUTS
    }


@pytest.mark.grid
def test_a_lost_answer_refutes_what_no_crash_does(judged, postgres):
    """The code tries again what was committed; without broken connections it holds."""
    sound = judged(sinks.looked_up_once, store=postgres)
    found = judged(sinks.looked_up_once)

    assert sound.verdict is Verdict.HELD, sound.headline
    assert found.verdict is Verdict.REFUTED, found.headline
    assert "twice" in found.headline
    broken = found.report.first_break(EFFECTIVELY_ONCE)
    assert [hit.do for hit in broken.hits] == [LOSE_REPLY]
    assert "the end of line" in broken.hits[0].line
    assert "in run 1, the store replied to request" in found.story
    assert "retrying_sinks.py, commit(): with psycopg.connect(url)" in found.story
    assert "the reply was lost" in found.story
    assert "the error does not reach Spark, and run 1 goes on" in found.story


@pytest.mark.ci
@pytest.mark.parametrize(
    "build",
    [
        sinks.upsert_again,
        pytest.param(sinks.upsert_again_in_tasks, marks=pytest.mark.grid),
    ],
)
def test_a_right_sink_holds_with_every_exchange_cut_in_all_ways(judged, build):
    """On the driver and in tasks; the report says which exchanges were cut."""
    found = judged(build)

    assert found.verdict is Verdict.HELD, found.headline
    places = found.report.sink.exchanges.places
    assert cuts(found) == {(do, p) for p in places for do in CUTS}
    assert any("the end of line" in place for place in places)
    [line] = [one for one in found.left_out if one.startswith("cut ")]
    assert line.startswith(
        "cut before the store was reached and after it had answered and while the "
        f"request reached it later, {len(places)} of {len(places)} exchanges: request"
    )


@pytest.mark.ci
def test_a_late_request_refutes_what_no_lost_one_does(judged):
    """What was deleted late had been written again meanwhile."""
    found = judged(sinks.overwrites)

    assert found.verdict is Verdict.REFUTED, found.headline
    assert "not at all" in found.headline
    broken = found.report.first_break(EFFECTIVELY_ONCE)
    assert [hit.do for hit in broken.hits] == [LATE_REQUEST]
    assert "which reached the store later" in found.story


@dataclass(frozen=True)
class LateStaging(Choice):
    """Chooses those in which the commit of what is staged first is late."""

    def of(self, found, hits=None, merged=()):
        """Take one for each moment at which it arrives."""
        every = [
            one
            for one in found.classes
            for hit in (hits(one) or ())
            if hit.do == LATE_REQUEST
            and hit.batch == 0
            and "the end of line" in hit.line
            and ", stage():" in hit.line
        ]
        return (), tuple({moment_of(one): one for one in every}.values())


def moment_of(one):
    """Return when the late request of an interleaving arrives."""
    [late] = [event for event in one.trace.events if event.name.startswith("late_")]
    return late.members[1]


@pytest.mark.ci
@pytest.mark.parametrize(
    ("build", "times"), [(sinks.moves_all, 2), (sinks.moves_own, 1)]
)
def test_a_late_request_arrives_at_a_second_moment(judged, build, times):
    """What is staged late is seen if it is there as the next batch begins."""
    found = judged(build, choice=LateStaging(), batches=2)

    assert not any(one.not_replayed for one in found.report.outcomes)
    seen = {
        moment_of(one.interleaving): max(one.spark.seen(len(one.spark.moments) - 1))
        for one in found.report.replayed
    }
    assert seen == {0: 1, 1: times}
    if times > 1:
        assert found.verdict is Verdict.REFUTED, found.headline
        assert "which reached the store as the next batch began" in found.story


@pytest.mark.grid
def test_a_task_that_tries_again_inserts_twice(judged):
    """The rows of one partition are there twice, with no crash and no failed task."""
    found = judged(sinks.insert_again_in_tasks)

    broken = [
        outcome
        for outcome in found.report.replayed
        if [hit.do for hit in outcome.hits] == [LOSE_REPLY]
        and "the end of line" in outcome.hits[0].line
    ]
    assert broken
    for outcome in broken:
        assert 2 in outcome.spark.seen(len(outcome.spark.moments) - 1)


@pytest.mark.ci
def test_a_request_that_is_lost_is_not_there(judged):
    """Code that goes on as if it were loses events."""
    found = judged(sinks.swallows)

    assert found.verdict is Verdict.REFUTED
    assert "not at all" in found.headline


@pytest.mark.ci
def test_code_that_passes_the_store_by_is_refused(judged):
    """No connection of it could be broken, and nothing is said to have held."""
    with pytest.raises(UsageError, match="exchanges nothing with its store") as raised:
        judged(sinks.past_the_store)

    assert "help: let it connect as target.store says" in str(raised.value)


@pytest.mark.ci
def test_exchanges_of_several_threads_at_once_are_no_verdict(judged):
    """Nobody knows which of them sent what: it is undecided, and the report says so."""
    with pytest.raises(UsageError, match="sent while several threads of your code run"):
        judged(sinks.in_threads)
