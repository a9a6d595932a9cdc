"""Shows what ``sys.exit`` in a callback of foreachBatch does. Needs PySpark alone.

A query's callback raises an error, or calls ``sys.exit``. Each query is then given some
seconds to end.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

SECONDS = 15


def raises(_: Any, __: int) -> None:
    """Raise an error."""
    message = "no more"
    raise RuntimeError(message)


def exits(_: Any, __: int) -> None:
    """End the program, as its author believes."""
    sys.exit(1)


def main() -> None:
    """Run a query with each callback."""
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    print(f"PySpark {pyspark.__version__}", flush=True)
    active = {}
    for callback in (raises, exits):
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "input" / "0.json"
            path.parent.mkdir()
            path.write_text('{"id": 1}\n')
            events: Any = spark.readStream.schema("id int").json(str(path.parent))
            writer = events.writeStream.foreachBatch(callback)
            query = writer.option("checkpointLocation", f"{scratch}/checkpoint").start()
            try:
                query.awaitTermination(SECONDS)
            except Exception as error:  # noqa: BLE001 - that it ends is what is shown
                why = type(error).__name__
            else:
                why = f"no error within {SECONDS} s"
            active[callback] = query.isActive
            state = "is still active" if query.isActive else "has ended"
            what = f"the callback {callback.__name__}: {why}; the query {state}"
            print(what, flush=True)
    # Stopping the session would wait for the query, so the process ends by itself.
    os._exit(not (active[exits] and not active[raises]))


if __name__ == "__main__":
    main()
