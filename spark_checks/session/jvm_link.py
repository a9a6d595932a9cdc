"""A host's own connection to the JVM of the session, and its view of the session."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pyspark import SparkConf, SparkContext, java_gateway
from pyspark.sql import DataFrame, SparkSession

if TYPE_CHECKING:
    from collections.abc import Callable

_SQL = "org.apache.spark.sql"
_WHERE = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET")
_kept: list[object] = []
"""What the process of the tests uses too: only that one may let Java forget it."""
_ASKED = {
    SparkSession: ("getActiveSession", "active"),
    SparkSession.Builder: ("getOrCreate",),
    SparkContext: ("getOrCreate",),
}


def address(spark: Any) -> dict[str, Any]:
    """Say how the session of this process is reached from another."""
    context = spark.sparkContext
    parameters = context._gateway.gateway_parameters
    return {
        "port": parameters.port,
        "secret": parameters.auth_token,
        "context": context._jsc._target_id,
        "session": spark._jsparkSession._target_id,
    }


def connected() -> bool:
    """Say whether this process has a connection to Java."""
    return SparkContext._gateway is not None


def connect(address: dict[str, Any]) -> SparkSession:
    """Connect this process to a session of another."""
    found: Any = SparkSession._instantiatedSession
    if found is not None:
        mine: SparkSession = session_of(address["session"])
        return mine
    before = {name: os.environ.get(name) for name in _WHERE}
    os.environ |= dict(
        zip(_WHERE, (str(address["port"]), address["secret"]), strict=True)
    )
    path = list(sys.path)
    launch: Any = java_gateway.launch_gateway
    gateway = launch()
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
    SparkContext._gateway, SparkContext._jvm = gateway, gateway.jvm
    java = _java(address["context"])
    conf = SparkConf(_jconf=java.sc().conf())
    own = signal.getsignal(signal.SIGINT)
    context = SparkContext(conf=conf, gateway=gateway, jsc=java)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, own)
    sys.path[:] = path
    # Java's default session stays what it is: other runs use it meanwhile.
    stub: Any = SimpleNamespace(_sc=SimpleNamespace(_jsc=java))
    kind: Any = SparkSession
    kind._instantiatedSession = stub
    spark = SparkSession(context, _java(address["session"]))
    kind._instantiatedSession = kind._activeSession = spark
    activate(spark)
    return spark


def lazily(address: dict[str, Any]) -> Callable[[], None]:
    """Connect as soon as somebody asks for a session; give what takes that back."""
    plain = {
        (owner, name): vars(owner)[name]
        for owner, names in _ASKED.items()
        for name in names
    }

    def restore() -> None:
        for (owner, name), function in plain.items():
            setattr(owner, name, function)

    def put(owner: Any, name: str) -> None:
        def ask(*given: Any, **words: Any) -> Any:
            restore()
            connect(address)
            return getattr(owner, name)(*given, **words)

        wrapped: Any = ask if owner is SparkSession.Builder else staticmethod(ask)
        setattr(owner, name, wrapped)

    for owner, name in plain:
        put(owner, name)
    return restore


def activate(spark: Any) -> None:
    """Make a session the active one of this thread's thread in Java."""
    java = spark._jsparkSession
    try:
        # Whole names: for each part of a dotted one Java searches all of its jars.
        getattr(spark._jvm, f"{_SQL}.classic.SparkSession").setActiveSession(java)
    except TypeError:
        getattr(spark._jvm, f"{_SQL}.SparkSession").setActiveSession(java)


def session_of(target: str) -> Any:
    """Give a session by Java's name of it."""
    context: Any = SparkContext._active_spark_context
    return SparkSession(context, _java(target))


def frame_of(target: str, spark: Any) -> Any:
    """Give a DataFrame by Java's name of it."""
    return DataFrame(_java(target), spark)


def properties_of(target: str) -> Any:
    """Give the local properties of a thread by Java's name of them."""
    return _java(target)


def keep(what: object) -> None:
    """Keep something that another process uses for as long as this one lives."""
    _kept.append(what)


def _java(target: str) -> Any:
    from py4j.java_gateway import JavaObject  # noqa: PLC0415

    gateway: Any = SparkContext._gateway
    found = JavaObject(target, gateway._gateway_client)
    _kept.append(found)
    return found
