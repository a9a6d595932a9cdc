"""What Spark exchanges past the proxy is not cut: then nothing has held."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import S3, ForeachBatch, Unreliable
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.report.assessment import AssessmentRequest, judge
from onceproof.spark_checks.report.counterexamples import RequestingTest
from onceproof.spark_checks.sinks.exchanges import BY_HADOOP

pytestmark = [pytest.mark.spark, pytest.mark.grid]

SCHEMA = "id string, amount long"


@pytest.fixture
def judged(pool, tmp_path):
    """Judge a sink on a store in a few interleavings."""

    def ask(build, store):
        test = RequestingTest("", ("id",), (), (EFFECTIVELY_ONCE,), ())
        request = AssessmentRequest(
            Path(__file__).parent,
            tmp_path,
            events=SCHEMA,
            test=test,
            choice=Choice(most=2),
            batches=1,
            store=Unreliable(store),
        )
        return judge(build, request, pool=pool)

    return ask


def through_s3a(target):
    """Write a batch by Spark, and then an object that says so."""
    place = target.store

    def write(batch, batch_id):
        batch.write.mode("overwrite").parquet(f"{place.path}/rows/{batch_id}")
        key = place.key(f"done/{batch_id}")
        place.client().put_object(Bucket=place.bucket, Key=key, Body=b"")

    def read(spark):
        done = sorted(key.rpartition("/")[2] for key in place.keys("done"))
        paths = [f"{place.path}/rows/{number}" for number in done]
        if not paths:
            return spark.createDataFrame([], SCHEMA)
        return spark.read.schema(SCHEMA).parquet(*paths)

    return ForeachBatch(write, read=read)


def test_what_spark_writes_by_s3a_to_a_bucket_of_ones_own_is_no_verdict(
    judged, buckets
):
    """Its connections are those of the session, and pass the proxy by."""
    whole = buckets.place("onceproof_any")
    own = S3(
        whole.endpoint,
        bucket=whole.bucket,
        access_key=whole.access_key,
        secret_key=whole.secret_key,
    )

    found = judged(through_s3a, own)

    assert found.report.sink.exchanges.not_cut[BY_HADOOP]
    assert found.verdict is Verdict.UNDECIDED
    assert "exchanges with the store are not cut" in found.headline
