"""Data that the function which builds a sink makes, and the sink's code keeps.

A program that starts again builds its sink again. The runs of an interleaving share one
that was built once, since a second build would set its place up again. So a value that
each build makes anew, such as an id, is not what it would be after a crash. It is found
by comparing builds, each in a place of its own.
"""

from __future__ import annotations

import functools
import types
from collections import defaultdict
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from onceproof.properties.evidence.fingerprints import of_data
from onceproof.spark_checks.inject.hosts import made_at_import, user_modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onceproof.spark_checks.sinks.interface import Target

_NOT_RUN = ("read", "result", "model", "steps")
_SHORTEST = 4
_DEEP = 12


def remade(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
    """Name what two builds have made in different ways."""
    return tuple(sorted(k for k in one.keys() & other.keys() if one[k] != other[k]))


def made_by_build(
    sink: Any,
    target: Target,
    modules: tuple[made_at_import.Values, made_at_import.Values],
    environment: tuple[Mapping[str, str], Mapping[str, str]],
) -> dict[str, str]:
    """Return digests of the data that a build has left to the sink's code, by name.

    That is what its functions and objects hold, and what has changed in the user's
    ``modules`` and in the ``environment``, which are given before and after. What names
    the target counts as the same in each build.
    """
    search = _Search(_names_of(target))
    for name in (n for n in getattr(sink, "__dict__", {}) if n not in _NOT_RUN):
        search.look(getattr(sink, name), name, _DEEP)
    before, after = modules
    for key, value in after.items():
        if key in before and before[key] != value:
            module, *names = key
            search.add(".".join([module, *filter(None, names)]), value)
    before_all, all_ = environment
    for variable, text in all_.items():
        if before_all.get(variable) != text:
            search.add(f"the environment's {variable}", text)
    return {name: of_data(sorted(found)) for name, found in search.found.items()}


class _Search:
    """Follows functions and objects of the user's to the data that they hold."""

    def __init__(self, names: Iterable[str]) -> None:
        self.found: defaultdict[str, list[str]] = defaultdict(list)
        self._names = sorted(set(names), key=len, reverse=True)
        self._seen: set[int] = set()
        self._modules = user_modules.user_modules()
        self._alive: list[Any] = []

    def add(self, name: str, value: Any) -> None:
        """Take note of data."""
        text = repr(_ordered(value))
        for place in self._names:
            text = text.replace(place, "<place>")
        self.found[name].append(text)

    def look(self, value: Any, name: str, deep: int) -> None:
        """Follow a value that the sink's code reaches under a name."""
        if deep == 0 or id(value) in self._seen:
            return
        if made_at_import.is_data(value):
            self.add(name, value)
            return
        self._seen.add(id(value))
        self._alive.append(value)
        for inner, what in self._inside(value, name):
            self.look(what, inner, deep - 1)

    def _inside(self, value: Any, name: str) -> Iterator[tuple[str, Any]]:
        if isinstance(value, types.MethodType):
            yield name, value.__func__
            yield name, value.__self__
        elif isinstance(value, functools.partial):
            yield name, value.func
            yield from ((name, one) for one in (value.args, value.keywords))
        elif isinstance(value, types.FunctionType):
            if self._is_users(value.__module__):
                yield from _held_by(value)
        elif isinstance(value, dict):
            yield from ((name, one) for one in value.values())
        elif isinstance(value, list | tuple | set | frozenset):
            yield from ((name, one) for one in value)
        elif isinstance(value, type):
            if self._is_users(value.__module__):
                yield from _attributes(value.__name__, vars(value))
                yield from ((name, base) for base in value.__bases__)
        elif self._is_users(type(value).__module__):
            kind = type(value)
            yield name, kind
            yield from _attributes(kind.__name__, getattr(value, "__dict__", {}))
            slots = (s for k in kind.__mro__ for s in vars(k).get("__slots__", ()))
            held = {
                slot: getattr(value, slot) for slot in slots if hasattr(value, slot)
            }
            yield from _attributes(kind.__name__, held)

    def _is_users(self, module: str | None) -> bool:
        return module == "__main__" or module in self._modules


def _held_by(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    called = f"{function.__name__}()"
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            held = cell.cell_contents
        except ValueError:
            continue  # it is not set yet
        yield f"{name} in {called}", held
    defaults = (function.__defaults__ or (), function.__kwdefaults__ or {})
    yield from ((f"a default of {called}", one) for one in defaults)
    inner = getattr(function, "__wrapped__", None)
    if inner is not None:
        yield called, inner


def _attributes(kind: str, held: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, what in held.items():
        function = isinstance(what, staticmethod | classmethod)
        if function or callable(what) or not name.startswith("__"):
            yield f"{kind}.{name}", what.__func__ if function else what


def _ordered(value: Any) -> Any:
    """Return data whose text is the same where the data is equal."""
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if isinstance(value, dict):
        return [(_ordered(name), _ordered(what)) for name, what in value.items()]
    if isinstance(value, list | tuple):
        return [_ordered(one) for one in value]
    return value


def _names_of(target: Target) -> set[str]:
    """Return the texts by which data names a target, whatever the place."""
    texts = {str(target.path), target.name, *_texts(target.store)}
    for one in target.lasting_values:
        texts.update(_texts(one))
    number = target.name.rpartition("_")[2]
    texts |= {number, target.name.replace("_", "-")}
    texts |= {text.upper() for text in (number, target.name)}
    return {text for text in texts if len(text) >= _SHORTEST}


def _texts(value: Any, deep: int = _DEEP) -> Iterator[str]:
    if deep == 0 or value is None or isinstance(value, bool):
        return
    if is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from _texts(getattr(value, one.name), deep - 1)
        yield from _texts(getattr(value, "addresses", None), deep - 1)
    elif isinstance(value, dict):
        yield from _texts([*value, *value.values()], deep - 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _texts(one, deep - 1)
    elif made_at_import.is_data(value):
        yield repr(value).strip("'\"")
        yield str(value)
