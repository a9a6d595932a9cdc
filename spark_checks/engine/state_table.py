"""The states found so far, as a table of Spark in a folder: a partition per level.

The states of a level are distributed to buckets by their hash. Spark therefore compares
new states with old ones bucket by bucket, and moves only the new ones.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from onceproof.spark_checks.engine.zip_archives import keep_unchanged_archives

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame, SparkSession

    Words = NDArray[np.int64]

_LEVELS = "levels"
_PARTITION = "level={}"


def columns(words: int, *, prefix: str = "w") -> list[str]:
    """Name the columns that hold the words of a state."""
    return [f"{prefix}{word}" for word in range(words)]


def location(folder: Path) -> str:
    """Return a folder as Spark names it: with blanks and signs as they are."""
    return f"file:{folder.absolute()}"


def schema(names: list[str]) -> str:
    """Return the schema of columns of 64-bit integers, as Spark reads it."""
    return ", ".join(f"{name} bigint" for name in names)


def rows_of(batch: pa.RecordBatch, words: int) -> Words:
    """Return the states of a batch, ``(states, words)``."""
    import numpy as np  # noqa: PLC0415 - also runs in Spark's workers

    found = np.empty((batch.num_rows, words), np.int64)
    for word in range(words):
        found[:, word] = batch.column(word).to_numpy()
    return found


def batch_of(*parts: Words, names: list[str]) -> pa.RecordBatch:
    """Return columns of integers side by side as a batch."""
    arrays = [
        pa.array(part[:, word]) if part.ndim > 1 else pa.array(part)
        for part in parts
        for word in range(part.shape[1] if part.ndim > 1 else 1)
    ]
    return pa.RecordBatch.from_arrays(arrays, names=names)


class StateTable:
    """The states of a search, level by level."""

    def __init__(
        self, spark: SparkSession, folder: Path, *, words: int, buckets: int, name: str
    ) -> None:
        """Open the table in ``folder``, which is empty at first."""
        self._spark = spark
        self._folder = folder / _LEVELS
        self._words = words
        self._name = f"onceproof_states_{name}"
        self.columns = columns(words)
        keys = ", ".join(self.columns)
        quoted = location(self._folder).replace("\\", "\\\\").replace("'", "\\'")
        spark.sql(f"DROP TABLE IF EXISTS {self._name}")
        spark.sql(
            f"CREATE TABLE {self._name} ({schema(self.columns)}, level INT) "
            f"USING parquet PARTITIONED BY (level) CLUSTERED BY ({keys}) "
            f"INTO {buckets} BUCKETS LOCATION '{quoted}'"
        )

    def keep_levels(self, levels: int) -> None:
        """Keep the first ``levels`` levels, and delete what else is in the folder."""
        kept = {_PARTITION.format(level) for level in range(levels)}
        for found in self._folder.iterdir() if self._folder.is_dir() else ():
            if found.name in kept:
                continue
            if found.is_dir():
                shutil.rmtree(found)
            else:
                found.unlink()
        if self._folder.is_dir():
            self._spark.sql(f"MSCK REPAIR TABLE {self._name}")

    def drop(self) -> None:
        """Forget the table; its folder stays."""
        self._spark.sql(f"DROP TABLE IF EXISTS {self._name}")

    def add_initial(self, rows: Words) -> int:
        """Write level 0: the initial states. Return how many there are."""
        plain = [tuple(row) for row in rows.tolist()]
        frame = self._spark.createDataFrame(plain, schema(self.columns))
        return self._write(frame.distinct(), 0)

    def add_level(self, successors: DataFrame, level: int) -> int:
        """Write those of ``successors`` that are in no level yet; return how many."""
        new = successors.distinct().join(self.states(), self.columns, "left_anti")
        return self._write(new, level)

    def level(self, level: int) -> DataFrame:
        """Return the states of a level."""
        table = self._spark.table(self._name)
        return table.where(table["level"] == level).select(*self.columns)

    def states(self) -> DataFrame:
        """Return all states."""
        return self._spark.table(self._name).select(*self.columns)

    def leveled(self) -> DataFrame:
        """Return all states, each with its level in the last column."""
        return self._spark.table(self._name).select(*self.columns, "level")

    def sample(self, states: int, *, of: int) -> Iterator[tuple[int, ...]]:
        """Yield about ``states`` states, spread by their hash over those found."""
        from pyspark.sql import functions as F  # noqa: N812, PLC0415

        step = max(1, of // max(1, states))
        number = F.pmod(F.xxhash64(*self.columns), F.lit(step))
        chosen = self.states().where(number == 0).orderBy(*self.columns)
        for row in chosen.limit(states).collect():
            yield tuple(int(word) for word in row)

    def _write(self, found: DataFrame, level: int) -> int:
        view = f"{self._name}_found"
        found.createOrReplaceTempView(view)
        names = ", ".join(self.columns)
        self._spark.sql(
            f"INSERT INTO {self._name} PARTITION (level = {level}) "
            f"SELECT {names} FROM {view}"
        )
        self._spark.catalog.dropTempView(view)
        return self.level(level).count()


def function_of(batches: Any, words: int) -> Iterator[Words]:
    """Yield the states of each batch that Spark hands to a task."""
    # Spark keeps the worker, whose next task begins sooner.
    keep_unchanged_archives()
    for batch in batches:
        if batch.num_rows:
            yield rows_of(batch, words)
