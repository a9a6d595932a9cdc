"""How many messages there is room for, and the faults that need more than there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.errors import ModelError
from onceproof.model.language.fields import Param
from onceproof.model.language.sorts import Member
from onceproof.model.language.source_location import here

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.model.language.composition.part import Part


def constants(
    part: Part, rooms: Mapping[str, tuple[int | Param | None] | None]
) -> dict[str, int]:
    """Return the numbers that are no parameter, which a verdict names by themselves."""
    return {
        part.path_to(name): room[0]
        for name, room in rooms.items()
        if room is not None and isinstance(room[0], int)
    }


def checked_room(option: str, given: object) -> None:
    """Refuse what is no number of messages. Raises ``ModelError``."""
    whole = isinstance(given, int) and not isinstance(given, bool | Member)
    if not (whole or isinstance(given, Param)):
        message = (
            f"{option}= is how many messages there is room for, a whole number or a "
            f"parameter, not {given!r}"
        )
        raise ModelError(message, where=here())


def refuse_idle_faults(
    part: Part, name: str, room: int, budgets: Mapping[str, int | Param]
) -> None:
    """Refuse no room at all, and a fault that would need room for two messages."""
    path = part.path_to("")[:-1]
    if room < 1:
        message = f"{path} has {name}={room}: there must be room for a message"
        raise ModelError(message, where=here())
    for fault, budget in budgets.items():
        most = part.argument(budget) if isinstance(budget, Param) else budget
        if most and room == 1:
            message = (
                f"{path} has {fault}={most} and {name}=1: this fault needs room for "
                f"two messages, so it would never happen; write {name}=2 or more, or "
                f"leave {fault}= out"
            )
            raise ModelError(message, where=here())
