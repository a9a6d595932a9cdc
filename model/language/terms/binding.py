"""Which loop over a sort a quantifier binds: a ``for`` of its own generator, no other.

While a model is traced, a loop over a sort runs once, with a variable in the place of
every member. That means what the loop means in Python only where a quantifier takes
each value that the loop gives, and nothing else sees the loop. So a loop is bound where
it is a ``for`` of the generator expression that was handed to the innermost quantifier.
All others are refused: those of lists, functions and of what Python itself goes through
(``sum``, ``zip``, ``sorted``).
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from types import GeneratorType
from typing import TYPE_CHECKING, Generic, TypeVar

from onceproof.model.errors import ModelError
from onceproof.model.language.source_location import here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, FrameType

    from onceproof.model.language.terms import terms as t

T = TypeVar("T")

_HELP = (
    "write all_of(count(self.vote[p, c] for c in self.C) <= 1 for p in self.P); "
    "to update every member use self.field.set(lambda r: ...)"
)


class Scope:
    """What a quantifier goes through, and the variables of its loops that run now."""

    def __init__(self, source: object) -> None:
        """Begin before the first value of ``source``."""
        self.generator = source if isinstance(source, GeneratorType) else None
        self.running: list[tuple[t.Var, ...]] = []

    @property
    def bound(self) -> tuple[t.Var, ...]:
        """The variables that the value at hand may speak of."""
        return tuple(var for loop in self.running for var in loop)

    def owns(self, frame: FrameType) -> bool:
        """Return whether a frame is going through a ``for`` of the generator."""
        if self.generator is None or self.generator.gi_frame is not frame:
            return False
        return frame.f_lasti in _own_loops(frame.f_code)


_scopes: ContextVar[tuple[Scope, ...]] = ContextVar("scopes", default=())


@contextmanager
def _opened(source: object) -> Iterator[Scope]:
    scope = Scope(source)
    token = _scopes.set((*_scopes.get(), scope))
    try:
        yield scope
    finally:
        _scopes.reset(token)


class Loop(Generic[T]):
    """A loop over members, as it is traced: one round, for variables that are bound."""

    def __init__(
        self,
        fresh: Callable[[], tuple[T, tuple[t.Var, ...]]],
        name: str,
        frame: FrameType,
    ) -> None:
        """Begin a loop of ``frame``; ``fresh`` makes its variables.

        Raises ``ModelError`` where it is no ``for`` that asks.
        """
        self._fresh = fresh
        self._name = name
        self._scope: Scope | None = None
        if _instructions(frame.f_code).get(frame.f_lasti) != "GET_ITER":
            raise self._refusal()

    def __next__(self) -> T:
        """Return the variables in the first round, and end in the second.

        Raises ``ModelError`` unless a quantifier's own ``for`` asks.
        """
        frame = sys._getframe(1)
        scopes = _scopes.get()
        if not scopes or not scopes[-1].owns(frame):
            raise self._refusal()
        if self._scope is not None:
            self._scope.running.pop()
            raise StopIteration
        _refuse_keeping(frame.f_code, frame.f_lineno)
        self._scope = scopes[-1]
        value, variables = self._fresh()
        self._scope.running.append(variables)
        return value

    def _refusal(self) -> ModelError:
        message = (
            f"a loop over {self._name} must be inside all_of, any_of, count or total, "
            "as a `for` of the generator itself and not of a list, a function or a "
            f"call in it; {_HELP}"
        )
        return ModelError(message, where=here())


def gathered(source: Iterable[T]) -> list[tuple[T, tuple[t.Var, ...]]]:
    """List the values that a quantifier was given, and what is bound at each.

    Raises ``ModelError`` for a generator that was used before.
    """
    used = isinstance(source, GeneratorType) and (
        inspect.getgeneratorstate(source) != inspect.GEN_CREATED
    )
    if used:
        message = (
            "this generator has been used before, so that values of it are missing; "
            "write it anew for each quantifier"
        )
        raise ModelError(message, where=here())
    with _opened(source) as scope:
        return [(value, scope.bound) for value in source]


@functools.lru_cache(maxsize=4096)
def _instructions(code: CodeType) -> dict[int, str]:
    """Name the instructions of some code, by their places."""
    return {step.offset: step.opname for step in dis.get_instructions(code)}


@functools.lru_cache(maxsize=4096)
def _own_loops(code: CodeType) -> frozenset[int]:
    """Find where a generator expression asks its own loops for their next.

    The value that it yields is given inside all of them. The loop of a list in it may
    be part of the same code (as from Python 3.12 on), and nothing is yielded in there.
    """
    if code.co_name != "<genexpr>":
        return frozenset()
    steps = list(dis.get_instructions(code))
    yields = [step.offset for step in steps if step.opname == "YIELD_VALUE"]
    return frozenset(
        step.offset
        for step in steps
        if step.opname == "FOR_ITER"
        and any(step.offset < place < step.argval for place in yields)
    )


@functools.lru_cache(maxsize=4096)
def _kept(code: CodeType) -> str:
    """Name what some code assigns outside of itself, by ``:=`` say, if anything."""
    for step in dis.get_instructions(code):
        outside = step.opname in ("STORE_GLOBAL", "STORE_NAME") or (
            step.opname == "STORE_DEREF" and step.argval in code.co_freevars
        )
        if outside:
            return str(step.argval)
    return ""


def _refuse_keeping(code: CodeType, line: int) -> None:
    name = _kept(code)
    if name:
        message = (
            f"`{name} := ...` in a quantifier keeps a value from one member to the "
            "next; let each value depend on its own members alone"
        )
        raise ModelError(message, where=f"{code.co_filename}:{line}")
