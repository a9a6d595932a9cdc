"""Native code that computes the stubborn set of each state (see ``stubborn.py``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.compiling.kernels import kernel

if TYPE_CHECKING:
    from onceproof.model.search.compiling.kernel_language import Row, Rows

SET_BITS = 62
"""How many events a word of a set holds: words stay positive."""
_SEEDS = 8


def _count(word: int) -> int:
    found = 0
    while word:
        word &= word - 1
        found += 1
    return found


def _copy(words: Row, into: Row) -> None:
    for w in range(len(words)):
        into[w] = words[w]


def _add(words: Row, into: Row) -> None:
    for w in range(len(words)):
        into[w] |= words[w]


def _clear(words: Row) -> None:
    for w in range(len(words)):
        words[w] = 0


def _meet(one: Row, other: Row) -> bool:
    found = False
    for w in range(len(one)):
        found = found or (one[w] & other[w]) != 0
    return found


def _cost(extra: Row, chosen: Row, enabled: Row) -> int:
    """Weigh what a set adds: events that are enabled weigh more than all others."""
    cost = 0
    for w in range(len(chosen)):
        new = extra[w] & ~chosen[w]
        cost += _count(new) + 10000 * _count(new & enabled[w])
    return cost


def _choose(
    first: int,
    last: int,
    wanted: int,
    flags: Row,
    places: Rows,
    sets: Rows,
    chosen: Row,
    enabled: Row,
) -> int:
    """Return the condition of a group that adds least; -1 if none is as wanted."""
    best = -1
    least = 0
    for c in range(first, last):
        if (flags[places[c, 0]] >> places[c, 1]) & 1 == wanted:
            cost = _cost(sets[c], chosen, enabled)
            if best < 0 or cost < least:
                best = c
                least = cost
    return best


def _close(
    chosen: Row,
    done: Row,
    enabled: Row,
    flags: Row,
    conflicts: Rows,
    writers: Rows,
    starts: Row,
    places: Rows,
    sets: Rows,
) -> None:
    """Add to ``chosen`` all that rules 1 and 2 ask for; those ``done`` need no more."""
    again = True
    while again:
        again = False
        for w in range(len(chosen)):
            new = chosen[w] & ~done[w]
            while new:
                low = new & -new
                done[w] |= low
                event = w * SET_BITS + _count(low - 1)
                if enabled[w] & low:
                    _add(conflicts[event], chosen)
                else:
                    first = starts[event]
                    last = starts[event + 1]
                    at = _choose(first, last, 0, flags, places, sets, chosen, enabled)
                    if at < 0:
                        _add(writers[event], chosen)
                    else:
                        _add(sets[at], chosen)
                again = True
                new = chosen[w] & ~done[w]


@kernel
def keep_rows(  # noqa: PLR0915 - a loop over states, in one piece
    lo: int,
    events: Row,
    sources: Row,
    flags: Rows,
    conflicts: Rows,
    writers: Rows,
    starts: Row,
    places: Rows,
    sets: Rows,
    goal_starts: Row,
    goal_places: Rows,
    goal_sets: Rows,
    actions: Row,
    rest: bool,  # noqa: FBT001 - kernels have no other arguments
    keep: Row,
) -> None:
    """Set ``keep`` for the successors whose events are in their state's stubborn set.

    Successors of a state lie side by side; ``sources`` counts from ``lo``.
    """
    width = len(actions)
    enabled = np.empty(width, np.int64)
    chosen = np.empty(width, np.int64)
    done = np.empty(width, np.int64)
    trial = np.empty(width, np.int64)
    trial_done = np.empty(width, np.int64)
    best = np.empty(width, np.int64)
    both = np.empty(width, np.int64)
    n = len(events)
    i = 0
    while i < n:
        row = sources[i]
        j = i
        _clear(enabled)
        while j < n and sources[j] == row:
            enabled[events[j] // SET_BITS] |= 1 << (events[j] % SET_BITS)
            j += 1
        here = flags[row - lo]
        _clear(chosen)
        _clear(done)
        if rest and not _meet(enabled, actions):
            _copy(enabled, chosen)
        else:
            for g in range(len(goal_starts) - 1):
                at = _choose(
                    goal_starts[g],
                    goal_starts[g + 1],
                    1,
                    here,
                    goal_places,
                    goal_sets,
                    chosen,
                    enabled,
                )
                if at >= 0:
                    _add(goal_sets[at], chosen)
            _close(
                chosen, done, enabled, here, conflicts, writers, starts, places, sets
            )
            for w in range(width):
                both[w] = chosen[w] & enabled[w]
            if rest and not _meet(both, actions):
                _copy(chosen, best)
                least = -1
                tried = 0
                for k in range(i, j):
                    w = events[k] // SET_BITS
                    bit = 1 << (events[k] % SET_BITS)
                    if tried == _SEEDS or least == 1 or not actions[w] & bit:
                        continue
                    tried += 1
                    _copy(chosen, trial)
                    _copy(done, trial_done)
                    trial[w] |= bit
                    _close(
                        trial,
                        trial_done,
                        enabled,
                        here,
                        conflicts,
                        writers,
                        starts,
                        places,
                        sets,
                    )
                    number = 0
                    for v in range(width):
                        number += _count(trial[v] & enabled[v])
                    if least < 0 or number < least:
                        least = number
                        _copy(trial, best)
                _copy(best, chosen)
        for k in range(i, j):
            bit = 1 << (events[k] % SET_BITS)
            keep[k] = (chosen[events[k] // SET_BITS] & bit) != 0
        i = j
