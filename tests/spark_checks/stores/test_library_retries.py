"""What libraries do by themselves when a connection breaks is tested with the rest."""

from __future__ import annotations

import pytest

from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.plan.choice import Choice, faults_of
from tests.spark_checks.stores import library_retries as sinks
from tests.spark_checks.stores.test_lost_replies import judged  # noqa: F401 - a fixture

pytestmark = [pytest.mark.spark, pytest.mark.grid]


class LostReplies(Choice):
    """Chooses those in which the reply to a request of the driver is lost."""

    def of(self, found, hits=None, merged=()):
        """Take them all."""
        named = (o for o in found.classes if faults_of(o) == ("lose_reply_in_commit",))
        return (), tuple(named)


@pytest.mark.parametrize(
    "build",
    [sinks.tenacity_inserts, sinks.pool_inserts, sinks.sqlalchemy_inserts],
)
def test_a_lost_reply_is_found_though_a_library_tries_again(judged, build):  # noqa: F811
    """The transaction is there twice: no library knows that it was committed."""
    found = judged(build, choice=LostReplies())

    assert found.verdict is Verdict.REFUTED, found.headline
    as_it_went_on = [
        max(one.spark.seen(len(one.spark.moments) - 1))
        for one in found.report.replayed
        if one.runs[0].caught
    ]
    assert max(as_it_went_on) > 1


@pytest.mark.parametrize(
    "build",
    [sinks.tenacity_upserts, sinks.pool_upserts, sinks.sqlalchemy_upserts],
)
def test_a_key_makes_it_right(judged, build):  # noqa: F811
    """Nothing is refuted, and each exchange that can be told from others was cut."""
    found = judged(build)

    assert found.verdict is Verdict.HELD, found.headline
