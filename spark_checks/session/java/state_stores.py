"""The state that stateful queries keep in Java's memory."""

from __future__ import annotations

import time
from typing import Any

from py4j.protocol import Py4JError

from onceproof.spark_checks.session import spark_internals

_STORES = "org.apache.spark.sql.execution.streaming.state.StateStore$"
_PATIENCE, _TURN = 10.0, 0.05


def unload_state() -> None:
    """Drop the state that this session's JVM has in memory, and end its maintenance.

    Otherwise Spark's maintenance may write the state of a query that has ended into the
    checkpoint of a new one in the same folder. No query with state may be running.
    Raises ``TimeoutError`` if a task that was given up keeps hold of its state.
    """
    java: Any = spark_internals.gateway()
    stores = getattr(getattr(java.jvm, _STORES), "MODULE$")
    ends = time.monotonic() + _PATIENCE
    while True:
        try:
            return stores.stop()  # type: ignore[no-any-return]
        except Py4JError as error:
            if time.monotonic() > ends:
                why = str(error).partition("\n")[0]
                message = f"state of an ended query stays in Spark's memory: {why}"
                raise TimeoutError(message) from error
        time.sleep(_TURN)
