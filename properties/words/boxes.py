"""Channels and networks: where their messages lie in a state, and how they read.

``live_model.js`` does the same for a page.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from onceproof.model.language.parts.bags import Bag
from onceproof.model.language.parts.channels import Channels
from onceproof.model.language.parts.message_columns import ONLY
from onceproof.model.language.parts.networks import Network
from onceproof.model.language.sorts import Member
from onceproof.model.language.terms.types import spelled
from onceproof.properties.words.sort_words import (
    member_in_words,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onceproof.model.language.interpreter import Interpreter
    from onceproof.model.language.sorts import Sort

Place = tuple[int, ...]
Part = tuple[str, bool]
"""A part of a message in words, and whether it has no name in front of it."""

MESSAGE = "message"


@dataclass(frozen=True)
class Box:
    """A family of channels or networks: where its messages lie in a state.

    ``counted`` is the path of the field that says how many there are. In a channel, and
    in a network that bounds how many are in flight, messages have places (``places``),
    and the parts of each lie in ``columns``. A network that counts each kind of message
    has ``kinds``, the parts of each in words, and the kind is the last index of
    ``counted``. Members in such a message are indices of ``counted`` too, from
    ``after`` on: ``members`` has the position among the parts and the word of each.
    """

    path: str
    """The path of the channel or network in its protocol."""
    counted: str
    places: bool
    ordered: bool
    """Whether the messages have an order: it is a channel."""
    names: tuple[str, ...]
    """The names of the parts of a message."""
    after: int
    """How many indices a channel or network of the family has."""
    bare: bool
    """Whether a message is only a number or a truth value."""
    columns: tuple[str, ...] = ()
    kinds: tuple[tuple[Part, ...], ...] = ()
    members: tuple[tuple[int, str], ...] = ()
    place: Sort | None = None
    """The sort whose members are the places of messages."""

    def kind(self, place: Place) -> str:
        """Return what a message says that is counted at a place."""
        parts = list(self.kinds[place[-1]])
        for (at, word), member in zip(self.members, place[self.after :], strict=False):
            parts.insert(at, _of_member(self.names[at], f"{word} {member}", word))
        return joined_parts(parts)

    def named(self, text: str) -> str:
        """Name a message by its content; a number alone is called a message."""
        return f"{MESSAGE} {text}" if self.bare else text

    def listed(self, texts: Iterable[str]) -> str:
        """Show all messages of one channel, or of one network."""
        left, right = "[]" if self.ordered else "{}"
        return f"{left}{', '.join(map(in_brackets, texts))}{right}"


def in_brackets(text: str) -> str:
    """Put a message in brackets where a comma in it would look like its end."""
    return f"({text})" if "," in text else text


def boxes_of(interpreter: Interpreter) -> list[Box]:
    """List the channels and networks of a protocol and its parts."""
    words = words_of(interpreter.protocol)
    found = []
    for part in interpreter.protocol.all_parts():
        path = part.path_to("")[:-1]
        if isinstance(part, Channels):
            names = tuple(part.blank)
            found.append(
                Box(
                    path,
                    part.path_to("used"),
                    places=True,
                    ordered=not isinstance(part, Bag),
                    names=names,
                    after=len(part.part_sorts) + len(part.sorts),
                    bare=names == (ONLY,) and _is_bare(part.blank[ONLY]),
                    columns=tuple(map(part.path_to, names)),
                    place=part.inner[0],
                )
            )
        elif isinstance(part, Network):
            names = part.parts_of_message
            messages = list(part.messages())
            found.append(
                Box(
                    path,
                    part.path_to("on_its_way"),
                    places=False,
                    ordered=False,
                    names=names,
                    after=len(part.part_sorts) + len(part.sorts),
                    bare=tuple(part.kinds) == (ONLY,) and _is_bare(messages[0][0]),
                    kinds=tuple(
                        _parts(each, tuple(part.kinds), words) for each in messages
                    ),
                    members=tuple(
                        (names.index(name), words[sort])
                        for name, sort in part.held.items()
                    ),
                )
            )
    return found


def in_words(
    values: Sequence[object], names: Sequence[str], words: Mapping[Sort, str]
) -> str:
    """Show a message: numbers, truth values and members with the names of its parts."""
    return joined_parts(_parts(values, names, words))


def joined_parts(parts: Sequence[Part]) -> str:
    """Join the parts of a message, as in ``EndTxn commit`` or ``vote term 1, no``."""
    text = ""
    for number, (part, _) in enumerate(parts):
        spoken = all(bare for _, bare in parts[:number])
        text += f"{'' if not number else ' ' if spoken else ', '}{part}"
    return text


def _parts(
    values: Sequence[object], names: Sequence[str], words: Mapping[Sort, str]
) -> tuple[Part, ...]:
    return tuple(
        _part(value, name, words) for value, name in zip(values, names, strict=True)
    )


def _part(value: object, name: str, words: Mapping[Sort, str]) -> Part:
    if isinstance(value, Member):
        return _of_member(
            name, member_in_words(value, words), words.get(value.sort, "")
        )
    value = spelled(value)
    if isinstance(value, str):
        return value, True
    shown = ("no", "yes")[value] if isinstance(value, bool) else str(value)
    return (shown, True) if name == ONLY else (f"{name} {shown}", False)


def _of_member(name: str, text: str, word: str) -> Part:
    """Name a part that holds a member, where its word does not say the same."""
    known = name == ONLY or (name == word and text != "nobody")
    return (text, False) if known else (f"{name} {text}", False)


def _is_bare(sample: object) -> bool:
    return isinstance(sample, bool | int) and not isinstance(sample, Enum | Member)
