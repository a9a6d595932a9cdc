"""What readers saw at a moment, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.properties.ledger import History
    from onceproof.properties.property import Property

AT_REST = "at rest"
_COUNTED = ("effectively-once", "at-most-once", "at-least-once")
_TIMES = {0: "not at all", 1: "once", 2: "twice"}


def times(number: int) -> str:
    """Return how often an event is seen."""
    return _TIMES.get(number, f"{number} times")


def readers_see(history: History, moment: int) -> str:
    """Return what readers see at a moment: "readers see 4 of 8 events twice".

    Where they could not read, it is why: "the reader failed: ValueError: half a file".
    """
    if error := history.error(moment):
        return failed(error)
    return f"readers see {seen_at(history, moment)}"


def seen_at(history: History, moment: int, *, missing: bool = True) -> str:
    """Return what is seen at a moment: "4 of 8 events twice".

    Without ``missing`` it is too early for what is not seen yet to be worth a word.
    """
    counted = history.seen(moment)
    total = sum(counted.values())
    odd = [(n, times(k)) for k, n in counted.items() if k != 1]
    if not missing and any(k > 1 for k in counted):
        odd = [(n, times(k)) for k, n in counted.items() if k > 1]
    events = history.counted if total == 1 else f"{history.counted}s"
    seen = [f"{n} {'other' if n == 1 else 'others'} {how}" for n, how in odd]
    if odd:
        seen[0] = f"{odd[0][0]} of {total} {events} {odd[0][1]}"
    else:
        seen = [f"{'all ' if total > 1 else ''}{total} {events} once"]
    if strays := history.unexplained[moment]:
        rows = "row" if strays == 1 else "rows"
        seen.append(f"{strays} {rows} that should not be there")
    return f"{', '.join(seen[:-1])}{' and ' if seen[1:] else ''}{seen[-1]}"


def failed(error: str) -> str:
    """Return that a reader failed, and why."""
    return f"the reader failed: {error}"


def at_moment(moment: str, *, rested: bool = True) -> str:
    """Return when a moment is, in a sentence: "after the query finished".

    Where it has not ``rested``, no restart brought the query to its end.
    """
    if moment != AT_REST:
        return moment
    return "after the query finished" if rested else "after the last restart"


def breach(prop: Property, clause: int, seen: str) -> str:
    """Describe a violation; add the meaning of a guarantee that counts do not show."""
    if prop.name in _COUNTED:
        return seen
    return f"{seen}; {prop.name} means that {prop.clauses[clause].text}"
