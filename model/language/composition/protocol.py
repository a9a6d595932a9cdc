"""A protocol: the part that holds all others, with the sizes of its sorts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onceproof.model.errors import ModelError
from onceproof.model.language.composition.part import Part
from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.declarations.decorators import ClaimMark, kebab
from onceproof.model.language.declarations.state import State
from onceproof.model.language.fields import Param

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onceproof.model.language.sorts import Sort


class Protocol(Part):
    """A transition system: typed state, actions and faults, claims about them.

    The docstring's first line says what it is and cites where it comes from.
    """

    faults = Param(1, "how many faults may happen in all")

    role: ClassVar[str] = ""
    """Who acts in the actions that are for no member; else the protocol's name."""

    def __init__(self, **arguments: object) -> None:
        """Take sizes of sorts, parameters and parts by name."""
        super().__init__(**arguments)
        self.settle({})

    def settle(self, sizes: dict[Sort, int]) -> None:
        """Put all parts in their places; ``sizes`` go before those that were given."""
        self._fixed = bool(sizes)
        self._settle(self, None, None, sizes)
        _refuse_nameless_sorts(self)
        for field in self.all_fields():
            field.check_starts(self._sizes)

    @property
    def stated_breaks(self) -> frozenset[str]:
        """Names the properties that the protocol or a part of it states to break.

        A part that states ``breaks`` itself states it for the parts inside it too, and
        a protocol states it for the parts that it declares. A part that was put in the
        place of one adds its own, and what it breaks in this protocol or beside another
        of its parts (`breaks_in`).
        """
        others = [
            part
            for name, part in self.parts.items()
            if not (_states_breaks(self) and _is_declared(self, name))
        ]
        stated = (name for part in others for name in _broken_by(part))
        every = [type(part) for part in self.all_parts()]
        here = (n for part in others for n in broken_in(type(part), every))
        return frozenset((*_own_broken(self), *stated, *here))


def broken_in(part: type[Part], beside: Iterable[type[Part]]) -> frozenset[str]:
    """Return what a part states to break in a protocol, beyond its ``breaks``.

    ``beside`` are the protocol and its parts.
    """
    kinds = (kind for other in beside for kind in other.__mro__)
    names = {kind.label() for kind in kinds if issubclass(kind, Part)}
    return frozenset(b for name in names for b in part.breaks_in.get(name, ()))


def _states_breaks(part: Part) -> bool:
    own = (kind for kind in type(part).__mro__ if kind not in (Part, Protocol))
    return any("breaks" in vars(kind) for kind in own)


def _is_declared(protocol: Protocol, name: str) -> bool:
    """Return whether the part in a slot is the one that the protocol declares there."""
    slot = protocol.parameters().get(name)
    return isinstance(slot, Slot) and slot.default is type(protocol.parts[name])


def _broken_by(part: Part) -> Iterator[str]:
    """Yield what a part states to break, or what the parts inside it do."""
    yield from _own_broken(part)
    if not _states_breaks(part):
        for inner in part.parts.values():
            yield from _broken_by(inner)


def _own_broken(part: Part) -> Iterator[str]:
    """Yield what a part states to break, its own claims with its path before them."""
    own = {kebab(path): path for path, *_ in part.marked(ClaimMark)}
    for name in part.breaks:
        path = kebab(part.path_to(name))
        yield path if path in own else name


def _refuse_nameless_sorts(protocol: Protocol) -> None:
    """Refuse state over a sort that no class declares."""
    for holder in protocol.all_parts():
        for name, declared in holder.declared().items():
            for sort in declared.sorts if isinstance(declared, State | Slot) else ():
                if sort not in protocol.sizes:
                    message = (
                        f"{name} is per {sort.text!r}, a sort that has no name in "
                        f"{protocol.label()}; declare it in the class, and use that"
                    )
                    raise ModelError(message, where=declared.where)
