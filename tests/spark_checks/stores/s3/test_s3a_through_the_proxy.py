"""What Spark's own client of S3 sends is cut as what Python sends."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import S3, ForeachBatch, Unreliable
from onceproof.spark_checks.inject.connections import Connections
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.plan.rules import CUTS, LOSE_REPLY
from onceproof.spark_checks.sinks.exchanges import READS
from tests.spark_checks.stores.judging import judged_on

pytestmark = [pytest.mark.spark, pytest.mark.grid]

SCHEMA = "id string, amount long"
DRIVER = ", by Spark's driver"
ONCE = {"fs.s3a.attempts.maximum": "0", "fs.s3a.retry.limit": "0"}


def written(target, mode, folder="", options=None):
    """Write each batch as one file by Spark, to a folder that may be named after it."""
    path = f"{target.store.path}/rows"

    def write(batch, batch_id):
        where = path + folder.format(batch_id)
        writer = batch.coalesce(1).write.options(**options or {})
        writer.mode(mode).parquet(where)

    def read(spark):
        if not target.store.keys("rows"):
            return spark.createDataFrame([], SCHEMA)
        return spark.read.schema(SCHEMA).parquet(path)

    return ForeachBatch(write, read=read)


def appended(target):
    """Append by a client that sends again, by itself, what was not answered."""
    return written(target, "append")


def appended_again(target):
    """Append by a client that does not: Spark repeats the batch."""
    return written(target, "append", options=ONCE)


def overwritten(target):
    """Overwrite the folder of the batch, which Spark repeats."""
    return written(target, "overwrite", "/batch={}", ONCE)


@dataclass(frozen=True)
class Completions(Choice):
    """Chooses the lost reply to the request by which S3A makes a file visible."""

    numbers: set[int] = field(default_factory=set, hash=False)

    def of(self, found, hits=None, merged=()):
        """Take the one whose request has a number that was noted by now."""
        wanted = {f"request {number} at" for number in self.numbers}
        lost = [
            one
            for one in found.classes
            for hit in (hits(one) or ())
            if hit.do == LOSE_REPLY
            and hit.line.endswith(DRIVER)
            and any(hit.line.startswith(text) for text in wanted)
        ]
        return (), tuple(lost[:1])


@pytest.fixture
def completions(monkeypatch):
    """Note which requests of Spark's driver complete an upload."""
    found = Completions()
    rule_for = Connections._rule_for

    def noted(self, link, framed):
        rule = rule_for(self, link, framed)
        seen = self._latest.get((link, 0))
        first = link.asked.partition(b"\r\n")[0]
        if seen is not None and first.startswith(b"POST ") and b"uploadId=" in first:
            found.numbers.add(seen.number)
        return rule

    monkeypatch.setattr(Connections, "_rule_for", noted)
    return found


@pytest.fixture
def own(buckets):
    """Give a bucket as of a user's own server: no other can be made there."""
    whole = buckets.place("onceproof_any")
    keys = {"access_key": whole.access_key, "secret_key": whole.secret_key}
    return S3(whole.endpoint, bucket=whole.bucket, **keys)


@pytest.fixture
def judged(pool, tmp_path, s3):
    """Judge a sink on S3 that Spark writes to by S3A."""

    def ask(build, choice=None, store=s3):
        return judged_on(Unreliable(store), build, pool, tmp_path, choice)

    return ask


@pytest.mark.parametrize(
    ("build", "times"), [(appended_again, 2), (overwritten, 1), (appended, 1)]
)
def test_the_reply_is_lost_that_says_that_a_file_is_there(
    judged, completions, build, times
):
    """A batch that is appended again is there twice.

    One is there once that overwrites what it wrote, or whose client sends the same
    request again: S3 knows that it has done it. Neither holds by one interleaving.
    """
    found = judged(build, completions)

    assert set(found.report.sink.exchanges.not_cut) <= {READS}
    [lost] = found.report.replayed
    assert [hit.do for hit in lost.hits] == [LOSE_REPLY]
    assert set(lost.spark.seen(len(lost.spark.moments) - 1)) == {times}
    expected = Verdict.REFUTED if times == 2 else Verdict.UNDECIDED
    assert found.verdict is expected, found.headline


@pytest.mark.parametrize(("build", "times"), [(appended_again, 2), (overwritten, 1)])
def test_a_bucket_of_ones_own_is_reached_through_the_proxy(
    judged, completions, own, build, times
):
    """All runs share it, so one goes at a time; then Spark gets there as before."""
    found = judged(build, completions, own)

    assert set(found.report.sink.exchanges.not_cut) <= {READS}
    [lost] = found.report.replayed
    assert [hit.do for hit in lost.hits] == [LOSE_REPLY]
    assert set(lost.spark.seen(len(lost.spark.moments) - 1)) == {times}


def test_a_sink_that_overwrites_by_s3a_is_never_broken(judged):
    """Each exchange of Spark's driver and of a task is cut in each way."""
    found = judged(overwritten)

    assert found.verdict is Verdict.UNDECIDED, found.headline
    assert set(found.report.sink.exchanges.not_cut) <= {READS}
    cut = {
        (hit.do, hit.line)
        for outcome in found.report.replayed
        for hit in outcome.hits
        if hit.do in CUTS
    }
    places = found.report.sink.exchanges.places
    assert cut == {(do, place) for place in places for do in CUTS}
