"""Whether every state can recover: a fixed point that Spark computes backwards."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from onceproof.spark_checks.engine.level_jobs import holding, step_columns, steps
from onceproof.spark_checks.engine.state_table import location, schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from onceproof.model.search.native.portable import PortableExpander
    from onceproof.spark_checks.engine.state_table import StateTable

_FOLDER = "recoverable"


def unable_to_recover(
    table: StateTable,
    expander: PortableExpander,
    *,
    flag: int,
    events: Sequence[int],
    folder: Path,
) -> tuple[int, ...] | None:
    """Return a state that cannot recover, with its level at the end; None if all can.

    A state can recover if it rests with ``flag`` set, or if one of ``events`` leads
    to a state that can. Of several states the first of the least level is returned.
    Each round finds the states that are a step further away; it writes below
    ``folder`` and deletes what it wrote.
    """
    place = folder / _FOLDER
    shutil.rmtree(place, ignore_errors=True)
    try:
        can = table.states().mapInArrow(holding(expander, flag), schema(table.columns))
        found, rounds = _written(can, place / "0"), 0
        every = table.states().mapInArrow(
            steps(expander, events), schema(step_columns(expander.words))
        )
        before = [c for c in step_columns(expander.words) if c not in table.columns]
        while found:
            able = _read(table, place)
            last = _read(table, place / str(rounds))
            names = zip(before, table.columns, strict=True)
            into = every.join(last, table.columns, "left_semi").select(
                *(every[one].alias(name) for one, name in names)
            )
            fresh = into.distinct().join(able, table.columns, "left_anti")
            rounds += 1
            found = _written(fresh, place / str(rounds))
        lost = table.leveled().join(_read(table, place), table.columns, "left_anti")
        first = lost.orderBy("level", *table.columns).first()
        return None if first is None else tuple(int(value) for value in first)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _written(states: DataFrame, place: Path) -> int:
    """Write states, and return how many there are."""
    states.write.mode("overwrite").parquet(location(place))
    return states.sparkSession.read.parquet(location(place)).count()


def _read(table: StateTable, place: Path) -> DataFrame:
    """Read the states below a folder."""
    reader = table.states().sparkSession.read.schema(schema(table.columns))
    return reader.option("recursiveFileLookup", "true").parquet(location(place))
