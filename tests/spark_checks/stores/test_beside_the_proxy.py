"""What the code sends to the store's own address is not cut: then nothing has held."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import ForeachBatch, Unreliable
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.report.assessment import AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest
from onceproof.spark_checks.sinks.exchanges import PAST
from tests.spark_checks.stores.postgres.postgres_sinks import UPSERT, reader, tables

pytestmark = [pytest.mark.spark, pytest.mark.grid]

SCHEMA = "id string, amount long"


@pytest.mark.parametrize("beside", [False, True])
def test_a_short_connection_beside_the_proxy_is_no_verdict(
    pool, tmp_path, postgres, beside
):
    """The same sink holds if it asks for the time through target.store."""
    running = pool.stores.running(postgres)
    own = running.place("beside")

    def build(target):
        url = target.store.url
        literal = own.url if beside else url
        tables(url, "PRIMARY KEY")

        def write(batch, batch_id):
            rows = [tuple(row) for row in batch.collect()]
            psycopg.connect(literal).close()
            with psycopg.connect(url) as db, db.cursor() as cursor:
                cursor.executemany(UPSERT, rows)

        return ForeachBatch(write, read=reader(url))

    request = AssessmentRequest(
        Path(__file__).parent,
        tmp_path,
        events=SCHEMA,
        test=RequestingTest("", ("id",), (), (EFFECTIVELY_ONCE,), ()),
        choice=Choice(most=2),
        batches=1,
        store=Unreliable(postgres),
    )
    found = judge(build, request, pool=pool)
    running.drop(own)

    assert bool(found.report.sink.exchanges.not_cut.get(PAST)) is beside
    assert found.verdict is (Verdict.UNDECIDED if beside else Verdict.HELD)
