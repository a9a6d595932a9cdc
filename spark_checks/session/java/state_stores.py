"""The state that stateful queries keep in Java's memory."""

from __future__ import annotations

from typing import Any

from onceproof.spark_checks.session import spark_internals

_STORES = "org.apache.spark.sql.execution.streaming.state.StateStore$"


def unload_state() -> None:
    """Drop the state of queries that have ended, as the end of their driver would.

    Else Spark's maintenance may write what it has of one into the checkpoint of
    another, where that is in the folder that the first one was in. No query with state
    may be running in this session's JVM.
    """
    java: Any = spark_internals.gateway()
    stores = getattr(java.jvm, _STORES)
    getattr(stores, "MODULE$").unloadAll()
