"""Refuses side effects: changes to what a model's methods reach beside its state.

A step that writes to an attribute, a module or a list of its own would have an effect
that no search sees, and that is still there when the next method runs.
"""

from __future__ import annotations

import operator
from collections import deque
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onceproof.model.language.composition.part import Part
    from onceproof.model.language.composition.protocol import Protocol

_LANGUAGE = "onceproof.model.language."
_DEPTH = 3
_PLAIN = frozenset({type(None), bool, int, float, str, bytes})
_DICT, _LIST, _SET, _BYTES = object(), object(), object(), object()


class Surroundings:
    """What the methods of a protocol and its parts refer to, as it was at first."""

    def __init__(self, protocol: Protocol) -> None:
        """Note everything that a method could change without being noticed."""
        self._protocol = protocol
        self._reached = list(_reached(protocol))
        self._noted = list(self._now())

    def check(self, who: str, where: str) -> None:
        """Refuse what has changed since.

        Raises ``ModelError`` that names ``who`` has changed it.
        """
        for (name, _, _), then, now in zip(
            self._reached, self._noted, self._now(), strict=True
        ):
            if not _unchanged(then, now):
                message = (
                    f"{who} changes {name}, which is no state of the model, and no "
                    "judge would see it; declare what changes as state(...)"
                )
                raise ModelError(message, where=where)

    def _now(self) -> Iterator[list[object]]:
        for _, scope, key in self._reached:
            found: list[object] = []
            _note(scope.get(key), _DEPTH, found)
            yield found


def refuse_attributes(bound: Protocol, protocol: Protocol, who: str) -> None:
    """Raise ``ModelError`` where a step has set an attribute that is no state.

    ``bound`` is the copy of ``protocol`` that the step ran on.
    """
    for used, part in zip(bound.all_parts(), protocol.all_parts(), strict=True):
        mine, theirs = used.__dict__, part.__dict__
        for name in {**mine, **theirs}:
            if name in ("_store", "parts"):
                continue
            if mine.get(name, mine) is not theirs.get(name, theirs):
                message = (
                    f"{who} changes the attribute {part.path_to(name)}, which is no "
                    f"state; declare it in the class, as {name} = state(...)"
                )
                raise ModelError(message)


def _reached(protocol: Protocol) -> Iterator[tuple[str, Any, str]]:
    """Yield a name, what it is looked up in, and by which key, for all of them."""
    seen: set[tuple[int, str]] = set()
    for part in protocol.all_parts():
        for name, scope, key in _of_part(part):
            if (id(scope), key) not in seen:
                seen.add((id(scope), key))
                yield name, scope, key


def _of_part(part: Part) -> Iterator[tuple[str, Any, str]]:
    for name in vars(part):
        if not name.startswith("_") and name != "parts":
            yield part.path_to(name), vars(part), name
    kinds = [
        kind
        for kind in type(part).__mro__
        if kind is not object and not kind.__module__.startswith(_LANGUAGE)
    ]
    functions = []
    names = dict.fromkeys(name for kind in kinds for name in vars(kind))
    for kind in kinds:
        for name in names:
            if not name.startswith("__"):
                yield f"{kind.__name__}.{name}", vars(kind), name
        for what in vars(kind).values():
            functions += _functions(what)
    yield from _of_functions(functions)


def _functions(what: object) -> list[FunctionType]:
    inner = (getattr(what, name, None) for name in ("fget", "__func__", "func"))
    return [f for f in (what, *inner) if isinstance(f, FunctionType)]


def _of_functions(functions: list[FunctionType]) -> Iterator[tuple[str, Any, str]]:
    """Yield the globals and the variables around functions, and those they call."""
    modules = [function.__globals__ for function in functions]
    seen: set[int] = set()
    for function in functions:
        seen.add(id(function))
        for name in sorted(_names(function.__code__)):
            scope = function.__globals__
            if name not in scope:
                continue
            what = scope[name]
            if isinstance(what, FunctionType):
                yield name, scope, name
                own = any(what.__globals__ is module for module in modules)
                if own and id(what) not in seen:
                    seen.add(id(what))
                    functions.append(what)
            elif isinstance(what, type):
                if what.__module__ == scope.get("__name__"):
                    yield name, _Attributes(what), name
            elif not isinstance(what, ModuleType):
                yield name, scope, name
        cells = zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        )
        for name, cell in cells:
            yield name, _Cell(cell), name


class _Attributes:
    """What a class of the user's holds, read as a dictionary is."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def get(self, _: str) -> object:
        """Return its attributes, as they are now."""
        return {k: v for k, v in vars(self._kind).items() if not k.startswith("__")}


class _Cell:
    """A variable around a function, read as a dictionary is."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    def get(self, _: str) -> object:
        """Return what it holds; nothing where it holds nothing yet."""
        try:
            found: object = self._cell.cell_contents
        except ValueError:
            return None
        return found


def _names(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= _names(inner)
    return found


def _note(what: object, depth: int, found: list[object]) -> None:
    """Add to ``found`` what is the same later only if nothing has changed.

    Objects are added themselves, to be compared by identity: so none of them goes, and
    leaves its place to another.
    """
    kind = type(what)
    if kind in _PLAIN:
        found.append(what)
    elif depth and isinstance(what, dict):
        found += (_DICT, len(what))
        for key, value in what.items():
            found.append(key)
            _note(value, depth - 1, found)
    elif depth and isinstance(what, list | deque | tuple):
        found += (_LIST, len(what))
        for value in what:
            _note(value, depth - 1, found)
    elif isinstance(what, set):
        found += (_SET, len(what), *sorted(what, key=id))
    elif isinstance(what, bytearray):
        found += (_BYTES, bytes(what))
    elif depth and isinstance(what, FunctionType):
        found.append(what)
        for kept in (what.__dict__, what.__defaults__, what.__kwdefaults__):
            _note(kept, depth - 1, found)
    else:
        found.append(what)
        held = getattr(what, "__dict__", None)
        if depth and isinstance(held, dict) and not isinstance(what, type | ModuleType):
            _note(held, depth - 1, found)


def _unchanged(then: list[object], now: list[object]) -> bool:
    return len(then) == len(now) and (
        all(map(operator.is_, then, now)) or all(map(_same, then, now))
    )


def _same(one: object, other: object) -> bool:
    """Return whether two are one object; numbers and bytes, if they are equal."""
    return one is other or (
        type(one) is type(other) and type(one) in (int, bytes) and one == other
    )
