"""The word of each sort: what a member is called where a run is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.language.sorts import Member, Nobody, Sort

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.model.language.composition.protocol import Protocol


def words_of(protocol: Protocol) -> dict[Sort, str]:
    """Return the word of each sort of a protocol: short, where no other has the same.

    "attempt of a task" is an attempt; where there are attempts of a stage as well, it
    is a task attempt. Sorts that have the same text have their names beside it.
    """
    names = _names(protocol)

    def named(sort: Sort) -> str:
        return f"{_to_comma(sort)} ({names[sort]})"

    found = {sort: _short(sort) for sort in protocol.sizes}
    left = list(names)
    for way in (_short, _longer, named):
        found |= {sort: way(sort) for sort in left}
        alike = [found[sort] for sort in names]
        left = [sort for sort in left if alike.count(found[sort]) > 1]
    return found


def member_in_words(member: Member, words: Mapping[Sort, str]) -> str:
    """Show a member by the word of its sort, as in ``node 0``, or that it is nobody."""
    if isinstance(member, Nobody):
        return str(member)
    return f"{words[member.sort]} {int(member)}"


def _names(protocol: Protocol) -> dict[Sort, str]:
    """Return the name of each sort that is declared, with the path of its part."""
    return {
        what: part.path_to(name)
        for part in reversed(list(protocol.all_parts()))
        for name, what in part.declared().items()
        if isinstance(what, Sort)
    }


def _short(sort: Sort) -> str:
    """Return a sort's text up to what only explains it."""
    text = sort.text
    for end in (",", " of ", " in ", " ("):
        text = text.partition(end)[0]
    return text


def _longer(sort: Sort) -> str:
    """Return a sort's text so that it differs from others that begin alike."""
    text = sort.text.partition(",")[0]
    what, _, of = text.partition(" of ")
    owner = of.removeprefix("a ").removeprefix("an ").removeprefix("the ")
    return f"{owner} {what}" if owner and " " not in owner else text


def _to_comma(sort: Sort) -> str:
    return sort.text.partition(",")[0]
