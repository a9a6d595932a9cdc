"""The messages of a channel or a network, as columns of state.

A message is a value of the language, or a named tuple of values. Each of its parts is a
column: a field of state that holds this part of all messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language.declarations.state import State, state
from onceproof.model.language.expressions.named_tuples import is_named_tuple, parts_of
from onceproof.model.language.fields import Field
from onceproof.model.language.sorts import AnyMember, Member, Nobody, Sort
from onceproof.model.language.source_location import here
from onceproof.model.language.terms.types import MemberType

if TYPE_CHECKING:
    from collections.abc import Collection

    from onceproof.model.language.composition.part import Part
    from onceproof.model.language.fields import Bound

ONLY = "value"
"""The name of the part of a message that has one part alone."""


class Column:
    """One part of all messages in a family of channels, in one state."""

    def __init__(self, part: Part, name: str) -> None:
        """Look at the field ``name`` of ``part``."""
        self._part = part
        self._field = part.field(name)

    def __getitem__(self, at: tuple[int, ...]) -> Any:
        """Return what is at a place."""
        return self._part.store.read(self._field, at)

    def __setitem__(self, at: tuple[int, ...], value: object) -> None:
        """Change what is at a place."""
        self._part.store.write(self._field, at, value)


def columns_of(message: object) -> dict[str, Any]:
    """Take a message apart; what is no named tuple has one part, its ``value``."""
    return parts_of(message) if is_named_tuple(message) else {ONLY: message}


def shaped(part: Part, message: object, sample: Collection[str]) -> dict[str, Any]:
    """Take a message apart; refuse one that is not like the declared sample."""
    columns = columns_of(message)
    if list(columns) != list(sample):
        wanted = ", ".join(sample) if "value" not in sample else "a single value"
        text = f"{part.path_to('')[:-1]} carries messages of {wanted}, not {message!r}"
        raise ModelError(text, where=here())
    return columns


def blank_of(sample: object) -> tuple[dict[str, Any], dict[str, Sort]]:
    """Return what lies where there is no message, and which parts hold a member.

    These are nobody where there is no message, since no member is like no other.
    """
    columns = columns_of(sample)
    held = {n: v.sort for n, v in columns.items() if isinstance(v, AnyMember)}
    for name, value in columns.items():
        if isinstance(value, Member) and not isinstance(value, Nobody):
            message = (
                f"{name} of a message is member {int(value)} of {value.sort.text!r}; "
                "declare the part by its sort, as in member_of(PROCESS)"
            )
            raise ModelError(message, where=here())
    return {**columns, **{n: Nobody(sort) for n, sort in held.items()}}, held


def refuse_nobody(part: Part, name: str, sort: Sort, value: object) -> None:
    """Refuse nobody as a part of a message that holds a member."""
    size = part.size_of(sort)
    path = part.path_to(name)
    field = Field(path, MemberType(sort), (), 0, volatile=False, members=size)
    part.store.fit(field, value)


def column(
    value: object,
    sorts: tuple[Sort, ...],
    high: Bound | None,
    *,
    volatile: bool,
) -> State[Any]:
    """Declare one part of all messages, like the one of the sample."""
    return state(value, per=sorts, high=high, volatile=volatile)
