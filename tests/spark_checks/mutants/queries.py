"""Streaming queries, each with a realistic mistake, and right ones that look like them.

Each right one does what its neighbour means to do.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from onceproof.spark_checks.queries.events import DELAY
from onceproof.spark_checks.queries.query_spec import OutputMode, QuerySpec

CLAIMS = "ONCEPROOF_TEST_CLAIMS"
"""Names the folder in which a query notes what it has seen."""
WINDOW = 10
_COUNT = itertools.count()
_FIRST = {}


def random_receipt(events):
    """Give each event a random number: a batch that is run again has others."""
    return events.select("id", F.expr("uuid()").alias("receipt"))


def hashed_receipt(events):
    """Give each event a number that follows from its id."""
    return events.select("id", F.sha2(F.col("id").cast("string"), 256).alias("receipt"))


def sampled(events):
    """Keep a random half: the seed does not fix which one."""
    return events.where(F.rand(7) < 0.5).select("id")


def sampled_by_hash(events):
    """Keep the half whose ids hash so."""
    return events.where(F.abs(F.hash("id")) % 2 == 0).select("id")


def sharded(events):
    """Note which task had the event: another partitioning gives another one."""
    return events.select("id", F.spark_partition_id().alias("shard"))


def sharded_by_hash(events):
    """Give each event the shard that its id hashes to."""
    return events.select("id", (F.abs(F.hash("id")) % 4).alias("shard"))


def numbered(events):
    """Number the events in Python: a worker that lives on goes on counting."""

    def count(batches):
        for batch in batches:
            numbers = [next(_COUNT) for _ in batch["id"]]
            yield batch.assign(number=numbers)[["id", "number"]]

    return events.select("id").mapInPandas(count, "id long, number long")


def remembered(events):
    """Note the first event of each key in Python: it is gone with the worker."""

    def note(batches):
        for batch in batches:
            pairs = zip(batch["key"], batch["id"], strict=True)
            first = [_FIRST.setdefault(key, number) for key, number in pairs]
            yield batch.assign(first=first)[["id", "first"]]

    return events.select("id", "key").mapInPandas(note, "id long, first long")


def first_of_key(events):
    """Note the first event of each key, as a batch run finds it."""
    firsts = events.groupBy("key").agg(F.min("id").alias("first"))
    return events.join(firsts, "key").select("id", "first")


def stamped(events):
    """Note when an event was processed: a batch that is run again has another time."""
    return events.select("id", F.current_timestamp().alias("processed_at"))


def claimed_in_a_file(events):
    """Keep what no file names yet, as with keys in a cache: a retry finds its own."""
    folder = os.environ[CLAIMS]

    def claim(batches):
        for batch in batches:
            mine = []
            for number in batch["id"]:
                try:
                    (Path(folder) / str(number)).touch(exist_ok=False)
                except FileExistsError:
                    mine.append(False)
                else:
                    mine.append(True)
            yield batch[mine]

    return events.select("id", "amount").mapInPandas(claim, "id long, amount long")


def kept_once(events):
    """Keep each id once, in Spark's own state."""
    return events.select("id", "amount").dropDuplicates(["id"])


def patient(events):
    """Sum up by windows, and wait as long as events may be late."""
    with_watermark = events.withWatermark("at", f"{DELAY} seconds")
    sums = with_watermark.groupBy(F.window("at", f"{WINDOW} seconds"), "key")
    return sums.agg(F.sum("amount").alias("total")).select(
        F.col("window.start").alias("start"), "key", "total"
    )


def closes(second):
    """Return when the window of a second takes no more events."""
    return second - second % WINDOW + WINDOW


def _plain(name, run):
    return QuerySpec(name, run, stateful=False, watermarked=False)


WRONG = (
    _plain("random-receipt", random_receipt),
    _plain("sampled", sampled),
    _plain("sharded", sharded),
    _plain("numbered", numbered),
    _plain("stamped", stamped),
    QuerySpec(
        "remembered",
        remembered,
        stateful=False,
        watermarked=False,
        batch=first_of_key,
    ),
    QuerySpec(
        "claimed-in-a-file",
        claimed_in_a_file,
        stateful=False,
        watermarked=False,
        batch=lambda events: events.select("id", "amount"),
    ),
    QuerySpec(
        "appended-updates",
        lambda events: events.groupBy("key").agg(F.sum("amount").alias("total")),
        mode=OutputMode.UPDATE,
        key=("key", "total"),
        watermarked=False,
    ),
)
"""Queries whose results depend on how often, or when, a batch is run."""

RIGHT = (
    _plain("hashed-receipt", hashed_receipt),
    _plain("sampled-by-hash", sampled_by_hash),
    _plain("sharded-by-hash", sharded_by_hash),
    QuerySpec("kept-once", kept_once, key=("id",), watermarked=False),
    QuerySpec("patient", patient, closes=closes),
    QuerySpec(
        "replaced-updates",
        lambda events: events.groupBy("key").agg(F.sum("amount").alias("total")),
        mode=OutputMode.UPDATE,
        key=("key",),
        watermarked=False,
    ),
)
"""Their neighbours, which depend on the events alone."""
