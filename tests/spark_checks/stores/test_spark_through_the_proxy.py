"""What Spark's JVM exchanges with a store is cut as what Python exchanges is."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import psycopg
import pytest

from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import ForeachBatch, Postgres, Unreliable
from onceproof.spark_checks.inject.connections import Connections
from onceproof.spark_checks.inject.senders import Senders
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.plan.rules import CUTS, LOSE_REPLY
from onceproof.spark_checks.sinks.exchanges import UNSTEADY
from tests.spark_checks.stores.judging import judged_on
from tests.spark_checks.stores.needed import needs
from tests.spark_checks.stores.postgres.postgres_sinks import UPSERT, reader, tables

pytestmark = [pytest.mark.spark, pytest.mark.grid]


@dataclass(frozen=True)
class Commits(Choice):
    """Chooses those in which the reply to the last request of a task is lost."""

    def of(self, found, hits=None, merged=()):
        """Take the one whose request has the highest number."""
        lost = {
            int(hit.line.split()[1]): one
            for one in found.classes
            for hit in (hits(one) or ())
            if hit.do == LOSE_REPLY and hit.line.endswith(", by Spark's task 0")
        }
        return (), (lost[max(lost)],)


@dataclass(frozen=True)
class First(Choice):
    """Chooses the first one."""

    def of(self, found, hits=None, merged=()):
        """Take it, whatever it hits."""
        return (), found.classes[:1]


@pytest.fixture
def judged(pool, tmp_path):
    """Judge a sink on PostgreSQL that Spark writes to by JDBC."""
    store = Unreliable(needs(Postgres(jdbc=True)))

    def ask(build, choice=None):
        return judged_on(store, build, pool, tmp_path, choice)

    return ask


def staged(target):
    """Stage rows by Spark's JDBC writer, and upsert them by psycopg.

    What is staged twice is the same twice.
    """
    url, options = target.store.url, target.store.options
    tables(url, "PRIMARY KEY")
    with psycopg.connect(url) as db:
        db.execute("CREATE TABLE staged (id text, amount bigint)")

    def write(batch, batch_id):
        batch.write.jdbc(options["url"], "staged", mode="append", properties=options)
        rows = "SELECT DISTINCT id, amount FROM staged"
        merge = UPSERT.replace("VALUES (%s, %s)", rows)
        with psycopg.connect(url) as db:
            db.execute(merge)

    return ForeachBatch(write, read=reader(url))


def appended(target):
    """Append by Spark's JDBC writer, in a transaction for each partition."""
    url, options = target.store.url, target.store.options
    tables(url)

    def write(batch, batch_id):
        batch.write.jdbc(options["url"], "orders", mode="append", properties=options)

    return ForeachBatch(write, read=reader(url))


def test_a_task_appends_again_what_was_committed(judged):
    """Spark's own retry does it: nothing crashes, and the code hears of no error."""
    found = judged(appended, Commits())

    [lost] = found.report.replayed
    assert found.verdict is Verdict.REFUTED, found.headline
    assert lost.runs[0].caught
    assert sorted(lost.spark.seen(len(lost.spark.moments) - 1)) == [1, 2]
    assert "of Spark's task 0 (sent at line" in found.story
    assert "the reply was lost" in found.story


@pytest.mark.grid
def test_a_sink_whose_rows_are_staged_by_jdbc_holds(judged):
    """Each exchange of Spark's driver and of a task is cut, and of the code besides."""
    found = judged(staged)

    assert found.verdict is Verdict.HELD, found.headline
    cut = {
        (hit.do, hit.line)
        for outcome in found.report.replayed
        for hit in outcome.hits
        if hit.do in CUTS
    }
    places = found.report.sink.exchanges.places
    assert cut == {(do, place) for place in places for do in CUTS}
    assert {place.partition(", by ")[2] for place in places} == {
        "",
        "Spark's driver",
        "Spark's task 0",
    }


def test_a_cut_that_is_not_made_is_no_verdict(judged, monkeypatch):
    """A mark that is missing says so."""
    plain = judged(staged, Commits())
    rule_for = Connections._rule_for
    monkeypatch.setattr(
        Connections, "_rule_for", lambda *given: rule_for(*given) and None
    )
    dropped = judged(staged, Commits())

    assert [bool(one.not_replayed) for one in plain.report.outcomes] == [False]
    assert [bool(one.not_replayed) for one in dropped.report.outcomes] == [True]
    assert dropped.verdict is Verdict.UNDECIDED, dropped.headline


def test_requests_that_are_counted_for_another_task_are_no_verdict(judged, monkeypatch):
    """Then their numbers differ from run to run."""
    numbers = itertools.count()
    by = Senders._by
    monkeypatch.setattr(
        Senders, "_by", lambda *given: f"{by(*given)} of {next(numbers)}"
    )

    found = judged(staged, First())

    assert (
        found.report.sink.exchanges.not_cut[UNSTEADY] == found.report.unknown_exchanges
    )
    assert found.verdict is Verdict.UNDECIDED, found.headline
