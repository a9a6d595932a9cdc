"""Values that modules make anew each time that they are imported: ids, times, numbers.

A driver that starts again imports its modules again. The hosts of an interleaving are
forked from one process that has imported them, so a restarted one takes over what
another process has made. Only data is looked at: what a name of a module holds, an
attribute of a class or an object that is the module's own, a default of a function.
"""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import fractions
import importlib
import pickle
import sys
import types
import uuid
from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.inject.hosts import user_modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Key = tuple[str, str, str]
    """A module, a name in it, and an attribute of what that holds, if it is not it."""
    Values = dict[Key, Any]

_PLAIN = (
    *(bool, int, float, complex, str, bytes, bytearray, uuid.UUID, PurePath),
    *(dt.date, dt.time, dt.timedelta, dt.tzinfo, decimal.Decimal, fractions.Fraction),
)
_GROUPS = (tuple, list, set, frozenset)
_DEEP = 5
_MANY = 10_000
_DEFAULTS = ("__defaults__", "__kwdefaults__")
_NOTHING = object()


def of_modules(names: Iterable[str] | None = None) -> Values:
    """Return copies of the data that a user's modules hold, or some of them."""
    chosen = sorted(user_modules.user_modules() if names is None else names)
    found: Values = {}
    for name in chosen:
        module = sys.modules.get(name)
        if module is not None:
            for key, value in _held(name, module):
                with suppress(Exception):  # what cannot be copied is no data
                    found[key] = pickle.loads(pickle.dumps(value))  # noqa: S301 - our own
    return found


def of_another_import(names: Iterable[str]) -> Values:
    """Import the modules that are not yet, and return the data that they hold."""
    for name in names:
        # A module that cannot be imported alone has failed in the other process, too.
        with suppress(BaseException):
            importlib.import_module(name)
    return of_modules(names)


def renew(first: Values, other: Values) -> None:
    """Put what another import has made into the modules.

    ``first`` is what the import in this process has made. What the code has changed
    since then stays, and so does what is the same in each import.
    """
    for key, made in first.items():
        new = other.get(key, _NOTHING)
        if new is _NOTHING or _same(new, made) or not _same(_value(key), made):
            continue
        holder, attribute = _holder(key)
        with suppress(AttributeError, TypeError):  # frozen
            setattr(holder, attribute, new)


def text_of(values: Values) -> str:
    """Return values as a text that another process reads by ``values_of``."""
    return base64.b64encode(pickle.dumps(values)).decode()


def values_of(text: str) -> Values:
    """Read what ``text_of`` has written."""
    found: Values = pickle.loads(base64.b64decode(text))  # noqa: S301 - our own
    return found


def is_data(value: object, deep: int = _DEEP) -> bool:
    """Return whether a value is data: a number, a text, a time, or some of these."""
    if value is None or type(value) in _PLAIN or isinstance(value, PurePath):
        return True
    if isinstance(value, dt.date | dt.time):
        return True
    if deep == 0:
        return False
    if type(value) is dict:
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, tuple | list | set | frozenset) and type(value) in _GROUPS:
        parts = list(value)
    else:
        return False
    return len(parts) <= _MANY and all(is_data(part, deep - 1) for part in parts)


def _held(name: str, module: types.ModuleType) -> Iterator[tuple[Key, Any]]:
    for attribute, value in list(vars(module).items()):
        if attribute.startswith("__"):
            continue
        if is_data(value):
            yield (name, attribute, ""), value
            continue
        if isinstance(value, types.FunctionType):
            inside: Mapping[str, Any] = {d: getattr(value, d) for d in _DEFAULTS}
        elif isinstance(value, type):
            inside = vars(value) if value.__module__ == name else {}
        else:
            own = type(value).__module__ == name
            inside = getattr(value, "__dict__", {}) if own else {}
        for inner, what in list(inside.items()):
            if is_data(what) and (inner in _DEFAULTS or not inner.startswith("__")):
                yield (name, attribute, inner), what


def _holder(key: Key) -> tuple[Any, str]:
    """Return what holds a value, and under which name."""
    module, name, inner = key
    holder: Any = sys.modules[module]
    return (getattr(holder, name), inner) if inner else (holder, name)


def _value(key: Key) -> Any:
    try:
        holder, attribute = _holder(key)
        return getattr(holder, attribute)
    except (AttributeError, KeyError):
        return _NOTHING


def _same(one: object, other: object) -> bool:
    """Return whether two values are equal, and of one type."""
    return type(one) is type(other) and bool(one == other)
