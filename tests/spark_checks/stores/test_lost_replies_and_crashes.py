"""A lost reply and a crash in one interleaving, on a real PostgreSQL server."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.plan.choice import Choice, faults_of
from onceproof.spark_checks.plan.rules import LOSE_REPLY
from tests.spark_checks.stores import retrying_sinks as sinks
from tests.spark_checks.stores.test_lost_replies import judged  # noqa: F401 - a fixture

pytestmark = [pytest.mark.spark, pytest.mark.ci]

LOST, DIES = LOSE_REPLY, "die"
COMMITS = ("the end of line", "commit()")
PAIRS = (
    ("catch_lost_reply_in_commit", "crash_in_commit"),
    ("crash_in_commit", "lose_reply_in_commit"),
)


@dataclass(frozen=True)
class Both(Choice):
    """Chooses those in which the answer to a commit is lost, and the driver dies."""

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
    assert "the answer was lost" in both.story
    assert "in run 1, the process dies before" in both.story
    ends = {hit.line for one in both.report.replayed for hit in one.hits[1:]}
    assert any("clear()" in line for line in ends)
    again = [hit for one in both.report.replayed for hit in one.hits if hit.nth == 2]
    assert any("commit()" in hit.line for hit in again)
