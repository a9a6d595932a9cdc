"""State of a user's own, by transformWithState: rows or pandas, with timers or not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql import Row
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from onceproof.spark_checks.queries.catalogue.windows import (
    KEY,
    SPAN,
    closing_time,
    sums,
    totals,
)
from onceproof.spark_checks.queries.events import DELAY
from onceproof.spark_checks.queries.query_spec import OutputMode, QuerySpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

_TOTAL = "key string, total long"
_WINDOW = "begin long, key string, total long, n long"
_MILLIS = 1000


def _summing(*, in_pandas: bool) -> Any:
    """Return a processor that sums the amounts of a key in a value of its own."""
    # PySpark 3.5 has no such class. Within a function it goes to workers as it is.
    from pyspark.sql.streaming.stateful_processor import (  # noqa: PLC0415
        StatefulProcessor,
    )

    class Summing(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.total = handle.getValueState("total", "total long")

        def handleInputRows(  # noqa: N802 - Spark's own name for it
            self,
            key: Any,
            rows: Iterator[Any],
            timerValues: Any,  # noqa: ARG002, N803 - Spark passes it by this name
        ) -> Iterator[Any]:
            total = self.total.get()[0] if self.total.exists() else 0
            total += sum(
                int(part["amount"].sum()) if in_pandas else part["amount"]
                for part in rows
            )
            self.total.update((total,))
            if in_pandas:
                yield pd.DataFrame({"key": [key[0]], "total": [total]})
            else:
                yield Row(key=key[0], total=total)

        def close(self) -> None:
            pass

    return Summing()


def summed(events: DataFrame, *, in_pandas: bool) -> DataFrame:
    """Sum the amounts of each key by transformWithState."""
    grouped: Any = events.groupBy("key")
    name = "transformWithStateInPandas" if in_pandas else "transformWithState"
    found: DataFrame = getattr(grouped, name)(
        _summing(in_pandas=in_pandas), _TOTAL, "Update", "None"
    )
    return found


def _by_timer() -> Any:
    """Return a processor that sums by windows in a map; a timer shows each of them."""
    from pyspark.sql.streaming.stateful_processor import (  # noqa: PLC0415
        StatefulProcessor,
    )

    class ByTimer(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.handle = handle
            self.sums = handle.getMapState("sums", "begin long", "total long, n long")

        def handleInputRows(  # noqa: N802 - Spark's own name for it
            self,
            key: Any,  # noqa: ARG002 - Spark passes it by this name
            rows: Iterator[Any],
            timerValues: Any,  # noqa: ARG002, N803 - Spark passes it by this name
        ) -> Iterator[Any]:
            for row in rows:
                begin = row["second"] // SPAN * SPAN
                total, n = 0, 0
                if self.sums.containsKey((begin,)):
                    total, n = self.sums.getValue((begin,))
                else:
                    self.handle.registerTimer(_MILLIS * (begin + SPAN))
                self.sums.updateValue((begin,), (total + row["amount"], n + 1))
            yield from ()

        def handleExpiredTimer(  # noqa: N802 - Spark's own name for it
            self,
            key: Any,
            timerValues: Any,  # noqa: ARG002, N803 - Spark passes it by this name
            expiredTimerInfo: Any,  # noqa: N803 - Spark passes it by this name
        ) -> Iterator[Any]:
            begin = expiredTimerInfo.getExpiryTimeInMs() // _MILLIS - SPAN
            total, n = self.sums.getValue((begin,))
            self.sums.removeKey((begin,))
            yield Row(begin=begin, key=key[0], total=total, n=n)

        def close(self) -> None:
            pass

    return ByTimer()


def windows_by_timer(events: DataFrame) -> DataFrame:
    """Sum in windows of ten seconds; timers on event time show and remove them."""
    timed = events.withWatermark("at", f"{DELAY} seconds")
    grouped: Any = timed.withColumn("second", F.unix_seconds("at")).groupBy("key")
    shown: DataFrame = grouped.transformWithState(
        _by_timer(), _WINDOW, "Append", "EventTime"
    )
    return shown.withColumn("begin", F.timestamp_seconds("begin"))


QUERIES = (
    QuerySpec(
        "transform-totals",
        partial(summed, in_pandas=False),
        OutputMode.UPDATE,
        ("key",),
        watermarked=False,
        batch=totals,
        only_rocksdb=True,
        since="4.1",
    ),
    QuerySpec(
        "transform-totals-pandas",
        partial(summed, in_pandas=True),
        OutputMode.UPDATE,
        ("key",),
        watermarked=False,
        batch=totals,
        only_rocksdb=True,
        since="4.0",
    ),
    QuerySpec(
        "transform-windows",
        windows_by_timer,
        key=KEY,
        closes=closing_time,
        batch=sums,
        only_rocksdb=True,
        since="4.1",
    ),
)
