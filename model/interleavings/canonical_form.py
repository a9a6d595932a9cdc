"""The canonical form of a word whose neighbours may commute."""

from __future__ import annotations

from typing import TypeAlias

Word: TypeAlias = tuple[int, ...]


def normal(word: Word, apart: set[tuple[int, int]]) -> Word:
    """Return the first word, in order of events, that is equal up to commutation."""
    return tuple(word[at] for at in order(word, apart))


def order(word: Word, apart: set[tuple[int, int]]) -> tuple[int, ...]:
    """List the positions of a word in the order of its normal form."""
    made: Word = ()
    positions: tuple[int, ...] = ()
    for number, event in enumerate(word):
        at = place(made, event, apart)
        made = inserted(made, at, event)
        positions = inserted(positions, at, number)
    return positions


def place(word: Word, event: int, apart: set[tuple[int, int]]) -> int:
    """Return where an event after a normal word goes in the normal form of both.

    The event may go before all that follow the last one that it depends on; it goes
    before the first of them that is greater.
    """
    at = len(word)
    while at and (word[at - 1], event) not in apart and word[at - 1] != event:
        at -= 1
    while at < len(word) and word[at] < event:
        at += 1
    return at


def inserted(items: tuple[int, ...], at: int, item: int) -> tuple[int, ...]:
    """Return the items with one more at a position."""
    return (*items[:at], item, *items[at:])
