"""State and timers of a user's own: transformWithState, and applyInPandasWithState."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from onceproof.spark_checks.queries.catalogue.windows import SPAN
from onceproof.spark_checks.queries.events import DELAY
from onceproof.spark_checks.queries.query_spec import OutputMode, QuerySpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

_MILLIS = 1000
_RESULT = "slot long, key string, total long"


def _slots(events: DataFrame) -> DataFrame:
    """Number the spans of ten seconds."""
    slot = F.floor(F.unix_timestamp("at") / SPAN)
    return events.withWatermark("at", f"{DELAY} seconds").withColumn("slot", slot)


def _processor() -> Any:
    """Return a processor that sums the amounts of a span, and emits at its end."""
    from pyspark.sql.streaming import stateful_processor  # noqa: PLC0415 - Spark 4

    class _SumUntilClosed(stateful_processor.StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.handle = handle
            self.total = handle.getValueState("total", "total long")

        def handleInputRows(  # noqa: N802 - Spark's name
            self,
            key: Any,
            rows: Iterator[Any],
            timer_values: Any,  # noqa: ARG002 - Spark gives it
        ) -> Iterator[Any]:
            added = sum(int(part["amount"].sum()) for part in rows)
            before = self.total.get()[0] if self.total.exists() else 0
            self.total.update((before + added,))
            self.handle.registerTimer((int(key[0]) + 1) * SPAN * _MILLIS)
            yield pd.DataFrame({"slot": [], "key": [], "total": []})

        def handleExpiredTimer(  # noqa: N802 - Spark's name
            self,
            key: Any,
            timer_values: Any,  # noqa: ARG002 - Spark gives it
            expired: Any,  # noqa: ARG002 - Spark gives it
        ) -> Iterator[Any]:
            total = self.total.get()[0]
            self.total.clear()
            yield pd.DataFrame(
                {"slot": [int(key[0])], "key": [key[1]], "total": [int(total)]}
            )

        def close(self) -> None:
            pass

    return _SumUntilClosed()


def transformed(events: DataFrame) -> DataFrame:
    """Sum spans by transformWithStateInPandas, with a timer for the end of each."""
    grouped: Any = _slots(events).groupBy("slot", "key")
    found: DataFrame = grouped.transformWithStateInPandas(
        statefulProcessor=_processor(),
        outputStructType=_RESULT,
        outputMode="Append",
        timeMode="EventTime",
    )
    return found


def running(events: DataFrame) -> DataFrame:
    """Sum the amounts of each key by applyInPandasWithState."""

    def add(key: Any, parts: Iterator[Any], state: Any) -> Iterator[Any]:
        total = state.get[0] if state.exists else 0
        total += sum(int(part["amount"].sum()) for part in parts)
        state.update((total,))
        yield pd.DataFrame({"key": [key[0]], "total": [total]})

    grouped: Any = events.groupBy("key")
    found: DataFrame = grouped.applyInPandasWithState(
        add, "key string, total long", "total long", "update", "NoTimeout"
    )
    return found


def in_batch(events: DataFrame) -> DataFrame:
    """Sum spans as a batch query does."""
    found = _slots(events).groupBy("slot", "key").agg(F.sum("amount").alias("total"))
    return found.select("slot", "key", "total")


def totals(events: DataFrame) -> DataFrame:
    """Sum the amounts of each key as a batch query does."""
    return events.groupBy("key").agg(F.sum("amount").alias("total"))


QUERIES = (
    QuerySpec(
        "transform-with-state",
        transformed,
        key=("slot", "key"),
        batch=in_batch,
        only_rocksdb=True,
    ),
    QuerySpec(
        "apply-with-state",
        running,
        OutputMode.UPDATE,
        ("key",),
        watermarked=False,
        batch=totals,
    ),
)
