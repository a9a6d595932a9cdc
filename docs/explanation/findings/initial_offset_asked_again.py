"""Shows that a restart asks a Python source where to begin. Needs pyspark and pyarrow.

A source begins two events before the end of a feed: "with what is recent". The feed has
four events, so batch 0 is events 2 and 3, and Spark notes its end. The callback fails,
as a driver does that dies there. Four more events arrive, and the query is started
again until it has read all. Beside it, the same with a source that always begins at 2.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST, ARRIVING_LATER = [2, 3], [4, 5, 6, 7]
Offset = dict[str, int]


class FeedReader(SimpleDataSourceStreamReader):
    """Reads the numbers of a feed that a file counts."""

    def __init__(self, options: dict[str, str]) -> None:
        """Keep the options."""
        self._options = options

    def _end(self) -> int:
        return int(Path(self._options["feed"]).read_text())

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        """Begin two events before the end, or at a fixed event."""
        if self._options["begins"] == "fixed":
            return {"next": 2}
        return {"next": self._end() - 2}

    def read(self, start: Offset) -> tuple[Iterator[tuple[int]], Offset]:
        """Read up to the end."""
        end = {"next": self._end()}
        return self.readBetweenOffsets(start, end), end

    def readBetweenOffsets(  # noqa: N802 - Spark's name
        self, start: Offset, end: Offset
    ) -> Iterator[tuple[int]]:
        """Read what is between two offsets."""
        return iter([(number,) for number in range(start["next"], end["next"])])


class Feed(DataSource):
    """A feed."""

    @classmethod
    def name(cls) -> str:
        """Return the name of its format."""
        return "feed"

    def schema(self) -> str:
        """Return its only column."""
        return "number int"

    def simpleStreamReader(self, schema: Any) -> FeedReader:  # noqa: ARG002, N802
        """Return its reader."""
        return FeedReader(self.options)


def run(spark: SparkSession, folder: Path, begins: str, seen: list[int] | None) -> None:
    """Read what is there once; fail in the callback if there is no list for it."""

    def look(batch: Any, _: int) -> None:
        rows = [row.number for row in batch.collect()]
        if seen is None:
            message = f"the driver dies with {rows}"
            raise RuntimeError(message)
        seen.extend(rows)

    events: Any = spark.readStream.format("feed").option("begins", begins)
    events = events.option("feed", str(folder / "feed")).load()
    writer = events.writeStream.foreachBatch(look).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    try:
        query.awaitTermination()
    except Exception:
        if seen is not None:
            raise


def main() -> None:
    """Run the query with each of the two sources."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    spark.dataSource.register(Feed)
    print(f"PySpark {pyspark.__version__}")
    found: dict[str, list[int]] = {"recent": [], "fixed": []}
    for begins, seen in found.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            (folder / "feed").write_text("4")
            run(spark, folder, begins, None)
            (folder / "feed").write_text("8")
            for _ in range(3):
                run(spark, folder, begins, seen)
        print(f"begins {begins}: after a crash in batch 0 the sink has {sorted(seen)}")
    spark.stop()
    lost = sorted(found["recent"]) == ARRIVING_LATER
    sys.exit(not (lost and sorted(found["fixed"]) == FIRST + ARRIVING_LATER))


if __name__ == "__main__":
    main()
