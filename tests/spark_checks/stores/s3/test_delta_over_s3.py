"""The answer to Delta's commit over S3 is lost, and nobody knows whether it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import Unreliable
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.plan.rules import LOSE_REPLY, LOSE_REQUEST
from onceproof.spark_checks.report.assessment import AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest
from tests.spark_checks.stores.s3.delta_over_s3_sinks import (
    SCHEMA,
    in_the_log,
    looked_up_once,
)

pytestmark = [pytest.mark.spark, pytest.mark.grid]


class LostReplies(Choice):
    """Chooses those in which a reply of the store is lost, or a request is."""

    def of(self, found, hits=None, merged=()):
        """Take each exchange of the code, cut before it and after it."""
        chosen = []
        for one in found.classes:
            where = hits(one) or ()
            if {hit.do for hit in where} & {LOSE_REPLY, LOSE_REQUEST}:
                chosen.append(one)
        return (), tuple(chosen)


@pytest.fixture
def judged(pool, tmp_path, s3):
    """Judge a sink, with the exchanges of its writes cut."""

    def ask(build):
        test = RequestingTest("", ("id",), (), (EFFECTIVELY_ONCE,), ())
        request = AssessmentRequest(
            Path(__file__).parent,
            tmp_path,
            events=SCHEMA,
            test=test,
            choice=LostReplies(),
            batches=1,
            store=Unreliable(s3),
        )
        return judge(build, request, pool=pool)

    return ask


@pytest.mark.grid
def test_a_commit_that_is_tried_again_is_a_second_version_of_the_table(judged):
    """The client says that it has failed; the log has the entry."""
    found = judged(looked_up_once)

    assert found.verdict is Verdict.REFUTED, found.headline
    assert "twice" in found.headline
    broken = found.report.first_break(EFFECTIVELY_ONCE)
    assert [hit.do for hit in broken.hits] == [LOSE_REPLY]
    assert "write_deltalake(url, rows" in broken.hits[0].line
    assert broken.runs[0].caught, "no run ended by an error"


def test_a_batch_in_the_entry_of_the_log_is_not_committed_twice(judged):
    found = judged(in_the_log)

    report = found.report
    assert report.first_break(EFFECTIVELY_ONCE) is None, found.headline
    places = report.sink.exchanges.places
    cut = {(hit.do, hit.line) for one in report.replayed for hit in one.hits}
    assert cut == {(do, p) for p in places for do in (LOSE_REPLY, LOSE_REQUEST)}
    assert len(places) >= 5
