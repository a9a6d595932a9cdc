"""What one search writes to as it expands rows of states, and what comes of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onceproof.model.search.states.claim_flags import Flags
    from onceproof.model.search.states.packed_states import PackedStates

    Words = NDArray[np.int64]


@dataclass
class Expansion:
    """The successors of rows ``lo`` to ``hi``, in parallel arrays."""

    lo: int
    """The first row that was expanded."""
    hi: int
    """The row after the last one."""
    states: Words
    """The packed state of each successor; of sifted ones only those that were not met
    lately, which are parallel to nothing."""
    events: Words
    """The number of the event that leads to each successor; of sifted ones the number
    of each event that was taken, in no order."""
    sources: Words
    """The row that each successor comes from; nothing of use where it is sifted."""
    flags: Flags
    """Which claims hold in each expanded row, and whether it rests."""
    generated: int
    """How many steps there are, those that change nothing included."""


class Buffers:
    """Room for the successors of one chunk of rows."""

    def __init__(
        self, rows: int, most: int, width: int, flags: int, events: int
    ) -> None:
        """Make room for ``most`` successors of each of ``rows`` rows.

        A state has ``width`` words, a row ``flags`` words of flags; ``events`` is how
        many events the system has.
        """
        self.states = np.empty((rows * most, width), np.int64)
        self.events = np.empty(rows * most, np.int64)
        self.sources = np.empty(rows * most, np.int64)
        self.flags = np.zeros((rows, flags), np.int64)
        self.made = np.zeros(2, np.int64)
        self.taken = np.zeros(events, np.int64)
        self._state = width * 8
        self._most = 0

    def count(self, *, alone: bool) -> None:
        """Count the memory of the successors that are there.

        They are ``alone`` if neither their events nor their sources are noted.
        """
        row = self._state if alone else self._state + 16
        self._most = max(self._most, int(self.made[0]) * row)

    @property
    def memory(self) -> int:
        """Bytes that the successors have taken which were counted, and flags."""
        return self._most + int(self.flags.nbytes)


@dataclass(frozen=True)
class Workspace:
    """All that one search writes to.

    Work that outlives its search, since that was interrupted, changes nothing of the
    next one, which has a workspace of its own.
    """

    found: PackedStates
    """The states that were found, in the order of their discovery."""
    broken: Words
    """For each claim about steps the first row and successor that break it."""
    allowed: list[Words]
    """For each action whether it may happen, or no array where nobody may choose."""
    buffers: list[Buffers]
    """Room for two chunks: one is expanded into as the other is read."""
