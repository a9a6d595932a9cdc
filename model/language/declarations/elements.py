"""The elements of a family of state, in one state: read, changed, chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, overload

from onceproof.model.errors import ModelError
from onceproof.model.language.declarations.records import read, write, write_all
from onceproof.model.language.expressions.logic import if_else
from onceproof.model.language.fields import Field
from onceproof.model.language.source_location import here

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.language.declarations.records import Held
    from onceproof.model.language.sorts import Member
    from onceproof.model.language.stores.store import StateStore

T = TypeVar("T")


class Elements(Generic[T]):
    """The elements of a family, in one state."""

    def __init__(self, store: StateStore, held: Held) -> None:
        """Look at what is ``held`` through ``store``."""
        self._store = store
        self._held = held

    def __getitem__(self, at: int | tuple[int, ...]) -> T:
        """Return the element at a member, or at a tuple of members."""
        return cast("T", read(self._store, self._held, _listed(at)))

    def __setitem__(self, at: int | tuple[int, ...], value: T) -> None:
        """Change the element at a member, or at a tuple of members."""
        write(self._store, self._held, _listed(at), value)

    def fill(self, value: T) -> None:
        """Change every element to ``value``."""
        write_all(self._store, self._held, lambda *_: value)

    @overload
    def where(self, condition: Callable[[Member], bool]) -> Chosen[T]: ...
    @overload
    def where(self, condition: Callable[[Member, Member], bool]) -> Chosen[T]: ...
    @overload
    def where(
        self, condition: Callable[[Member, Member, Member], bool]
    ) -> Chosen[T]: ...
    def where(self, condition: Callable[..., bool]) -> Chosen[T]:
        """Choose the elements for whose members ``condition(member, ...)`` holds."""
        return Chosen(self._store, self._held, condition)

    @overload
    def set(self, rule: Callable[[Member], T]) -> None: ...
    @overload
    def set(self, rule: Callable[[Member, Member], T]) -> None: ...
    @overload
    def set(self, rule: Callable[[Member, Member, Member], T]) -> None: ...
    def set(self, rule: Callable[..., T]) -> None:
        """Change every element at once to ``rule(member, ...)``, of the values now."""
        write_all(self._store, self._held, rule)


class Chosen(Generic[T]):
    """Those elements of a family for whose members a condition holds."""

    def __init__(
        self, store: StateStore, held: Held, condition: Callable[..., bool]
    ) -> None:
        """Choose elements of what is ``held``; nothing is changed yet."""
        self._store = store
        self._held = held
        self._condition = condition

    def fill(self, value: T) -> None:
        """Change every chosen element to ``value``."""
        self._change(lambda *_: value)

    @overload
    def set(self, rule: Callable[[Member], T]) -> None: ...
    @overload
    def set(self, rule: Callable[[Member, Member], T]) -> None: ...
    @overload
    def set(self, rule: Callable[[Member, Member, Member], T]) -> None: ...
    def set(self, rule: Callable[..., T]) -> None:
        """Change every chosen element at once to ``rule(member, ...)``."""
        self._change(rule)

    def add(self, number: int) -> None:
        """Add ``number`` to every chosen element; the condition keeps it in bounds."""
        store, held = self._store, self._held
        if not isinstance(held, Field):
            message = (
                f"{held.path} is a record, and add(...) is for numbers; write "
                ".set(lambda m: self.NAME[m]._replace(part=self.NAME[m].part + 1))"
            )
            raise ModelError(message, where=here())
        self._change(lambda *at: cast("Any", store.read(held, at)) + number)

    def _change(self, rule: Callable[..., object]) -> None:
        """Change the chosen elements, and leave the others as they are."""
        store, held = self._store, self._held

        def new(*at: Member) -> object:
            return if_else(self._condition(*at), rule(*at), read(store, held, at))

        write_all(store, held, new)


def _listed(at: object) -> tuple[object, ...]:
    return at if isinstance(at, tuple) else (at,)
