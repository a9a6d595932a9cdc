"""Data that the function which builds a sink makes, and the sink's code keeps.

A program that starts again builds its sink again. The runs of an interleaving share one
that was built once, since a second build would set its place up again. So a value that
each build makes anew, such as an id, is not what it would be after a crash. It is found
by comparing builds, each in a place of its own.
"""

from __future__ import annotations

import datetime as dt
import functools
import hashlib
import itertools
import types
import uuid
from collections import defaultdict, deque
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.properties.evidence.fingerprints import of_data
from onceproof.spark_checks.inject.hosts import made_at_import, user_modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onceproof.spark_checks.sinks.interface import Target

_NOT_RUN = ("read", "result", "model", "steps")
_SHORTEST = 4
_DEPTH = 12
_MOST = 20_000
_LONGEST = 1 << 16
_LARGE = 1_000
_GROUPS = (list, tuple, set, frozenset, deque)
_BASES: tuple[Any, ...] = (str, int, float, bytes)


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> tuple[str, ...]:
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
    search = _Kept(_names_of(target))
    for name in (n for n in getattr(sink, "__dict__", {}) if n not in _NOT_RUN):
        search.look(getattr(sink, name), name, _DEPTH)
    before, after = modules
    known = {module for module, *_ in before}
    for key, value in after.items():
        if key[0] not in known:
            continue
        if key not in before or not made_at_import.same(before[key], value):
            module, *names = key
            search.look(value, ".".join([module, *filter(None, names)]), _DEPTH)
    old, new = environment
    for variable, text in new.items():
        if old.get(variable) != text:
            search.add(f"the environment's {variable}", text)
    return {name: of_data(sorted(found)) for name, found in search.found.items()}


def require_data(value: object) -> None:
    """Raise ``UsageError`` for a value that could not be told from others."""
    usable = made_at_import.is_data(value) and any(
        len(text) >= _SHORTEST for text in _texts(value)
    )
    if not usable:
        message = (
            "target.lasting() takes a text, a number, a path or a time, or several, of "
            f"at least {_SHORTEST} characters, not {value!r}"
        )
        raise UsageError(message)


class _Kept:
    """Follows functions and objects of the user's to the data that they hold."""

    def __init__(self, names: Iterable[str]) -> None:
        self.found: defaultdict[str, list[str]] = defaultdict(list)
        self._names = sorted(set(names), key=len, reverse=True)
        self._seen: set[int] = set()
        self._modules = user_modules.user_modules()
        self._alive: list[Any] = []

    def add(self, name: str, value: Any) -> None:
        """Take note of data."""
        self.found[name].append(self._text(value))

    def look(self, value: Any, name: str, depth: int) -> None:
        """Follow a value that the sink's code reaches under a name.

        What fails as it is looked at is left out: no code of the user's runs here, but
        that of an object which overrides how it is read.
        """
        if depth == 0 or id(value) in self._seen or len(self._alive) > _MOST:
            return
        try:
            if isinstance(value, (dict, *_GROUPS)) and len(value) > _LARGE:
                self._add_large(value, name)
                return
            if made_at_import.is_random_generator(value):
                value = repr(made_at_import.state_of(value))
            if made_at_import.is_data(value) or isinstance(value, itertools.count):
                self.add(name, value)
                return
            self._seen.add(id(value))
            self._alive.append(value)
            inside = list(self._inside(value, name))
        except Exception:  # noqa: BLE001 - whatever a user's object raises
            return
        for inner, what in inside:
            self.look(what, inner, depth - 1)

    def _add_large(self, value: Any, name: str) -> None:
        """Take note of a large group, in which some number may be that of a port."""
        every = value.items() if isinstance(value, dict) else value
        whole = hashlib.sha256()
        for text in sorted(repr(one) for one in every if made_at_import.is_data(one)):
            whole.update(text.encode())
        self.found[name].append(whole.hexdigest())

    def _text(self, value: Any) -> str:
        """Write data so that equal data in places of their own is equal."""
        if isinstance(value, set | frozenset):
            return f"{{{', '.join(sorted(map(self._text, value)))}}}"
        if isinstance(value, dict):
            pairs = ((self._text(k), self._text(v)) for k, v in value.items())
            return f"{{{', '.join(sorted(map(': '.join, pairs)))}}}"
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(self._text, value))}]"
        if isinstance(value, bytes | bytearray | str) and len(value) > _LONGEST:
            whole = value.encode() if isinstance(value, str) else bytes(value)
            return hashlib.sha256(whole).hexdigest()
        text = repr(value)
        for place in self._names:
            text = text.replace(place, "<place>")
        return text

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
        elif isinstance(value, property):
            yield name, value.fget
        elif isinstance(value, types.SimpleNamespace):
            yield from (
                (f"{name}.{inner}", what) for inner, what in vars(value).items()
            )
        elif isinstance(value, dict):
            yield from ((name, one) for pair in value.items() for one in pair)
        elif isinstance(value, _GROUPS):
            yield from ((name, one) for one in value)
        elif isinstance(value, type):
            if self._is_users(value.__module__):
                yield from _attributes(value.__name__, vars(value))
                yield from ((name, base) for base in value.__bases__)
        elif self._is_users(type(value).__module__):
            kind = type(value)
            yield name, kind
            yield from _attributes(kind.__name__, _held_in(value))
            yield from ((name, b(value)) for b in _BASES if isinstance(value, b))

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
    for name, held in vars(function).items():
        yield f"{function.__name__}.{name}", held


def _held_in(value: Any) -> dict[str, Any]:
    """Return the attributes of an object that are its own, in slots or not."""
    held = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        for name, slot in vars(kind).items():
            if isinstance(slot, types.MemberDescriptorType):
                try:
                    held[name] = slot.__get__(value, type(value))
                except AttributeError:
                    continue  # it is not set
    return held


def _attributes(kind: str, held: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, what in held.items():
        function = isinstance(what, staticmethod | classmethod)
        if function or callable(what) or not name.startswith("__"):
            yield f"{kind}.{name}", what.__func__ if function else what


def _names_of(target: Target) -> set[str]:
    """Return the texts by which data names a target, whatever the place."""
    texts = {str(target.path), target.name, *_texts(target.store)}
    for one in target.lasting_values:
        texts.update(_texts(one))
    number = target.name.rpartition("_")[2]
    texts |= {number, target.name.replace("_", "-")}
    texts |= {text.upper() for text in (number, target.name)}
    return {text for text in texts if len(text) >= _SHORTEST}


def _texts(value: Any, depth: int = _DEPTH) -> Iterator[str]:
    if depth == 0 or value is None or isinstance(value, bool):
        return
    if is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from _texts(getattr(value, one.name, None), depth - 1)
        yield from _texts(getattr(value, "addresses", None), depth - 1)
    elif isinstance(value, dict):
        yield from _texts([*value, *value.values()], depth - 1)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _texts(one, depth - 1)
    elif made_at_import.is_data(value):
        yield repr(value).strip("b'\"")
        yield str(value)
        if isinstance(value, uuid.UUID):
            yield value.hex
        if isinstance(value, dt.date | dt.time):
            yield value.isoformat()
