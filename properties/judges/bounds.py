"""What a verdict is limited to: sizes and numbers, and how many faults there may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.language.fields import Param
from onceproof.model.language.sorts import Sort
from onceproof.model.language.terms.types import IntType
from onceproof.properties.guarantees import accepts_all

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.tracing.system import System


def sizes_of(protocol: Protocol, *, without: Collection[Sort] = ()) -> str:
    """Return sizes and numbers as they are set: ``RM=3, length=2``.

    Sizes of the sorts in ``without`` are left out.
    """
    return ", ".join(
        f"{name}={value}"
        for name, value, what in _numbers(protocol)
        if what not in without
    )


def numbers_of(protocol: Protocol) -> dict[str, int]:
    """Return sizes and numbers by name, those of parts by their path; faults apart."""
    return {name: value for name, value, _ in _numbers(protocol)}


def faults_of(system: System) -> str:
    """Return how many faults there may be in one run."""
    if not any(action.fault for action in system.actions):
        return "no faults"
    most = system.protocol.faults
    own = ", ".join(
        f"{field.path.partition('.')[2]} at most {field.type.high}"
        for field in system.fields
        if field.path.startswith("faults.") and isinstance(field.type, IntType)
    )
    plural = "" if most == 1 else "s"
    return f"at most {most} fault{plural} in a run{f' ({own})' if own else ''}"


def rooms_of(protocol: Protocol) -> str:
    """Return how much parts of a protocol hold: ``requests.in_flight=3``."""
    rooms = (part.holds_at_most() for part in protocol.all_parts())
    return ", ".join(f"{name}={most}" for room in rooms for name, most in room.items())


def bounds_of(system: System, *, without: Collection[Sort] = ()) -> str:
    """Return the sizes, rooms and faults that limit a verdict about a system."""
    protocol = system.protocol
    numbers = (sizes_of(protocol, without=without), rooms_of(protocol))
    owed = "every event is accepted" if accepts_all(protocol) else ""
    return "; ".join(filter(None, [*numbers, faults_of(system), owed]))


def _numbers(protocol: Protocol) -> Iterator[tuple[str, int, Sort | Param]]:
    """Yield name, value and declaration of sizes and numbers, each once.

    A number of a part is named by its path, and so is a sort that shares its name with
    another.
    """
    named: dict[str, Sort] = {}
    for part in protocol.all_parts():
        for name, what in part.parameters().items():
            if isinstance(what, Param) and name != "faults":
                yield part.path_to(name), part.argument(what), what
            elif isinstance(what, Sort) and what not in named.values():
                apart = what.name in named
                key = part.path_to(what.name) if apart else what.name
                named[key] = what
                yield key, part.sizes[what], what
