"""A lost reply and a crash in one interleaving, on a real PostgreSQL server."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.plan.choice import Choice, faults_of
from onceproof.spark_checks.plan.rules import CUTS, LOSE_REPLY, LOSE_REQUEST
from onceproof.spark_checks.replay import sink_replay
from tests.spark_checks.stores import retrying_sinks as sinks
from tests.spark_checks.stores.test_lost_replies import judged  # noqa: F401 - a fixture

pytestmark = [pytest.mark.spark, pytest.mark.grid]

LOST, DIES = LOSE_REPLY, "die"
COMMITS = ("the end of line", "commit()")
REPAIR = ", repair():"
OPENS = ", partition():"
TWICE = (
    ("catch_lost_reply_in_task", "fail_in_task"),
    ("catch_lost_reply_in_task", "lose_request_in_task"),
)
PAIRS = (
    ("catch_lost_reply_in_commit", "crash_in_commit"),
    ("crash_in_commit", "lose_reply_in_commit"),
)


@dataclass(frozen=True)
class Both(Choice):
    """Chooses those in which the reply to a commit is lost, and the driver dies."""

    def of(self, found, hits=None, merged=()):
        """Take them all where the crash comes last, and else the first few."""
        chosen = {pair: [] for pair in PAIRS}
        for one in found.classes:
            where = hits(one) if faults_of(one) in chosen else None
            cut = [hit.line for hit in where or () if hit.do == LOST]
            if any(all(word in line for word in COMMITS) for line in cut):
                chosen[faults_of(one)].append(one)
        last = chosen[PAIRS[-1]]
        chosen[PAIRS[-1]] = [*last[:1], *last[-1:]]
        return (), tuple(one for some in chosen.values() for one in some)


def loses_commit(one, hits):
    """Return whether the reply to a task's first commit is lost at first."""
    first, *_ = faults_of(one)
    where = hits(one) if first.endswith("reply_in_task") else None
    line = where[0].line if where else ""
    return where and where[0].do == LOST and COMMITS[0] in line and OPENS not in line


class Repairs(Choice):
    """Chooses those in which the driver dies, and its repair is cut then."""

    def of(self, found, hits=None, merged=()):
        """Take the last of each cut of each exchange of the repair."""
        chosen = {}
        for one in found.classes:
            where = hits(one) or ()
            if [hit.do for hit in where][:1] == [DIES]:
                repairs = (h for h in where[1:] if h.do in CUTS and REPAIR in h.line)
                chosen.update({(hit.do, hit.line): one for hit in repairs})
        return (), tuple({one.number: one for one in chosen.values()}.values())


class LostInTask(Choice):
    """Chooses one in which the reply to a task's commit is lost."""

    def of(self, found, hits=None, merged=()):
        """Take the first."""
        return (), tuple(one for one in found.classes if loses_commit(one, hits))[:1]


class TwiceInTask(Choice):
    """Chooses those in which a task goes on after a lost reply, and is hit again."""

    def of(self, found, hits=None, merged=()):
        """Take the first and the last of two kinds of a second fault."""
        chosen = {}
        for one in found.classes:
            pair = faults_of(one)
            if pair in TWICE and loses_commit(one, hits):
                chosen.setdefault(pair, []).append(one)
        return (), tuple(one for some in chosen.values() for one in (some[0], some[-1]))


@pytest.mark.parametrize(
    ("build", "once", "twice"),
    [
        (sinks.clears_first_in_tasks, {1}, {0, 1}),
        pytest.param(
            sinks.insert_again_in_tasks, {1, 2}, {1, 2}, marks=pytest.mark.grid
        ),
        pytest.param(sinks.upsert_again_in_tasks, {1}, {1}, marks=pytest.mark.grid),
    ],
)
def test_a_task_that_goes_on_is_hit_again(judged, monkeypatch, build, once, twice):  # noqa: F811
    """It dies as it tries again, or its second request is lost; how often rows are."""
    monkeypatch.setattr(sink_replay, "Choice", LostInTask)
    lost = judged(build, faults=1, choice=LostInTask(), every_point=True)
    both = judged(build, faults=2, choice=TwiceInTask(most=4), every_point=True)

    assert times_of(lost) == once
    assert times_of(both) == twice
    pairs = [tuple(hit.do for hit in one.hits) for one in both.report.replayed]
    assert {(LOST, DIES), (LOST, LOSE_REQUEST)} == set(pairs)
    assert not any(one.not_replayed for one in both.report.outcomes)


def times_of(found):
    """Return how often readers see rows in the end of any replay."""
    histories = [one.spark for one in found.report.replayed]
    return {n for one in histories for n in one.seen(len(one.moments) - 1)}


def test_what_repairs_a_lost_reply_and_a_crash_may_not_repair_both(judged):  # noqa: F811
    """The driver dies in the second try: its rows are gone, and the batch is done."""
    once = judged(sinks.clears_first, faults=1)
    both = judged(sinks.clears_first, faults=2, choice=Both(most=4))

    assert once.verdict is Verdict.HELD, once.headline
    assert both.verdict is Verdict.REFUTED, both.headline
    assert "not at all" in both.headline
    orders = {tuple(hit.do for hit in one.hits) for one in both.report.replayed}
    assert {(LOST, DIES), (DIES, LOST)} <= orders
    broken = both.report.first_break(EFFECTIVELY_ONCE)
    lost, dies = broken.hits
    assert (lost.do, dies.do) == (LOST, DIES)
    assert "the reply was lost" in both.story
    assert "in run 1, the process dies before" in both.story
    ends = {hit.line for one in both.report.replayed for hit in one.hits[1:]}
    assert any("clear()" in line for line in ends)
    again = [hit for one in both.report.replayed for hit in one.hits if hit.nth == 2]
    assert any("commit()" in hit.line for hit in again)


@pytest.mark.parametrize(
    ("build", "times"),
    [(sinks.put_back_blindly, {1, 2}), (sinks.put_back_with_a_look, {1})],
)
def test_what_only_a_restarted_run_exchanges_is_cut(judged, build, times):  # noqa: F811
    """A crash leads to its repair, and a connection breaks in the midst of that."""
    both = judged(build, faults=2, choice=Repairs(most=4))

    assert times_of(both) == times
    cut = {(hit.do, hit.line) for one in both.report.replayed for hit in one.hits[1:]}
    exchanges = both.report.sink.exchanges
    repairs = {one.place for _, *later in exchanges.later.items() for one in later[0]}
    assert {(do, at) for do in CUTS for at in repairs if REPAIR in at} == cut
    assert not any(one.not_replayed for one in both.report.outcomes)
    assert not exchanges.unknown


@pytest.mark.parametrize(
    ("build", "faults", "verdict"),
    [
        (sinks.put_back_blindly, 1, Verdict.HELD),
        (sinks.put_back_blindly, 2, Verdict.REFUTED),
        (sinks.put_back_with_a_look, 2, Verdict.HELD),
    ],
)
def test_a_repair_is_judged_by_two_faults(judged, build, faults, verdict):  # noqa: F811
    """Nothing of it stays unknown, so a right one holds."""
    found = judged(build, faults=faults)

    assert found.verdict is verdict, found.headline
