"""Parts: pieces of a protocol with state, actions and faults of their own."""

from __future__ import annotations

import copy
import sys
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Self,
    TypeVar,
    cast,
)

from onceproof.model.errors import ModelError, UsageError
from onceproof.model.language.composition.arguments import (
    MOST_NUMBER,
    filled,
    given_in_line,
    number,
    refuse_arguments,
    refuse_second_name,
    unknown,
)
from onceproof.model.language.composition.declaring import Declaring
from onceproof.model.language.composition.reserved_names import (
    OF_PROTOCOLS,
    names_of,
    refuse_reserved,
)
from onceproof.model.language.composition.sizes import Fixed, Watched
from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.declarations.decorators import kebab
from onceproof.model.language.declarations.overrides import (
    refuse_hidden_in_instance,
    refuse_lost_declarations,
    refuse_lost_since,
)
from onceproof.model.language.declarations.state import State
from onceproof.model.language.expressions.logic import if_else
from onceproof.model.language.expressions.symbolic_value import process_sort
from onceproof.model.language.fields import Field, OneOf, Param
from onceproof.model.language.sorts import AnyMember, Member, Members, Sort
from onceproof.model.language.source_location import (
    asked_by_model,
    here,
    modelling,
)
from onceproof.model.language.stores.member_store import MemberStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from onceproof.model.language.stores.store import StateStore

Observed = TypeVar("Observed")

_LANGUAGE = "onceproof.model.language."


class Part(metaclass=Declaring):
    """A piece of a protocol with its own state, actions and faults.

    Its owner calls its methods, which are inlined into the owner's actions. Its state
    is named by its path, such as ``sink.rows``.
    """

    breaks: ClassVar[tuple[str, ...]] = ()
    """Names the properties that do not hold of a protocol because of this class.

    No run satisfies a witness that is named here. All other properties hold. A part
    names its own claims without its path, and states it for the parts inside it too. A
    protocol that names properties, or says ``breaks = ()``, states it for the parts
    that it declares. A vacuous claim counts neither as held nor as broken.
    """

    breaks_in: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Names what else does not hold of some protocols because of this class.

    Maps a protocol's name to properties that hold with this part in other protocols, or
    the name of another part to properties that break where the two come together.
    Subclasses count, too.
    """

    fair_actions: ClassVar[tuple[str, ...]] = ()
    """Names actions that are fair although their declarations do not say so.

    A name may contain ``*``: ``("*",)`` makes every action fair, and
    ``("drivers.*",)`` those of a part.
    """

    part_sorts: tuple[Sort, ...] = ()
    made_with: Mapping[str, object] = Fixed()
    _in_line: ClassVar[Mapping[str, object]] = Fixed()

    def __init__(self, **arguments: object) -> None:
        """Take sizes of sorts, parameters and parts by name.

        A part is a template: a protocol that it is given to makes a copy of its own.
        """
        self._sizes: Mapping[Sort, int] = {}
        self._given: dict[Sort, int] = {}
        self._arguments: dict[str, int] = {}
        self._path = ""
        self._owner: Part = self
        self._holder: Part | None = None
        self._members: tuple[object, ...] = ()
        self._store: StateStore | None = None
        self._fixed = False
        self._fields: dict[str, Field] = {}
        self._marks: dict[type, Any] = {}
        templates: dict[str, Part] = {}
        refuse_lost_since(type(self))
        for name in arguments:
            if name not in self.parameters():
                raise UsageError(unknown(type(self), name))
        arguments = {**given_in_line(type(self)), **arguments}
        self.made_with = Fixed(arguments)
        for name, what in self.declared().items():
            if isinstance(what, Sort):
                refuse_second_name(name, what)
                size = arguments.get(name, what.size)
                self._given[what] = number(name, size, 1, what.most)
            elif isinstance(what, Param):
                value = arguments.get(name, what.default)
                self._arguments[name] = number(name, value, 0, MOST_NUMBER)
            elif isinstance(what, Slot):
                templates[name] = filled(what, arguments.get(name))
        self.parts: Mapping[str, Part] = Fixed(templates)

    def __init_subclass__(cls, **arguments: object) -> None:
        """Take sizes, parameters and parts that the class has unless others are given.

        Refuses a name that the language uses itself, and declarations that vanish.
        """
        super().__init_subclass__()
        if not cls.__module__.startswith(_LANGUAGE):
            refuse_reserved(cls, names_of(Part) | OF_PROTOCOLS)
        refuse_lost_declarations(cls)
        cls._in_line = Fixed(arguments)
        refuse_arguments(cls, arguments)

    def __setattr__(self, name: str, value: object) -> None:
        """Change state; refuse a name under which none is declared."""
        looking = self.__dict__.get("_store") is not None
        if looking and not isinstance(getattr(type(self), name, 0), State):
            message = (
                f"{self.label()} has no state {name!r}; "
                f"declare it in the class, as {name} = state(...)"
            )
            raise ModelError(message, where=here())
        if not looking:
            refuse_hidden_in_instance(type(self), name)
        super().__setattr__(name, value)

    def __eq__(self, other: object) -> bool:
        """Refuse to compare parts in a model: only members and state are compared."""
        if self._store is not None and asked_by_model(sys._getframe(1)):
            message = (
                "parts cannot be compared; compare the members that they are for, or "
                "their state"
            )
            raise ModelError(message, where=here())
        return self is other

    __hash__ = object.__hash__

    @property
    def sizes(self) -> Mapping[Sort, int]:
        """The size of each sort. A model that asks is proved for this size only."""
        if self._store is None:
            return MappingProxyType(self._sizes)
        return Watched(self._sizes, self._store)

    def size_of(self, sort: Sort, *, where: str = "") -> int:
        """Return the size of a sort without noting that the model depends on it.

        Raises ``ModelError`` for a sort that has none, at ``where`` or the line that
        runs.
        """
        if sort not in self._sizes:
            message = (
                f"{sort.text!r} is no sort of {self._owner.label()}; "
                "declare it in the class, and use that"
            )
            raise ModelError(message, where=where or here())
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if self._store is not None and not caller.startswith(_LANGUAGE):
            self._store.uses_size(sort)
        return self._sizes[sort]

    def own_size(self, sort: Sort) -> int:
        """Return the size that a sort of this part was given."""
        return self._given[sort]

    @classmethod
    def declared(cls) -> dict[str, Any]:
        """List what the class and its bases declare, in order, by name."""
        found: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            found.update(vars(base))
        return found

    @classmethod
    def parameters(cls) -> dict[str, Sort | Param | Slot[Any]]:
        """List what can be set when the class is instantiated, by name."""
        return {
            name: what
            for name, what in cls.declared().items()
            if isinstance(what, Sort | Param)
            or (isinstance(what, Slot) and not what.fixed)
        }

    @classmethod
    def label(cls) -> str:
        """Name the class as the command line does."""
        return kebab(cls.__name__)

    def _settle(
        self,
        owner: Part,
        holder: Part | None,
        slot: Slot[Any] | None,
        sizes: dict[Sort, int],
    ) -> None:
        """Take a place in a protocol of some sizes, with copies of the parts inside."""
        if holder is not None and slot is not None:
            self._path = holder.path_to(slot.name)
            self.part_sorts = (*holder.part_sorts, *slot.sorts)
        self._owner = owner
        self._holder = holder
        self._take_sizes(sizes)
        self._fields = {
            name: field
            for declared in self.declared().values()
            if isinstance(declared, State)
            for name, field in declared.fields(self).items()
        }
        settled = {name: copy.copy(inner) for name, inner in self.parts.items()}
        for name, inner in settled.items():
            place = self.declared()[name]
            with modelling(place.where):
                inner._settle(owner, self, place, sizes)  # noqa: SLF001 - a part
        self.parts = Fixed(settled)

    def _take_sizes(self, sizes: dict[Sort, int]) -> None:
        """Add the sizes of sorts that are this part's own to the protocol's."""
        for sort, size in self._given.items():
            known = sizes.setdefault(sort, size)
            if known != size and sort.name in self.made_with and not self._owner._fixed:  # noqa: SLF001 - a part
                message = (
                    f"{self._path} is made with {sort.name}={size}, and "
                    f"{self._owner.label()} has {sort.name}={known}; they share the "
                    f"sort, so set it once, as {type(self._owner).__name__}("
                    f"{sort.name}={size}) or --set {sort.name}={size}"
                )
                raise UsageError(message)
        self._sizes = sizes

    def path_to(self, name: str) -> str:
        """Name something of this part from the protocol's point of view."""
        return f"{self._path}.{name}" if self._path else name

    def field(self, name: str) -> Field:
        """Return the resolved field of that name."""
        return self._fields[name]

    def argument(self, which: Param) -> int:
        """Return the value of a parameter, of a holder where it is not its own."""
        if which.name in self._arguments:
            return self._arguments[which.name]
        if self._holder is None:
            message = f"{which.name} is no parameter of {self.label()}"
            raise ModelError(message, where=here())
        return self._holder.argument(which)

    def members(self, sort: Sort) -> Members:
        """Return the members of a sort as the store sees them."""
        return Members(sort, self.size_of(sort), self.store)

    @property
    def store(self) -> StateStore:
        """The state that this protocol is looking at."""
        if self._store is None:
            message = (
                f"{self.label()} is a description here, with no state to read; "
                "states are met inside actions, faults and properties"
            )
            raise ModelError(message, where=here())
        return self._store

    def bound(self, store: StateStore, members: tuple[object, ...] = ()) -> Self:
        """Return a copy that looks at ``store``, as the part of some ``members``."""
        bound = self.__class__.__new__(self.__class__)
        parts = {name: p.bound(store, members) for name, p in self.parts.items()}
        bound.__dict__.update(
            self.__dict__, _store=store, _members=members, parts=Fixed(parts)
        )
        return bound

    def with_store(self, store: StateStore) -> Self:
        """Return a copy for the same members that looks at another store."""
        return self.bound(store, self._members)

    def part_for(self, members: tuple[object, ...]) -> Self:
        """Return the part of some members, where there is one for each."""
        store = MemberStore(self.store, members)
        return self.bound(store, (*self._members, *members))

    def part_at(
        self, path: Sequence[str], members: tuple[Any, ...] = ()
    ) -> tuple[Part, tuple[Any, ...]]:
        """Return the part that a path leads to, and the members that are left.

        A part for each member takes its own from the first of the ``members``.
        """
        found: Part = self
        for name in path:
            inner = found.parts[name]
            taken = len(inner.part_sorts) - len(found.part_sorts)
            found = inner.part_for(members[:taken]) if taken else inner
            members = members[taken:]
        return found, members

    def part_around(self) -> Part:
        """Return the protocol, or the part for a member, that this is a piece of."""
        found: Part = self
        while (holder := found._holder) and holder.part_sorts == self.part_sorts:
            found = holder
        return found.bound(self.store, self._members)

    def lose_volatile(self, *process: Member) -> None:
        """Put volatile state, of parts as well, back to its initial value.

        With a ``process``, only the elements whose first index it is.
        """
        for field in self._fields.values():
            if not field.volatile:
                continue
            if isinstance(field.initial, OneOf | AnyMember):
                message = (
                    f"{field.path} is volatile and starts from several values, so a "
                    "crash would not know which; let it start from one, or from "
                    "nobody_of(SORT), or leave out volatile="
                )
                raise ModelError(message, where=field.where)
            sorts = field.sorts[len(self._members) :]
            if not process:
                self.store.write_all((field, self._start_of(field)))
            elif sorts and sorts[0] is process_sort(process[0]):
                self._lose_of(field, process[0])
        for inner in self.parts.values():
            inner.lose_volatile(*process)

    def _lose_of(self, field: Field, process: Member) -> None:
        def left(*at: Member) -> object:
            kept = self.store.read(field, at)
            return if_else(at[0] == process, self._start_of(field)(*at), kept)

        self.store.write_all((field, left))

    def _start_of(self, field: Field) -> Callable[..., object]:
        return lambda *at: field.start(*cast("Any", self._members), *at)

    def all_fields(self) -> Iterator[Field]:
        """Yield the fields of this part and its parts, in order of declaration."""
        yield from self._fields.values()
        for inner in self.parts.values():
            yield from inner.all_fields()

    def holds_at_most(self) -> Mapping[str, int]:
        """Return limits of this part that are no parameters, by their path.

        A verdict names them, since what goes beyond them cannot happen in the model.
        """
        return {}

    def all_parts(self) -> Iterator[Part]:
        """Yield this part and the parts inside it."""
        yield self
        for inner in self.parts.values():
            yield from inner.all_parts()

    def marked(
        self, kind: type[Observed]
    ) -> Iterator[tuple[str, Observed, Callable[..., Any]]]:
        """Yield name, mark and bound method of everything marked as ``kind``."""
        for name, mark in self._marks_of(kind):
            yield self.path_to(name), mark, getattr(self, name)

    def _marks_of(self, kind: type[Observed]) -> tuple[tuple[str, Observed], ...]:
        """Return the marks of a kind by name; copies that look at states share them."""
        known: dict[type, Any] = self._marks
        if kind not in known:
            marks = (
                (name, getattr(what, "onceproof_mark", None))
                for name, what in self.declared().items()
            )
            known[kind] = tuple(one for one in marks if isinstance(one[1], kind))
        return cast("tuple[tuple[str, Observed], ...]", known[kind])
