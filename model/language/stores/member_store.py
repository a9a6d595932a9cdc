"""The state of a part per member, as the part of one member sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from onceproof.model.language.expressions.logic import all_of, if_else

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

    from onceproof.model.language.fields import Field
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.stores.store import Ranged, Rule, StateStore

T = TypeVar("T")


class MemberStore:
    """A store in which every index is preceded by the members that a part is for.

    A method of the part then reads and writes the elements of those members alone,
    and does not know of the others.
    """

    def __init__(self, store: StateStore, members: tuple[object, ...]) -> None:
        """Look through ``store`` at the elements of some members."""
        self._store = store
        self._members = members
        self.places: int = getattr(store, "places", 0) + len(members)

    def read(self, field: Field, indices: tuple[object, ...]) -> object:
        """Return the value of one element."""
        return self._store.read(field, (*self._members, *indices))

    def read_old(self, field: Field, indices: tuple[object, ...]) -> object:
        """Return the value that one element had before the step."""
        return self._store.read_old(field, (*self._members, *indices))

    def write(self, field: Field, indices: tuple[object, ...], value: object) -> None:
        """Change one element."""
        self._store.write(field, (*self._members, *indices), value)

    def write_all(self, *changes: tuple[Field, Rule]) -> None:
        """Change every element of the members at once, and leave those of others."""
        if len(changes[0][0].sorts) == self.places:
            values = [rule() for _, rule in changes]
            for (field, _), value in zip(changes, values, strict=True):
                self.write(field, (), value)
            return
        self._store.write_all(
            *((field, self._own(field, rule)) for field, rule in changes)
        )

    def _own(self, field: Field, rule: Rule) -> Rule:
        """Let a rule change the elements of the members alone."""
        own = len(self._members)

        def new(*at: object) -> object:
            mine, rest = at[:own], at[own:]
            hit = all_of(
                *(one == other for one, other in zip(mine, self._members, strict=True))
            )
            return if_else(hit, rule(*rest), self._store.read(field, at))

        return new

    def indexed(
        self, path: str, sorts: Sequence[Sort], indices: tuple[object, ...]
    ) -> tuple[object, ...]:
        """Return an index. Refuse what may be no member of its sort."""
        return self._store.indexed(path, sorts, indices)

    def is_somebody(self, value: object) -> bool:
        """Return whether a value that may be nobody is known to be a member."""
        return self._store.is_somebody(value)

    def fit(self, field: Field, value: object) -> object:
        """Check that a value is one that a field can hold, and give it."""
        return self._store.fit(field, value)

    def require(self, condition: object, *, late: bool = False) -> None:
        """Let the action happen only where the condition holds."""
        self._store.require(condition, late=late)

    def loop(
        self, ranges: Ranged, give: Callable[..., T], frame: FrameType
    ) -> Iterator[T]:
        """Go through the members of sorts for ``frame``; ``give`` shapes each tuple."""
        return self._store.loop(ranges, give, frame)

    def uses_size(self, sort: Sort) -> None:
        """Note that the model depends on the number of a sort's members."""
        self._store.uses_size(sort)
