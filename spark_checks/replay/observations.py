"""Reads a sink into the ledger."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.properties.ledger import (
    EFFECT,
    EVENT,
    RESULT_ROW,
    EventOutcome,
    History,
    Row,
)
from onceproof.spark_checks.replay.counting import UNIT, Counting
from onceproof.spark_checks.replay.looks import NOTHING, ROW, TEXT, look_at, together
from onceproof.spark_checks.session.processes.host_processes import UserCodeError
from onceproof.spark_checks.sinks.readers import ALONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.inputs.event_files import InputFiles
    from onceproof.spark_checks.replay.counting import CountedRows
    from onceproof.spark_checks.replay.looks import Look
    from onceproof.spark_checks.sinks.interface import Read, Result

_ONE = (ALONE,)
_READER = "onceproof_reader"
_NULL = "\0null"
_LONGEST = 120
_WITHOUT_KEY = "without key= all columns of an event identify it"
_NOTHING_THERE = (
    "PATH_NOT_FOUND",
    "TABLE_OR_VIEW_NOT_FOUND",
    "UNABLE_TO_INFER_SCHEMA",
    "_LEGACY_ERROR_TEMP_1134",  # a file sink's manifest that names no file yet
    "42P01",  # the SQLSTATE of a table that is not there, in PostgreSQL
    "42S02",  # in MySQL and others
    "org.apache.hudi.exception.TableNotFoundException",
)


class Observer:
    """Knows what the sink should hold, and compares what readers see with it."""

    def __init__(
        self,
        expected: DataFrame,
        columns: Sequence[str],
        interim: DataFrame | None = None,
        counted: str = EVENT,
        needed: str = "it is part of the key",
        readers: tuple[str, ...] = _ONE,
    ) -> None:
        """Take what should be visible at the end: a row for each event, with ``unit``.

        Events are identified by ``columns``; ``needed`` says why readers need each.
        Rows of ``interim`` may be seen before the end, and are no events. ``counted``
        is the word for what is counted. Each of several ``readers`` must see each row.
        """
        self._counted = counted
        self._needed = needed
        if readers != _ONE:
            columns = (_READER, *columns)
            expected = _for_each(readers, expected)
            interim = None if interim is None else _for_each(readers, interim)
        self._named = tuple(columns)
        self._columns = sorted(columns)
        # Each function of a column asks Java a dozen times: once is enough.
        self._shown = (self._row(), self._in_words())
        row, text = self._shown
        self._counting = Counting(
            expected.select(row, UNIT, text),
            None if interim is None else interim.select(row, text),
        )

    def look(self, spark: SparkSession, readers: Mapping[str, Read]) -> Look:
        """Read the sink now; return the rows that readers see, as a hash and in words.

        A table that is not there yet shows nothing. Raises ``UsageError`` where a
        column is missing that identifies events, and whatever a reader raises.
        """
        return together([self._seen_by(spark, *n) for n in readers.items()], spark)

    def _seen_by(self, spark: SparkSession, name: str, read: Read) -> Look:
        """Return the rows that one reader sees."""
        from pyspark.errors import AnalysisException  # noqa: PLC0415

        try:
            found = read(spark)
            if name != ALONE:
                found = _for_each((name,), found)
            missing = [c for c in self._columns if c not in found.columns]
            if missing:
                there = [c for c in found.columns if c != _READER]
                by = f" as {name!r}" if name else ""
                message = (
                    f"what readers see{by} has no column {missing[0]!r}, and "
                    f"{self._needed}; readers see {', '.join(there) or 'none'}"
                )
                raise UsageError(message)
            return look_at(found.select(*self._shown))
        except AnalysisException as error:
            if error.getCondition() not in _NOTHING_THERE:
                raise
            return NOTHING
        except UserCodeError as error:
            if error.condition not in _NOTHING_THERE:
                raise
            return NOTHING

    def _row(self) -> Any:
        """Hash the columns as texts: an int and a long of one value are the same."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        texts = [
            f.coalesce(f.col(f"`{name}`").cast("string"), f.lit(_NULL))
            for name in self._columns
        ]
        return f.xxhash64(*texts).alias(ROW)

    def _in_words(self) -> Any:
        """Show the columns in words, such as ``customer=anna, total=30``."""
        from pyspark.sql import functions as f  # noqa: PLC0415

        parts = [
            f.concat(
                f.lit("reader=" if name == _READER else f"{name}="),
                f.coalesce(f.col(f"`{name}`").cast("string"), f.lit("null")),
            )
            for name in self._named
        ]
        return f.substring(f.concat_ws(", ", *parts), 1, _LONGEST).alias(TEXT)

    def histories(self, observations: Sequence[Observations]) -> list[History]:
        """Count the outcomes of events, for several runs and all moments at once."""
        counted = self._counting.of([observed.looks for observed in observations])
        return [
            replace(observed.history(rows), counted=self._counted)
            for observed, rows in zip(observations, counted, strict=True)
        ]


@dataclass(frozen=True)
class Observations:
    """What was seen of one run, moment by moment."""

    moments: tuple[str, ...]
    """The names of the moments."""
    looks: tuple[Look | None, ...]
    """What readers saw; None where a reader failed."""
    promised: tuple[set[int], ...]
    """The batches that the commit log named."""
    rested: bool
    """Whether the query reached its end."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """Why readers failed, by the name of the moment."""

    def history(self, counted: Iterable[CountedRows]) -> History:
        """Make the ledger of rows that were counted."""
        rows = []
        unexplained = [0] * len(self.looks)
        strays = [""] * len(self.looks)
        for found in counted:
            if found.unit is None:
                # Interim results may be seen until the end.
                begin = len(found.seen) - 1 if found.interim else 0
                for i, times in enumerate(found.seen[begin:], begin):
                    unexplained[i] += times * found.rows
                    if times and not (strays[i] and strays[i] < found.example):
                        strays[i] = found.example
                continue
            story = tuple(
                EventOutcome(found.unit in done, times)
                for done, times in zip(self.promised, found.seen, strict=True)
            )
            rows.append(
                Row(
                    found.unit,
                    accepted=True,
                    outcomes=story,
                    events=found.rows,
                    example=found.example,
                )
            )
        unread = tuple(i for i, look in enumerate(self.looks) if look is None)
        return History(
            self.moments,
            tuple(sorted(rows)),
            tuple(unexplained),
            self.rested,
            tuple(strays) if any(strays) else (),
            unread,
            tuple(self.errors.get(self.moments[i], "") for i in unread),
        )


class Observers:
    """The observers of one source; all sinks that show its events share one."""

    def __init__(self, spark: SparkSession, source: InputFiles) -> None:
        """Compute nothing yet."""
        self._spark = spark
        self._source = source
        self._of_events: dict[tuple[str, ...], Observer] = {}

    def of(self, result: Result | None, readers: tuple[str, ...] = _ONE) -> Observer:
        """Return the observer of a sink that shows the events, or a ``result``."""
        if result is not None:
            return _observer_of(self._spark, self._source, result, readers)
        if readers not in self._of_events:
            made = _observer_of(self._spark, self._source, None, readers)
            self._of_events[readers] = made
        return self._of_events[readers]


def _for_each(readers: tuple[str, ...], rows: DataFrame) -> DataFrame:
    """Add the names of readers to rows: each row is there for each reader."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    names = f.array(*map(f.lit, readers))
    return rows.withColumn(_READER, f.explode(names))


def _observer_of(
    spark: SparkSession,
    source: InputFiles,
    result: Result | None,
    readers: tuple[str, ...],
) -> Observer:
    """Compute what a sink should show of a source: its keys, or a result.

    A result may also be seen as it was after any of the batches, and before the first.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    last = source.batches - 1
    counted = EVENT if readers == _ONE else EFFECT
    if result is not None:
        final = result(source.first(spark, source.batches))
        interim = None
        for batches in range(source.batches):
            part = result(source.first(spark, batches)).select(*final.columns)
            interim = part if interim is None else interim.union(part)
        final_rows = final.withColumn(UNIT, f.lit(last))
        return Observer(
            final_rows, final.columns, interim, RESULT_ROW, "result= has it", readers
        )
    frames = [
        source.batch(spark, number).withColumn(UNIT, f.lit(number))
        for number in range(source.batches)
    ]
    expected = frames[0]
    for frame in frames[1:]:
        expected = expected.union(frame)
    given = [c for c in expected.columns if c != UNIT]
    key = source.given.key or tuple(given)
    for name in key:
        if name not in given:
            message = f"the events have no column {name!r}; they have {given}"
            raise UsageError(message)
    if source.given.key:
        # An event that a source gives twice belongs to the batch that has it first.
        expected = expected.groupBy(*key).agg(f.min(UNIT).alias(UNIT))
        return Observer(expected, key, counted=counted, readers=readers)
    return Observer(
        expected, key, counted=counted, needed=_WITHOUT_KEY, readers=readers
    )
