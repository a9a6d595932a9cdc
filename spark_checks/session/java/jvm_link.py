"""A host's own connection to the JVM of the session, and its view of the session."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from onceproof.spark_checks.session import private_names, spark_internals
from onceproof.spark_checks.session.java import java_names

if TYPE_CHECKING:
    from collections.abc import Callable

_WHERE = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET")
_known: WeakKeyDictionary[object, dict[str, Any]] = WeakKeyDictionary()
"""What is the same for all processes that are connected to a context."""
_kept: list[object] = []
"""What the process of the tests uses too: only that one may let Java forget it."""


def address(spark: Any) -> dict[str, Any]:
    """Return how another process reaches the session of this one."""
    context, name = spark.sparkContext, spark_internals.target
    port, secret = spark_internals.address_of(context)
    if context not in _known:
        connection = spark_internals.connection_of(context)
        _known[context] = {
            "names": java_names.answers_of(connection),
            "settings": context.getConf().getAll(),
        }
    return {
        **_known[context],
        "port": port,
        "secret": secret,
        "context": name(spark_internals.java_context(context)),
        "session": name(spark_internals.java_session(spark)),
    }


def connected() -> bool:
    """Return whether this process has a connection to Java."""
    return spark_internals.gateway() is not None


def connect(address: dict[str, Any]) -> SparkSession:
    """Connect this process to a session of another."""
    if spark_internals.instantiated_session() is not None:
        mine: SparkSession = session_of(address["session"])
        return mine
    before = {name: os.environ.get(name) for name in _WHERE}
    os.environ |= dict(
        zip(_WHERE, (str(address["port"]), address["secret"]), strict=True)
    )
    path = list(sys.path)
    gateway = spark_internals.connect_to_launched()
    java_names.use(address["names"], spark_internals.client_of(gateway))
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
    java = _java(address["context"])
    own = signal.getsignal(signal.SIGINT)
    context = spark_internals.context_of(java, gateway, address["settings"])
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, own)
    sys.path[:] = path
    session = _java(address["session"])
    spark = spark_internals.session_without_default(context, session)
    activate(spark)
    return spark


def lazily(address: dict[str, Any]) -> Callable[[], None]:
    """Connect on the first use of a session; return a function that undoes this."""
    plain = {
        (owner, name): vars(owner)[name]
        for owner, names in private_names.ASKED.items()
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
    spark_internals.set_active(spark)


def session_of(target: str) -> Any:
    """Return a session by Java's name of it."""
    return SparkSession(spark_internals.active_context(), _java(target))


def frame_of(target: str, spark: Any) -> Any:
    """Return a DataFrame by Java's name of it."""
    frame = spark_internals.frame_of(target, spark)
    _kept.append(frame)
    return frame


def properties_of(target: str) -> Any:
    """Return the local properties of a thread by Java's name of them."""
    return _java(target)


def keep(what: object) -> None:
    """Keep something that another process uses for as long as this one lives."""
    _kept.append(what)


def _java(target: str) -> Any:
    found = spark_internals.object_of(target)
    _kept.append(found)
    return found
