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
import functools
import importlib
import pickle
import random
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
_CACHED = type(functools.cache(len))


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
    for cached in _caches(module for module, *_ in first):
        cached.cache_clear()
    for key, made in first.items():
        new = other.get(key, _NOTHING)
        if new is _NOTHING or same(new, made) or not same(_value(key), made):
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
        if is_data(value) or is_random_generator(value):
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
            data = is_data(what) or is_random_generator(what)
            if data and (inner in _DEFAULTS or not inner.startswith("__")):
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


def same(one: object, other: object) -> bool:
    """Return whether two values are equal, and of one type."""
    if type(one) is not type(other):
        return False
    return bool(state_of(one) == state_of(other))


def is_random_generator(value: object) -> bool:
    """Return whether a value generates random numbers from a state of its own."""
    return type(value) is random.Random or _is_numpys(value)


def state_of(value: Any) -> Any:
    """Return the state of a generator of random numbers; any other value itself."""
    if type(value) is random.Random:
        return value.getstate()
    if _is_numpys(value):
        held = getattr(value, "bit_generator", None)
        return repr(value.get_state() if held is None else held.state)
    return value


def _is_numpys(value: object) -> bool:
    kind = type(value)
    names = ("Generator", "RandomState")
    return kind.__module__.startswith("numpy.random") and kind.__name__ in names


def _caches(names: Iterable[str]) -> Iterator[Any]:
    """Yield the functions of modules that remember what they have returned.

    A process that starts anew remembers nothing.
    """
    for name in sorted(set(names)):
        module = sys.modules.get(name)
        every = [] if module is None else list(vars(module).values())
        yield from (value for value in every if isinstance(value, _CACHED))
