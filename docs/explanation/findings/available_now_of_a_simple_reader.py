"""Shows how much ``availableNow`` reads. Needs pyspark and pyarrow.

A source offers ten events. Its reader hands out two at each call of ``read``, as one
does that reads page by page. The query runs by ``availableNow``, which has to read all
that is there when it starts.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

if TYPE_CHECKING:
    from collections.abc import Iterator

Offset = dict[str, int]
OFFERED, PAGE = 10, 2


class PageReader(SimpleDataSourceStreamReader):
    """Reads the numbers below ten, two at a time."""

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        """Begin at 0."""
        return {"next": 0}

    def read(self, start: Offset) -> tuple[Iterator[tuple[int]], Offset]:
        """Read a page."""
        end = {"next": min(start["next"] + PAGE, OFFERED)}
        return self.readBetweenOffsets(start, end), end

    def readBetweenOffsets(  # noqa: N802 - Spark's name
        self, start: Offset, end: Offset
    ) -> Iterator[tuple[int]]:
        """Read what is between two offsets."""
        return iter([(number,) for number in range(start["next"], end["next"])])


class Pages(DataSource):
    """A source that is read page by page."""

    @classmethod
    def name(cls) -> str:
        """Return the name of its format."""
        return "pages"

    def schema(self) -> str:
        """Return its only column."""
        return "number int"

    def simpleStreamReader(self, schema: Any) -> PageReader:  # noqa: ARG002, N802
        """Return its reader."""
        return PageReader()


def main() -> None:
    """Run the query twice."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    spark.dataSource.register(Pages)
    print(f"PySpark {pyspark.__version__}")
    counts: list[int] = []
    read = []
    with tempfile.TemporaryDirectory() as scratch:
        events: Any = spark.readStream.format("pages").load()
        writer = events.writeStream.trigger(availableNow=True)
        writer = writer.foreachBatch(lambda batch, _: counts.append(batch.count()))
        writer = writer.option("checkpointLocation", f"{scratch}/checkpoint")
        for number in (1, 2):
            writer.start().awaitTermination()
            read.append(sum(counts))
            what = f"{read[-1]} of {OFFERED} events are read, and no error"
            print(f"run {number} by availableNow ends: {what}")
    spark.stop()
    sys.exit(read != [PAGE, 2 * PAGE])


if __name__ == "__main__":
    main()
