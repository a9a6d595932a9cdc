"""Where a protocol's state lives while one of its methods runs.

The same method runs over a plain store (values: the reference semantics) or a
symbolic one (terms: the trace). A protocol only ever speaks to its store.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from onceproof.model.errors import ModelError
from onceproof.model.language.expressions import (
    Symbolic,
    compatible,
    lift,
    plain_truth,
)
from onceproof.model.language.sorts import Member, Sort
from onceproof.model.language.source_location import here, model_frame
from onceproof.model.language.stores.swallowed_errors import refuse_caught
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.binding import Loop
from onceproof.model.language.terms.ranges import Ranges
from onceproof.model.language.terms.types import (
    BoolType,
    IntType,
    MemberType,
    Value,
    is_integer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

    from onceproof.model.language.fields import Field

    Rule = Callable[..., object]
    Ranged = Sequence[tuple[Sort, int]]

T = TypeVar("T")


class Disabled(Exception):  # noqa: N818 - it is no error: the action cannot happen
    """Ends a plain run of an action whose guard does not hold."""


class Store(Protocol):
    """What a protocol asks of the place where its state lives."""

    def read(self, field: Field, indices: tuple[object, ...]) -> object:
        """Give the value of one element of a field."""
        ...

    def write(self, field: Field, indices: tuple[object, ...], value: object) -> None:
        """Change one element of a field."""
        ...

    def write_all(self, field: Field, rule: Rule) -> None:
        """Change every element of a field at once, to what the rule says."""
        ...

    def fit(self, field: Field, value: object) -> object:
        """Check that a value is one that a field can hold, and give it."""
        ...

    def require(self, condition: object, *, late: bool = False) -> None:
        """Let the action happen only where the condition holds.

        ``late`` is for what the language itself asks for: an action's effects may
        come first.
        """
        ...

    def loop(
        self, ranges: Ranged, give: Callable[..., T], frame: FrameType
    ) -> Iterator[T]:
        """Go through the members of sorts for ``frame``; ``give`` shapes each tuple."""
        ...

    def uses_size(self, sort: Sort) -> None:
        """Note that the model depends on the number of a sort's members."""
        ...


_active: ContextVar[Store | None] = ContextVar("active", default=None)


@contextmanager
def running(store: Store) -> Iterator[None]:
    """Let ``when`` speak to ``store``."""
    token = _active.set(store)
    try:
        yield
    finally:
        _active.reset(token)


def when(*conditions: bool) -> None:
    """Let an action happen only in states where every condition holds."""
    store = _active.get()
    if not conditions:
        message = "when() needs a condition; leave it out where there is none"
        raise ModelError(message, where=here())
    if store is None:
        message = "when(...) is the guard of an action or fault; use it only there"
        raise ModelError(message, where=here())
    for condition in conditions:
        store.require(condition)


def checked_index(field: Field, indices: tuple[object, ...]) -> None:
    """Refuse an index list of the wrong length."""
    if len(indices) != len(field.sorts):
        wanted = ", ".join(s.name for s in field.sorts) or "no index"
        message = f"{field.path} is indexed by {wanted}, not by {len(indices)} values"
        raise ModelError(message, where=here())


def refuse_change(field: Field, *, frozen: bool) -> None:
    """Refuse to change a state that is only looked at."""
    if frozen:
        message = f"a claim only looks at a state; it cannot change {field.path}"
        raise ModelError(message, where=here())


class PlainStore:
    """Values, as Python has them: the reference semantics of every model."""

    def __init__(
        self,
        values: dict[str, dict[tuple[int, ...], Value]],
        *,
        frozen: bool = False,
    ) -> None:
        """Start from ``values``; they are changed in place, unless it is ``frozen``."""
        self.values = values
        self._frozen = frozen

    def read(self, field: Field, indices: tuple[object, ...]) -> object:
        """Give the value of one element."""
        checked_index(field, indices)
        try:
            return self.values[field.path][cast("tuple[int, ...]", indices)]
        except KeyError:
            message = f"{field.path} has no element {list(indices)}"
            raise ModelError(message, where=here()) from None

    def write(self, field: Field, indices: tuple[object, ...], value: object) -> None:
        """Change one element, within the bounds of its type."""
        refuse_change(field, frozen=self._frozen)
        self.read(field, indices)
        place = tuple(int(cast("int", i)) for i in indices)
        self.values[field.path][place] = cast("Value", self.fit(field, value))

    def fit(self, field: Field, value: object) -> object:
        """Check that a value is one that a field can hold, and give it."""
        if not isinstance(field.type, IntType):
            return value
        number = int(cast("int", value))
        if not field.type.low <= number <= field.type.high:
            message = f"{field.path} holds {field.type}, not {number}"
            raise ModelError(message, where=here())
        return number

    def write_all(self, field: Field, rule: Rule) -> None:
        """Change every element at once: the rule sees the values before."""
        places = list(self.values[field.path])
        new = [
            rule(*(Member(i, s) for i, s in zip(place, field.sorts, strict=True)))
            for place in places
        ]
        for place, value in zip(places, new, strict=True):
            self.write(field, place, value)

    def require(self, condition: object, *, late: bool = False) -> None:  # noqa: ARG002
        """End the action where the condition does not hold."""
        if not plain_truth(condition):
            raise Disabled

    def loop(
        self,
        ranges: Ranged,
        give: Callable[..., T],
        frame: FrameType,  # noqa: ARG002 - anyone may go through plain members
    ) -> Iterator[T]:
        """Go through the members by index."""
        members = ([Member(i, sort) for i in range(size)] for sort, size in ranges)
        return map(give, itertools.product(*members))

    def uses_size(self, sort: Sort) -> None:
        """Note nothing: plain runs have a size anyway."""


class UnguardedStore(PlainStore):
    """Values, for a run of an action that goes on where its guard does not hold."""

    def require(self, condition: object, *, late: bool = False) -> None:  # noqa: ARG002
        """Go on, whatever the condition is."""
        plain_truth(condition)


@dataclass(frozen=True, slots=True)
class Write:
    """A change of a field, its value in terms of the state before the action.

    With ``vars`` the change is of every element, and ``value`` holds those
    variables; else it is of the element at ``indices``.
    """

    field: str
    indices: tuple[t.Term, ...]
    value: t.Term
    vars: tuple[t.Var, ...] = ()
    whole: bool = False


def read_through(writes: list[Write], get: t.Get) -> t.Term:
    """Give the value of ``get`` once ``writes``, in order, have been made."""
    value: t.Term = get
    for write in writes:
        if write.field != get.field:
            continue
        if write.whole:
            value = t.substitute(
                write.value, dict(zip(write.vars, get.indices, strict=True))
            )
        else:
            hit = t.conjunction(
                t.equality(i, j)
                for i, j in zip(get.indices, write.indices, strict=True)
            )
            value = t.choice(hit, write.value, value)
    return value


def process_sort(process: object) -> Sort:
    """Give the sort of a member, whichever world it is from."""
    type_ = t.sort_of(lift(process))
    if not isinstance(type_, MemberType):
        message = f"a member of a sort is needed here, not {type_}"
        raise ModelError(message, where=here())
    return type_.sort


class SymbolicStore:
    """Terms: reads give terms over the state before, writes are kept in order."""

    def __init__(
        self, sizes: Mapping[Sort, int], *, after: bool = False, frozen: bool = False
    ) -> None:
        """Trace over sorts of the given sizes; ``after`` reads the next state.

        A ``frozen`` store refuses to be written to.
        """
        self._frozen = frozen
        self.sizes = sizes
        self.guard: list[t.Term] = []
        self.writes: list[Write] = []
        self.sized: set[Sort] = set()
        self._after = after
        self._fresh = 0
        self._overwritten: dict[tuple[object, ...], object] = {}

    def read(self, field: Field, indices: tuple[object, ...]) -> object:
        """Give the term of one element, seeing the writes made so far."""
        places = self._places(field, indices)
        get = t.Get(field.path, places, field.type, self._after)
        self._overwritten = {
            k: v for k, v in self._overwritten.items() if k[0] != field.path
        }
        return Symbolic(read_through(self.writes, get))

    def write(self, field: Field, indices: tuple[object, ...], value: object) -> None:
        """Keep the change of one element."""
        refuse_change(field, frozen=self._frozen)
        places = self._places(field, indices)
        frame = model_frame()
        key = (field.path, places)
        code = frame.f_code if frame else None
        if code is not None and self._overwritten.get(key) is code:
            message = (
                f"{field.path} is given two values in one action, "
                "and nothing reads the first"
            )
            raise ModelError(message, where=here())
        self._overwritten[key] = code
        self.writes.append(Write(field.path, places, self.fit(field, value)))

    def write_all(self, field: Field, rule: Rule) -> None:
        """Keep the change of every element."""
        refuse_change(field, frozen=self._frozen)
        bound = tuple(self.fresh(sort) for sort in field.sorts)
        value = self.fit(field, rule(*(Symbolic(var) for var in bound)))
        self.writes.append(Write(field.path, (), value, bound, whole=True))

    def require(self, condition: object, *, late: bool = False) -> None:
        """Keep a conjunct of the guard."""
        refuse_caught()
        if self.writes and not late:
            message = "a guard after an effect; write when(...) before any assignment"
            raise ModelError(message, where=here())
        term = lift(condition)
        if not isinstance(t.sort_of(term), BoolType):
            message = f"when(...) needs a truth value, not {t.sort_of(term)}"
            raise ModelError(message, where=here())
        self.guard.extend(t.conjuncts(term))

    def loop(
        self, ranges: Ranged, give: Callable[..., T], frame: FrameType
    ) -> Iterator[T]:
        """Give a variable for each sort, bound by the quantifier around it."""

        def fresh() -> tuple[T, tuple[t.Var, ...]]:
            variables = tuple(self.fresh(sort) for sort, _ in ranges)
            return give(tuple(map(Symbolic, variables))), variables

        names = ", ".join(sort.name for sort, _ in ranges)
        return cast("Iterator[T]", Loop(fresh, names, frame))

    def uses_size(self, sort: Sort) -> None:
        """Note that the trace holds for this size only."""
        self.sized.add(sort)

    def fresh(self, sort: Sort, name: str = "") -> t.Var:
        """Make a variable that stands for a member of ``sort``."""
        self._fresh += 1
        suffix = "'" if self._after else ""
        name = name or f"{sort.name.lower()}{suffix}${self._fresh}"
        return t.Var(name, MemberType(sort))

    def _places(self, field: Field, indices: tuple[object, ...]) -> tuple[t.Term, ...]:
        checked_index(field, indices)
        terms = tuple(lift(i) for i in indices)
        for term, sort in zip(terms, field.sorts, strict=True):
            type_ = t.sort_of(term)
            if isinstance(type_, MemberType) and type_.sort is sort:
                continue
            if not (is_integer(type_) and sort.ordered):
                message = f"{field.path} is indexed by {sort.name}, not by {type_}"
                raise ModelError(message, where=here())
            low, high = self._ranges().bounds(term)
            if low < 0 or high >= self.sizes[sort]:
                message = (
                    f"the index of {field.path} may be {low}..{high}, outside "
                    f"0..{self.sizes[sort] - 1} of {sort.name}; guard it with when(...)"
                )
                raise ModelError(message, where=here())
        return terms

    def _ranges(self) -> Ranges:
        return Ranges(self.sizes).assuming(t.conjunction(self.guard))

    def fit(self, field: Field, value: object) -> t.Term:
        """Check that a value is one that a field can hold, and give its term."""
        term = lift(value)
        if not compatible(field.type, t.sort_of(term)):
            message = f"{field.path} holds {field.type}, not {t.sort_of(term)}"
            raise ModelError(message, where=here())
        if isinstance(field.type, IntType) and t.FALSE not in self.guard:
            low, high = self._ranges().bounds(term)
            if low < field.type.low or high > field.type.high:
                message = (
                    f"{field.path} holds {field.type}, and this value may be "
                    f"{low}..{high}; guard the action with when(...), or use if_else"
                )
                raise ModelError(message, where=here())
        return term
