"""The code of an error: what Spark, a database or a driver of Java calls its kind."""

from __future__ import annotations

from typing import Any

_STATES = ("sqlstate", "pgcode")
_DEEPEST = 20
_CLASSES = ("org.apache.hudi.exception.TableNotFoundException",)
"""Errors of Java that have no code: their class is the only name of their kind."""


def condition_of(error: BaseException) -> str:
    """Return Spark's name of an error, or the SQLSTATE of a database; else nothing.

    What SQLAlchemy wraps is the database's own.
    """
    for one in (error, getattr(error, "orig", None)):
        for name in ("getCondition", "getErrorClass"):
            found = getattr(one, name, None)
            if callable(found) and found():
                return str(found())
        for name in _STATES:
            state = getattr(one, name, None)
            if isinstance(state, str) and state:
                return state
    return _of_java(getattr(error, "java_exception", None))


def _of_java(error: Any) -> str:
    """Ask an error of Java and its causes for the SQLSTATE, which few of them have.

    Some have nothing but a class of their own, which is returned instead.
    """
    from py4j.protocol import Py4JError  # noqa: PLC0415

    for _ in range(_DEEPEST):
        if error is None:
            return ""
        if (name := str(error.getClass().getName())) in _CLASSES:
            return name
        try:
            return str(error.getSQLState() or "")
        except Py4JError:
            error = error.getCause()
    return ""
