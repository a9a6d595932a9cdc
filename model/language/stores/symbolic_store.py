"""State as terms: reads give terms, and writes are kept in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from onceproof.model.errors import ModelError
from onceproof.model.language.expressions.symbolic_value import (
    Symbolic,
    compatible,
    lift,
    of_sort,
)
from onceproof.model.language.source_location import (
    here,
    model_frame,
    model_frames,
)
from onceproof.model.language.stores.store import (
    checked_index,
    refuse_change,
    refuse_old,
)
from onceproof.model.language.stores.swallowed_errors import refuse_caught
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.binding import Loop
from onceproof.model.language.terms.ranges import Ranges
from onceproof.model.language.terms.substitution import substitute
from onceproof.model.language.terms.types import (
    BoolType,
    IntType,
    MemberType,
    OptionalType,
    is_integer,
    lowest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

    from onceproof.model.language.fields import Field
    from onceproof.model.language.sorts import Sort

    Rule = Callable[..., object]
    Ranged = Sequence[tuple[Sort, int]]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FieldWrite:
    """A write to a field, its value in terms of the state before the action."""

    field: str
    """The path of the field."""
    indices: tuple[t.Term, ...]
    """The indices of the element that is written."""
    value: t.Term
    """The new value."""
    vars: tuple[t.Var, ...] = ()
    """The variables of ``value`` where the write is to every element."""
    whole: bool = False
    """Whether the write is to every element."""


def read_through(writes: list[FieldWrite], get: t.Get) -> t.Term:
    """Return the value of ``get`` once ``writes``, in order, have been made."""
    value: t.Term = get
    for write in writes:
        if write.field != get.field:
            continue
        if write.whole:
            value = substitute(
                write.value, dict(zip(write.vars, get.indices, strict=True))
            )
        else:
            hit = t.conjunction(
                t.equality(i, j)
                for i, j in zip(get.indices, write.indices, strict=True)
            )
            value = t.choice(hit, write.value, value)
    return value


@dataclass(frozen=True, slots=True)
class _Index:
    """An index that only a guard which comes after it may keep inside its field."""

    term: t.Term
    last: int
    problem: str
    where: str


def _indices_in(condition: t.Term) -> set[t.Term]:
    """Return the indices by which a condition reads."""
    reads = (term for term in t.subterms(condition) if isinstance(term, t.Get))
    return {index for get in reads for index in get.indices}


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
        self.writes: list[FieldWrite] = []
        self.sized: set[Sort] = set()
        self._after = after
        self._fresh = 0
        self._overwritten: dict[tuple[object, ...], object] = {}
        self._writers: set[FrameType] = set()
        self._unsettled: list[_Index] = []

    def read(self, field: Field, indices: tuple[object, ...]) -> object:
        """Return the term of one element, seeing the writes made so far."""
        places = self._places(field, indices)
        self._overwritten = {
            k: v for k, v in self._overwritten.items() if k[0] != field.path
        }
        return Symbolic(self._now(field, places))

    def read_old(self, field: Field, indices: tuple[object, ...]) -> object:
        """Return the term of one element, whatever has been written."""
        refuse_old(field, frozen=self._frozen)
        places = self._places(field, indices)
        return Symbolic(t.Get(field.path, places, field.type, self._after))

    def is_somebody(self, value: object) -> bool:
        """Return whether the guard says of a value that it is a member."""
        return self._ranges().bounds(lift(value))[0] >= 0

    def write(self, field: Field, indices: tuple[object, ...], value: object) -> None:
        """Keep the change of one element."""
        refuse_change(field, frozen=self._frozen)
        places = self._places(field, indices)
        self.settle_indices()
        frame = model_frame()
        key = (field.path, places)
        code = frame.f_code if frame else None
        # In a sort of one member, first and last are one: no slip.
        alone = any(self.sizes[sort] == 1 for sort in field.sorts)
        if code is not None and self._overwritten.get(key) is code and not alone:
            message = (
                f"{field.path} is given two values in one action, "
                "and nothing reads the first"
            )
            raise ModelError(message, where=here())
        self._overwritten[key] = code
        self._writers.update(model_frames())
        term = self.fit(field, value)
        if field.volatile or term != self._now(field, places):
            self.writes.append(FieldWrite(field.path, places, term))

    def write_all(self, *changes: tuple[Field, Rule]) -> None:
        """Keep the change of every element."""
        made = []
        for field, rule in changes:
            refuse_change(field, frozen=self._frozen)
            self.settle_indices()
            self._writers.update(model_frames())
            bound = tuple(self.fresh(sort) for sort in field.sorts)
            value = self.fit(field, rule(*map(Symbolic, bound)))
            if field.volatile or value != self._now(field, bound):
                made.append(FieldWrite(field.path, (), value, bound, whole=True))
        self.writes += made

    def _now(self, field: Field, places: tuple[t.Term, ...]) -> t.Term:
        """Return what an element holds now: to write that again changes nothing.

        A write to a volatile field is kept all the same: it is what makes a crash.
        """
        get = t.Get(field.path, places, field.type, self._after)
        return read_through(self.writes, get)

    def require(self, condition: object, *, late: bool = False) -> None:
        """Keep a conjunct of the guard.

        It may come after an effect only in a method that is called after it.
        """
        refuse_caught()
        if not late and model_frame() in self._writers:
            message = (
                "a guard after an effect; write when(...) before any assignment, or "
                "call the method that has the effect after it"
            )
            raise ModelError(message, where=here())
        term = lift(condition)
        if not isinstance(t.sort_of(term), BoolType):
            message = f"when(...) needs a truth value, not {t.sort_of(term)}"
            raise ModelError(message, where=here())
        for part in t.conjuncts(term):
            self.settle_indices(part)
            self.guard.append(part)

    def loop(
        self, ranges: Ranged, give: Callable[..., T], frame: FrameType
    ) -> Iterator[T]:
        """Return a variable for each sort, bound by the quantifier around it."""

        def fresh() -> tuple[T, tuple[t.Var, ...]]:
            variables = tuple(self.fresh(sort) for sort, _ in ranges)
            return give(tuple(map(Symbolic, variables))), variables

        names = ", ".join(sort.name for sort, _ in ranges)
        return cast("Iterator[T]", Loop(fresh, names, frame))

    def uses_size(self, sort: Sort) -> None:
        """Note that the trace holds for this size only."""
        self.sized.add(sort)

    def fresh(self, sort: Sort, name: str = "") -> t.Var:
        """Make a variable for a member of ``sort``."""
        self._fresh += 1
        suffix = "'" if self._after else ""
        name = name or f"{sort.name.lower()}{suffix}${self._fresh}"
        return t.Var(name, MemberType(sort))

    def _places(self, field: Field, indices: tuple[object, ...]) -> tuple[t.Term, ...]:
        checked_index(field, indices)
        return self.indexed(field.path, field.sorts, indices)

    def indexed(
        self, path: str, sorts: Sequence[Sort], indices: tuple[object, ...]
    ) -> tuple[t.Term, ...]:
        """Return the terms of an index. Refuse what may be no member of its sort."""
        terms = tuple(lift(i) for i in indices)
        for term, sort in zip(terms, sorts, strict=True):
            type_ = t.sort_of(term)
            mine = isinstance(type_, MemberType) and type_.sort is sort
            plain = mine and not isinstance(type_, OptionalType)
            if plain and isinstance(term, t.Var | t.Get):
                continue
            nobody = isinstance(type_, OptionalType)
            if mine and nobody and self._ranges().bounds(term)[0] < 0:
                message = (
                    f"the index of {path} may be nobody; guard it with "
                    f"when(... != nobody), or go through the members, as in "
                    f"any_of(all_of(... == m, self.{path}[m]) for m in ...)"
                )
                self._wait(term, sort, message)
                continue
            if not mine and not (is_integer(type_) and sort.ordered):
                message = f"{path} is indexed by {sort.name}, not by {type_}"
                raise ModelError(message, where=here())
            low, high = self._ranges().bounds(term)
            if low < 0 or high >= self.sizes[sort]:
                message = (
                    f"the index of {path} may be {low}..{high}, outside "
                    f"0..{self.sizes[sort] - 1} of {sort.name}; guard it with "
                    "when(...), or keep it inside by min_of(...) or max_of(...)"
                )
                self._wait(term, sort, message)
        return terms

    def _wait(self, index: t.Term, sort: Sort, problem: str) -> None:
        """Let a guard that comes later keep an index inside. Refuse where none can.

        What never happens reads nothing.
        """
        if self._never():
            return
        if self._frozen:
            raise ModelError(problem, where=here())
        last = self.sizes[sort] - 1
        self._unsettled.append(_Index(index, last, problem, here()))

    def settle_indices(self, condition: t.Term | None = None) -> None:
        """Refuse an index that no guard keeps inside its field.

        Those that a ``condition`` reads by must be kept inside by the guards before
        it, and all others by the whole guard, before anything is written.
        """
        read = None if condition is None else _indices_in(condition)
        ranges, left = self._ranges(), []
        for index in self._unsettled:
            low, high = ranges.bounds(index.term)
            if read is not None and index.term not in read:
                left.append(index)
            elif (low < 0 or high > index.last) and not self._never():
                raise ModelError(index.problem, where=index.where)
        self._unsettled = left

    def _never(self) -> bool:
        """Return whether the guard says that the action never happens."""
        return t.FALSE in self.guard or self._ranges().impossible

    def _ranges(self) -> Ranges:
        return Ranges(self.sizes).assuming(t.conjunction(self.guard))

    def fit(self, field: Field, value: object) -> t.Term:
        """Check that a value is one that a field can hold, and give its term."""
        term = of_sort(lift(value), field.type)
        if not compatible(field.type, t.sort_of(term)):
            message = f"{field.path} holds {field.type}, not {t.sort_of(term)}"
            if isinstance(field.type, OptionalType) and is_integer(t.sort_of(term)):
                message += (
                    "; let an action per the sort have the member that is equal to the "
                    "number, and write that"
                )
            raise ModelError(message, where=here())
        if self._never():
            return term
        if isinstance(field.type, MemberType):
            self._fit_member(field, field.type, term)
        if isinstance(field.type, IntType):
            low, high = self._ranges().bounds(term)
            if low < field.type.low or high > field.type.high:
                message = (
                    f"{field.path} holds {field.type}, and this value may be "
                    f"{low}..{high}; guard the action with when(...), or use if_else"
                )
                raise ModelError(message, where=here())
        return term

    def _fit_member(self, field: Field, type_: MemberType, term: t.Term) -> None:
        """Refuse nobody where a member is needed, and numbers that are no member."""
        low, high = self._ranges().bounds(term)
        last = self.sizes[type_.sort] - 1
        if low >= lowest(type_) and high <= last:
            return
        if isinstance(t.sort_of(term), OptionalType):
            message = (
                f"{field.path} holds {type_}, and this may be nobody; guard the action "
                "with when(... != nobody), or declare it by nobody_of(...)"
            )
        else:
            message = (
                f"{field.path} holds {type_}, 0..{last}, and this may be {low}..{high};"
                " guard the action with when(...), or use if_else"
            )
        raise ModelError(message, where=here())
