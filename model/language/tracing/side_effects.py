"""Refuses side effects: changes to what a model's methods reach beside its state.

A step that writes to an attribute, a module or a list of its own would have an effect
that no search sees, and that is still there when the next method runs.
"""

from __future__ import annotations

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


class Surroundings:
    """What the methods of a protocol and its parts refer to, as it was at first."""

    def __init__(self, protocol: Protocol) -> None:
        """Note everything that a method could change without being noticed."""
        self._protocol = protocol
        self._reached = list(_reached(protocol))
        self._noted = self._now()

    def check(self, who: str, where: str) -> None:
        """Refuse what has changed since.

        Raises ``ModelError`` that names ``who`` has changed it.
        """
        for (name, _, _), then, now in zip(
            self._reached, self._noted, self._now(), strict=True
        ):
            if then != now:
                message = (
                    f"{who} changes {name}, which is no state of the model, and no "
                    "judge would see it; declare what changes as state(...)"
                )
                raise ModelError(message, where=where)

    def _now(self) -> list[Any]:
        return [_token(scope.get(key), _DEPTH) for _, scope, key in self._reached]


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


def _token(what: object, depth: int) -> Any:
    """Return a token that is equal later only if nothing has changed."""
    if depth and isinstance(what, dict):
        return [(_same(key), _token(value, depth - 1)) for key, value in what.items()]
    if depth and isinstance(what, list | deque | tuple):
        return [_token(value, depth - 1) for value in what]
    if isinstance(what, set):
        return {id(value): _same(value) for value in what}
    if isinstance(what, bytearray):
        return bytes(what)
    if depth and isinstance(what, FunctionType):
        kept = (what.__dict__, what.__defaults__, what.__kwdefaults__)
        return [_same(what), *(_token(one, depth - 1) for one in kept)]
    held = getattr(what, "__dict__", None)
    if depth and isinstance(held, dict) and not isinstance(what, type | ModuleType):
        return [_same(what), _token(held, depth - 1)]
    return _same(what)


class _same:  # noqa: N801 - it reads as a function
    """A reference to an object, equal only to references to the same object."""

    __slots__ = ("what",)

    def __init__(self, what: object) -> None:
        self.what = what

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _same) and (
            self.what is other.what
            or (type(self.what) is type(other.what) is int and self.what == other.what)
        )

    def __hash__(self) -> int:
        return id(self.what)
