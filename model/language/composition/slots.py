"""The places of parts in a protocol, or in another part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast, overload

from onceproof.model.language.source_location import here

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onceproof.model.language.sorts import Sort

P = TypeVar("P")


class Holder(Protocol):
    """What parts are in: a protocol or a part."""

    parts: Mapping[str, Any]
    """Its parts, by name."""


class Slot(Generic[P]):
    """The place of a part in its owner."""

    onceproof_kind = "part(...)"

    def __init__(
        self,
        kind: type[P],
        default: Callable[[], P],
        *,
        sorts: tuple[Sort, ...] = (),
        fixed: bool = False,
    ) -> None:
        """Hold a part of ``kind``, made by ``default`` unless another is given.

        There is one for each member of ``sorts``, where there are any. A ``fixed``
        slot is no parameter: nothing else can be put in it.
        """
        self.kind = kind
        self.default = default
        self.sorts = sorts
        self.fixed = fixed
        self.name = ""
        self.where = here()

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the attribute's name."""
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Slot[P]: ...
    @overload
    def __get__(self, instance: Holder, owner: type) -> P: ...
    def __get__(self, instance: Holder | None, owner: type) -> Slot[P] | P:
        """Return the slot on a class, the part on a protocol."""
        if instance is None:
            return self
        return cast("P", instance.parts[self.name])
