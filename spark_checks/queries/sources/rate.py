"""Events from Spark's source ``rate-micro-batch``, which counts rows by itself.

The number of a row says which event it is. Each run by ``availableNow`` reads one
batch, and a run that repeats a batch first may read the next one, too.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from onceproof.spark_checks.queries import events

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.stores.interface import RunningStore

_PARTITIONS = 2
_HEADER = 2


class RateInput:
    """A source, or two, whose rows become events by their numbers."""

    def __init__(
        self, folder: Path, inputs: int, store: RunningStore | None = None
    ) -> None:
        """Have no state: the source makes its rows whenever it is asked."""
        del folder, store
        self._parts = events.of_inputs(events.lines(events.BATCHES), inputs)
        self._rows = max(len(batch) for part in self._parts for batch in part)

    def offer(self, begin: int, end: int) -> None:
        """Do nothing: each run is offered one batch more."""

    def hold_again(self, end: int) -> None:
        """Do nothing: the source makes the same rows again."""

    def frames(self, spark: SparkSession) -> list[DataFrame]:
        """Turn the rows into events; numbers without an event become no row."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415 - slow to import

        found = []
        for part in self._parts:
            batches = events.padded(part, self._rows)
            texts = [text for batch in batches for text in batch]
            source = (
                spark.readStream.format("rate-micro-batch")
                .option("rowsPerBatch", self._rows)
                .option("numPartitions", _PARTITIONS)
                .load()
            )
            known = F.array(*(F.lit(text or None).cast("string") for text in texts))
            text = F.get(known, F.col("value").cast("int"))
            event = F.from_json(text, events.SCHEMA).alias("event")
            found.append(source.where(text.isNotNull()).select(event).select("event.*"))
        return found

    def ends(self, begin: int, end: int) -> list[int]:
        """Return a run for each batch."""
        return list(range(begin + 1, end + 1))

    def read(self, checkpoint: Path, offered: int) -> int:
        """Return how many batches the last entry of the offset log has."""
        del offered
        logged = [p for p in checkpoint.glob("offsets/*") if p.name.isdigit()]
        if not logged:
            return 0
        path = max(logged, key=lambda p: int(p.name))
        lines = path.read_text(encoding="utf-8").splitlines()[_HEADER:]
        return self.read_by(lines)

    def read_by(self, sources: Sequence[str]) -> int:
        """Return how many batches have as many rows."""
        return min(int(json.loads(line)["offset"]) for line in sources) // self._rows

    def close(self) -> None:
        """Do nothing: it holds nothing."""
