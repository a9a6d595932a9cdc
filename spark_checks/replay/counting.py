"""Counts how often readers saw each row: in memory, or by Spark at any size."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.replay.looks import (
    COLUMNS,
    ROW,
    TEXT,
    FewRows,
    collected,
    kept_by_spark,
    union,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame

    from onceproof.spark_checks.replay.looks import Look

UNIT = "onceproof_unit"
_EXPECTED, _INTERIM = -1, -2
_PIECES = 4
_WITH_UNIT = f"{ROW} bigint, {UNIT} int, {TEXT} string"


@dataclass(frozen=True)
class CountedRows:
    """Rows that were seen equally often at each moment of a run."""

    unit: int | None
    """The batch that they belong to; None if readers should not see them at the end."""
    interim: bool
    """Whether they may be seen before the end."""
    seen: tuple[int, ...]
    """How often each was seen, moment by moment; 0 where nobody looked."""
    rows: int
    """How many rows these are."""
    example: str
    """One of them in words: the first in the order of texts."""


class Counting:
    """Knows which rows should be seen, and counts them in the looks of runs."""

    def __init__(self, expected: DataFrame, interim: DataFrame | None) -> None:
        """Compute what should be seen: hash, batch and words of each row.

        Rows of ``interim``, hash and words, may be seen before the end.
        """
        self._spark = expected.sparkSession
        self._expected = _kept(expected)
        self._interim = [] if interim is None else _kept(interim)

    def of(self, runs: Sequence[Sequence[Look | None]]) -> list[list[CountedRows]]:
        """Count the rows of each run in all of its looks; None is where none was."""
        looks = [look for run in runs for look in run if look is not None]
        kept = self._expected, self._interim
        few = all(isinstance(look, FewRows) for look in looks)
        if few and all(isinstance(rows, list) for rows in kept):
            return [list(self._in_memory(run, *kept)) for run in runs]
        return self._by_spark(runs)

    def _in_memory(
        self, run: Sequence[Any], expected: Any, between: Any
    ) -> Iterator[CountedRows]:
        """Count the rows of a run whose looks are all in memory, as these are."""
        nothing = (0,) * len(run)
        units: dict[int, int] = {}
        texts: dict[int, str] = {}
        seen: dict[int, list[int]] = {}

        def show(row: int, text: str) -> None:
            if row not in texts or text < texts[row]:
                texts[row] = text

        for row, unit, text in expected:
            units[row] = max(unit, units.get(row, unit))
            show(row, text)
        interim = set()
        for row, text in between:
            interim.add(row)
            show(row, text)
        for moment, look in enumerate(run):
            for (row, text), times in look.times.items() if look is not None else ():
                seen.setdefault(row, list(nothing))[moment] += times
                show(row, text)
        kinds: Counter[Any] = Counter()
        examples: dict[Any, str] = {}
        for row, text in texts.items():
            kind = (units.get(row), row in interim, tuple(seen.get(row, nothing)))
            kinds[kind] += 1
            examples[kind] = min(text, examples.get(kind, text))
        for kind, rows in kinds.items():
            unit, early, times = kind
            yield CountedRows(unit, early, times, rows, examples[kind])

    def _by_spark(
        self, runs: Sequence[Sequence[Look | None]]
    ) -> list[list[CountedRows]]:
        """Count the rows of all runs by one job: small jobs cost dearly."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        each = f"EXPLODE(SEQUENCE(0, {len(runs) - 1})) AS run"
        none = f"CAST(NULL AS INT) AS {UNIT}"
        expected = self._frame(self._expected, _WITH_UNIT)
        frames = [
            expected.selectExpr(ROW, UNIT, TEXT, each, f"{_EXPECTED} AS moment"),
        ]
        if self._interim != []:
            interim = self._frame(self._interim, COLUMNS)
            frames.append(interim.selectExpr(ROW, none, TEXT, each, f"{_INTERIM}"))
        frames += [
            look.frame(self._spark).selectExpr(ROW, none, TEXT, f"{run}", f"{moment}")
            for run, looks in enumerate(runs)
            for moment, look in enumerate(looks)
            if look is not None
        ]
        counts = [f"seen{i}" for i in range(max(map(len, runs)))]
        totals = [
            f.count_if(f.col("moment") == i).alias(c) for i, c in enumerate(counts)
        ]
        interim_too = f.bool_or(f.col("moment") == _INTERIM).alias("interim")
        # A task for each look would cost more than its few rows do.
        by_row = (
            union(frames)
            .coalesce(_PIECES)
            .groupBy("run", ROW)
            .agg(f.max(UNIT).alias(UNIT), f.min(TEXT).alias(TEXT), interim_too, *totals)
        )
        outcomes = by_row.groupBy("run", UNIT, "interim", *counts).agg(
            f.count("*").alias("rows"), f.min(TEXT).alias(TEXT)
        )
        found: list[list[CountedRows]] = [[] for _ in runs]
        for row in outcomes.collect():
            run = row["run"]
            seen = tuple(row[c] for c in counts[: len(runs[run])])
            found[run].append(
                CountedRows(row[UNIT], row["interim"], seen, row["rows"], row[TEXT])
            )
        return found

    def _frame(self, kept: list[Any] | DataFrame, columns: str) -> DataFrame:
        """Give what is in memory to Spark."""
        if isinstance(kept, list):
            return self._spark.createDataFrame(kept, columns)
        return kept


def _kept(rows: DataFrame) -> list[Any] | DataFrame:
    """Return rows as they are now: in memory, or kept by Spark."""
    rows = rows.distinct()
    few = collected(rows)
    return kept_by_spark(rows) if few is None else few
