"""A part for each member of a sort: each has state, actions and faults of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar, cast, overload

from onceproof.model.errors import ModelError
from onceproof.model.language.composition.part import Part
from onceproof.model.language.composition.slots import Holder, Slot
from onceproof.model.language.sorts import sorts_of
from onceproof.model.language.source_location import here

if TYPE_CHECKING:
    from onceproof.model.language.sorts import Sort

P = TypeVar("P", bound=Part)


class Parts(Generic[P]):
    """The parts of all members: ``self.drivers``, of which each is ``[member]``."""

    def __init__(self, part: P, sorts: tuple[Sort, ...]) -> None:
        """Hold the parts that ``part`` describes, one for each tuple of members."""
        self._part = part
        self._sorts = sorts

    def __getitem__(self, at: int | tuple[int, ...]) -> P:
        """Return the part of a member, or of a tuple of members."""
        members = at if isinstance(at, tuple) else (at,)
        if len(members) != len(self._sorts):
            message = (
                f"{self._path} is a part per {self._names}; "
                f"it is indexed by {self._names}, not by {len(members)} values"
            )
            raise ModelError(message, where=here())
        self._part.store.indexed(self._path, self._sorts, members)
        return self._part.part_for(members)

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse to treat the parts as if they were one."""
        if name.startswith("__"):
            raise AttributeError(name)
        self._no_part(f"name one, as {self._path}[...].{name}")

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse to change something of the parts as if they were one."""
        if not name.startswith("_"):
            self._no_part(f"name one, as {self._path}[...].{name} = ...")
        super().__setattr__(name, value)

    def __setitem__(self, at: object, value: object) -> None:
        """Refuse to put another part in the place of one."""
        self._no_part("call a method of one, or change its state")

    def __iter__(self) -> NoReturn:
        """Refuse to go through the parts and not through the members."""
        self._no_part(
            f"go through the members, as all_of({self._path}[m]... for m in self."
            f"{self._sorts[0].name})"
        )

    __len__ = __contains__ = __iter__

    def _no_part(self, instead: str) -> NoReturn:
        message = f"{self._path} is a part for each {self._names}; {instead}"
        raise ModelError(message, where=here())

    @property
    def _path(self) -> str:
        return self._part.path_to("")[:-1]

    @property
    def _names(self) -> str:
        return ", ".join(sort.name for sort in self._sorts)


class FamilySlot(Slot[P]):
    """The place in its owner of a part for each member of a sort."""

    onceproof_kind = "part(..., per=...)"

    @overload  # type: ignore[override]
    def __get__(self, instance: None, owner: type) -> FamilySlot[P]: ...
    @overload
    def __get__(self, instance: Holder, owner: type) -> Parts[P]: ...
    def __get__(self, instance: Holder | None, owner: type) -> FamilySlot[P] | Parts[P]:
        """Return the slot on a class, the parts on a protocol."""
        if instance is None:
            return self
        return Parts(cast("P", instance.parts[self.name]), self.sorts)


@overload
def part(kind: type[P], *, default: type[P] | None = None) -> Slot[P]: ...
@overload
def part(
    kind: type[P],
    *,
    per: Sort | tuple[Sort, ...],
    default: type[P] | None = None,
) -> FamilySlot[P]: ...
def part(
    kind: type[P],
    *,
    per: Sort | tuple[Sort, ...] = (),
    default: type[P] | None = None,
) -> Slot[P] | FamilySlot[P]:
    """Declare a part; another subclass of ``kind`` may be given in its place.

    With ``per``, each member (or tuple of members) has a part of its own, and
    ``self.drivers[w].method()`` calls a method of one. The state of the part gets
    one more index, its actions, faults and claims one more member. The budget of a
    fault is for all members together.
    """
    if not (isinstance(kind, type) and issubclass(kind, Part)):
        message = f"part(...) takes a class that derives from Part, not {kind!r}"
        raise ModelError(message, where=here())
    sorts = sorts_of(per)
    return (FamilySlot if sorts else Slot)(kind, default or kind, sorts=sorts)
