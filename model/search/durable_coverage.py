"""Which durable states walks have met, and how their number grew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.language.tracing.durable_fields import durable_fields

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.states.layout import Layout

    Words = NDArray[np.int64]

_BITS = 16
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FAR = np.uint64(32)


class DurableCoverage:
    """The durable states that were met, each once.

    A durable state is the part of a state that outlives a crash, and what an observer
    reads. Of a protocol that has neither, it is the whole state.
    """

    def __init__(self, system: System, layout: Layout) -> None:
        """Work out which bits of a packed state are durable."""
        durable = durable_fields(system) or {f.path for f in system.fields}
        mask = [0] * layout.words
        for path in durable:
            place = layout.placements[path]
            for element in range(place.count):
                word, shift = place.spot(element)
                mask[word] |= place.mask << shift
        self._mask = np.array(mask, np.int64)
        self._recent = np.zeros(1 << _BITS, np.uint64)
        self.met: dict[bytes, int] = {}
        """After how many steps each was first met."""

    def unseen(self, rows: Words) -> NDArray[np.bool_]:
        """Guess of each row whether its durable state is new; most guesses are right.

        A new one may be taken for one that was met, and the other way round.
        """
        return self._unseen(self._hashes(rows & self._mask))

    def _unseen(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        differs: NDArray[np.bool_] = (
            self._recent[hashes >> np.uint64(64 - _BITS)] != hashes
        )
        return differs

    def take(self, rows: Words, steps: int = 0) -> list[int]:
        """Note the durable states of rows that were met after so many steps.

        Return the rows that brought a new one.
        """
        durable = rows & self._mask
        hashes = self._hashes(durable)
        fresh = []
        for row in np.flatnonzero(self._unseen(hashes)).tolist():
            key = durable[row].tobytes()
            if key not in self.met:
                self.met[key] = steps
                fresh.append(row)
        self._recent[hashes >> np.uint64(64 - _BITS)] = hashes
        return fresh

    def _hashes(self, durable: Words) -> NDArray[np.uint64]:
        found = np.zeros(len(durable), np.uint64)
        for word in durable.T.astype(np.uint64):
            found = (found ^ word) * _MIX
            found ^= found >> _FAR
        # None is 0, with which places begin that no durable state has.
        return found * _MIX | np.uint64(1)


def curve(met: Iterable[int], steps: int) -> list[tuple[int, int]]:
    """Return how many durable states were met after so many steps.

    ``met`` says of each after how many steps it was met. There is a point each time
    that steps double, and one at the end.
    """
    times = np.sort(np.fromiter(met, np.int64))
    points = [0, *(1 << n for n in range(steps.bit_length()) if 1 << n < steps), steps]
    return [
        (at, int(np.searchsorted(times, at, side="right")))
        for at in dict.fromkeys(points)
    ]
