"""What readers see of a sink at one moment: few rows are kept in memory, many by Spark.

A job that keeps, shuffles and counts a dozen rows costs as much as the sink's own, and
each run of a replay looks two or three times.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

ROW, TEXT = "row", "onceproof_text"
COLUMNS = f"{ROW} bigint, {TEXT} string"
MOST_IN_MEMORY = 10_000
"""A look with more rows than these is kept by Spark."""
_ALL_AT_ONCE = "spark.sql.limit.initialNumPartitions"
_PARTITIONS = str(2**31 - 1)


@dataclass(frozen=True)
class FewRows:
    """A look whose rows are in memory."""

    times: Counter[tuple[int, str]]
    """How often each row was seen, by its hash and its words."""

    def size_and_digest(self) -> tuple[int, int]:
        """Return how many rows there are, and a number that differs where they do."""
        odd = (row for (row, _), n in self.times.items() if n % 2)
        return self.times.total(), functools.reduce(operator.xor, odd, 0)

    def frame(self, spark: SparkSession) -> DataFrame:
        """Give the rows to Spark, each as often as it was seen."""
        return spark.createDataFrame(list(self.times.elements()), COLUMNS)


@dataclass(frozen=True)
class ManyRows:
    """A look whose rows Spark keeps."""

    rows: DataFrame
    """The hash and the words of each row, as often as it was seen."""

    def size_and_digest(self) -> tuple[int, int]:
        """Return how many rows there are, and a number that differs where they do."""
        both = f"COALESCE(BIT_XOR({ROW}), 0)"
        size, digest = self.rows.selectExpr("COUNT(*)", both).collect()[0]
        return int(size), int(digest)

    def frame(self, spark: SparkSession) -> DataFrame:  # noqa: ARG002 - as for few rows
        """Return the rows."""
        return self.rows


Look: TypeAlias = FewRows | ManyRows
NOTHING = FewRows(Counter())
"""A look that shows no row."""


def look_at(rows: DataFrame) -> Look:
    """Keep the hashes and the words of a frame as they are now."""
    few = collected(rows)
    if few is None:
        return ManyRows(kept_by_spark(rows))
    return FewRows(Counter((row[0], row[1]) for row in few))


def together(looks: Sequence[Look], spark: SparkSession) -> Look:
    """Put the looks of several readers together."""
    if len(looks) == 1:
        return looks[0]
    few = [look.times for look in looks if isinstance(look, FewRows)]
    if len(few) == len(looks):
        times: Counter[tuple[int, str]] = Counter()
        for some in few:
            times.update(some)
        return FewRows(times)
    return ManyRows(union(look.frame(spark) for look in looks))


def collected(rows: DataFrame) -> list[Any] | None:
    """Return the rows of a frame; None if there are too many for memory.

    No other thread may use the frame's session meanwhile.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    # No limit goes below this condition: a source that believes its own statistics
    # would leave out rows, and a join would not compute all of them.
    every = rows.where(f.monotonically_increasing_id() >= 0)
    with _one_job(rows.sparkSession):
        found = every.limit(MOST_IN_MEMORY + 1).collect()
    return found if len(found) <= MOST_IN_MEMORY else None


def kept_by_spark(rows: DataFrame) -> DataFrame:
    """Return a frame as it is now: on a cluster, whatever becomes of its executors."""
    lasting = rows.sparkSession.sparkContext.getCheckpointDir() is not None
    return rows.checkpoint() if lasting else rows.localCheckpoint()


def union(frames: Iterable[DataFrame]) -> DataFrame:
    """Put the rows of several frames together."""
    return functools.reduce(lambda one, other: one.union(other), frames)


@contextmanager
def _one_job(spark: SparkSession) -> Iterator[None]:
    """Have Spark compute a limit in one job, and not partition after partition."""
    before = spark.conf.get(_ALL_AT_ONCE)
    spark.conf.set(_ALL_AT_ONCE, _PARTITIONS)
    try:
        yield
    finally:
        spark.conf.set(_ALL_AT_ONCE, str(before))
