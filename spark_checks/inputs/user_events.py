"""Events of the user's own: a sample of rows, a schema, or a strategy for rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inputs.event_files import JSON_OPTIONS, Input, cut
from onceproof.spark_checks.inputs.flights import KEY, flights_input
from onceproof.spark_checks.inputs.pass_through import passed
from onceproof.spark_checks.inputs.row_generator import rows_of
from onceproof.spark_checks.inputs.schemas import harmless

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from onceproof.spark_checks.inputs.sizes import Sizes

MOST_ROWS = 1000
ROWS_IN_A_FILE = 2


def own_events(
    events: Any,
    key: tuple[str, ...],
    sizes: Sizes,
    *,
    schema: Any = None,
    seed: int = 0,
) -> Callable[[SparkSession], Input]:
    """Return a function that makes an input of a user's events, given a session.

    ``events`` is None for flights; a schema (a ``StructType`` or a DDL text), for which
    rows are generated; a strategy of Hypothesis for a row; batches of events, as
    ``event_batches`` draws them; or a sample: rows as dicts, a DataFrame of pandas or
    of Spark, or a function of a session that gives one. Of a sample the first 1,000
    rows are taken. ``schema`` says what columns rows have that are given as dicts.
    """

    def given(spark: SparkSession) -> Input:
        if events is None:
            return flights_input(sizes, key=key or (KEY,))
        return _input(spark, events, schema, key, sizes, seed)

    return given


def from_json(data: dict[str, Any]) -> Input:
    """Read what ``to_json`` gave, from a file whose form is checked.

    Raises ``UsageError`` for events that no replay has.
    """
    pieces = tuple(map(tuple, data["pieces"]))
    schema = harmless(data["schema"])
    given = Input(schema, pieces, data["tasks"], passed, tuple(data["key"]))
    if given.tasks < 1 or not pieces or len(pieces) % given.tasks:
        message = "the events of the file are damaged: its pieces are not whole batches"
        raise UsageError(message)
    return replace(given, own=True)


def to_json(given: Input) -> dict[str, Any]:
    """Return the events as plain data, for a file."""
    return {
        "schema": given.schema,
        "tasks": given.tasks,
        "key": list(given.key),
        "pieces": [list(piece) for piece in given.pieces],
    }


def _input(
    spark: SparkSession,
    events: Any,
    schema: Any,
    key: tuple[str, ...],
    sizes: Sizes,
    seed: int,
) -> Input:
    pieces = getattr(events, "rows", None)
    if isinstance(pieces, tuple):
        files = [list(piece) for batch in pieces for piece in batch]
        flat = [row for piece in files for row in piece]
        frame = _frame(spark, flat, schema)
        lines = iter(_lines(frame))
        cut_up = tuple(tuple(next(lines) for _ in piece) for piece in files)
        names = key or tuple(events.key)
        return _own(frame, cut_up, len(pieces[0]), names)
    frame = _sampled(spark, events, schema, key, sizes, seed)
    lines_ = _lines(frame)
    return _own(
        frame, cut(lines_, sizes.batches, sizes.partitions), sizes.partitions, key
    )


def _own(
    frame: DataFrame,
    pieces: tuple[tuple[str, ...], ...],
    tasks: int,
    key: tuple[str, ...],
) -> Input:
    missing = [name for name in key if name not in frame.columns]
    if missing:
        columns = ", ".join(frame.columns)
        message = f"the events have no column {missing[0]!r}; they have {columns}"
        raise UsageError(message)
    schema = frame.schema.json()
    return Input(schema, pieces, tasks, passed, key, own=True)


def _sampled(
    spark: SparkSession,
    events: Any,
    schema: Any,
    key: tuple[str, ...],
    sizes: Sizes,
    seed: int,
) -> DataFrame:
    """Make a DataFrame of events in any of the accepted forms."""
    from pyspark.sql import DataFrame  # noqa: PLC0415
    from pyspark.sql.types import StructType  # noqa: PLC0415

    count = ROWS_IN_A_FILE * sizes.batches * sizes.partitions
    if isinstance(events, str | StructType):
        of = _schema(spark, events)
        return spark.createDataFrame(rows_of(of, count, key), of)
    if hasattr(events, "example") and hasattr(events, "map"):
        from onceproof.properties.testing.strategies import drawn_rows  # noqa: PLC0415

        return _frame(spark, drawn_rows(events, count, key=key, seed_=seed), schema)
    found = events
    if callable(events) and not isinstance(events, DataFrame):
        found = events(spark)
    if isinstance(found, DataFrame):
        if found.isStreaming:
            message = "a sample is of a batch, and this DataFrame is a stream"
            raise UsageError(message)
        return _again(spark, found.limit(MOST_ROWS))
    if isinstance(found, list | tuple):
        return _frame(spark, list(found[:MOST_ROWS]), schema)
    if hasattr(found, "iloc"):
        return spark.createDataFrame(found[:MOST_ROWS])
    message = (
        "events= takes rows as dicts, a DataFrame of pandas or Spark or a function of "
        "a session that gives one, a schema, or a strategy for rows, not "
        f"{type(found).__name__}"
    )
    raise UsageError(message)


def _again(spark: SparkSession, sample: DataFrame) -> DataFrame:
    """Take the rows of a DataFrame over: it may be of another session."""
    return spark.createDataFrame(sample.collect(), sample.schema)


def _frame(spark: SparkSession, rows: Sequence[Any], schema: Any) -> DataFrame:
    if not rows:
        message = "there are no events"
        raise UsageError(message)
    try:
        if schema is not None:
            return spark.createDataFrame(list(rows), _schema(spark, schema))
        return _inferred(spark, rows)
    except Exception as error:
        message = (
            f"no schema fits the rows ({str(error).splitlines()[0][:200]}); give "
            'schema=, such as "id string, amount long"'
        )
        raise UsageError(message) from error


def _inferred(spark: SparkSession, rows: Sequence[Any]) -> DataFrame:
    """Infer the types of rows; what is null in all of them is taken for text."""
    from pyspark.sql.functions import lit  # noqa: PLC0415 - slow to import

    if not all(isinstance(row, dict) for row in rows):
        return spark.createDataFrame(list(rows))
    names = list(dict.fromkeys(name for row in rows for name in row))
    known = {name for row in rows for name in row if row[name] is not None}
    found = spark.createDataFrame([{n: r.get(n) for n in known} for r in rows])
    for name in names:
        if name not in known:
            found = found.withColumn(name, lit(None).cast("string"))
    return found.select(*names)


def _schema(spark: SparkSession, schema: Any) -> StructType:
    from pyspark.sql.types import StructType  # noqa: PLC0415

    if isinstance(schema, StructType):
        return schema
    try:
        return spark.createDataFrame([], str(schema)).schema
    except Exception as error:
        message = f"{schema!r} is no schema: {str(error).splitlines()[0][:200]}"
        raise UsageError(message) from error


def _lines(frame: DataFrame) -> list[str]:
    """Return the rows as lines of JSON, in their order."""
    from pyspark.sql import functions as f  # noqa: PLC0415

    if not frame.columns:
        message = "the events have no columns"
        raise UsageError(message)
    names = [f.col(f"`{name}`") for name in frame.columns]
    line = f.to_json(f.struct(*names), JSON_OPTIONS).alias("line")
    return [row["line"] for row in frame.select(line).collect()]
