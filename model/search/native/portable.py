"""An expander that can be sent to another process: the code as text, and its tables.

A process compiles the text once, and keeps the code for what it is sent later.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.search.compiling.compiled import Compiled
from onceproof.model.search.native.expander import expander_ir, instances

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from onceproof.model.language.terms import terms as t
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.states.layout import Layout
    from onceproof.model.search.symmetry import CanonicalForm, Symmetry

    Words = NDArray[np.int64]

_ROOM = 1 << 20


@dataclass(frozen=True)
class Expanded:
    """The successors of some states, in parallel arrays."""

    states: Words
    """The packed state of each successor, ``(successors, words)``."""
    events: Words
    """The number of the event that leads to each successor."""
    sources: Words
    """The row of the state that each successor comes from."""
    flags: Words
    """The flags of each state that was expanded, ``(states, words of flags)``."""
    broken: Words
    """For each claim about steps a row, and its successor, that break it; else -1."""
    generated: int
    """How many steps there are, those that change nothing included."""


@dataclass(frozen=True)
class PortableExpander:
    """Computes the successors of packed states in whatever process it is sent to."""

    source: str
    """The expander, as LLVM's IR."""
    words: int
    """How many words a state takes."""
    most: int
    """The most successors that a state can have."""
    flag_words: int
    """How many words the flags of a state take."""
    step_claims: int
    """How many claims about steps there are."""
    canonical: CanonicalForm | None = None
    """How states are brought to one form under symmetry; None without it."""

    @classmethod
    def of(
        cls,
        system: System,
        layout: Layout,
        *,
        claims: Sequence[t.Term],
        flag_words: int,
        step_claims: Sequence[t.Term],
        symmetry: Symmetry | None,
    ) -> PortableExpander:
        """Generate the expander of a system."""
        return cls(
            expander_ir(system, layout, claims, step_claims, symmetry),
            layout.words,
            max(1, sum(instances(system, action) for action in system.actions)),
            flag_words,
            len(step_claims),
            None if symmetry is None else symmetry.canonical,
        )

    @property
    def most_rows(self) -> int:
        """How many states are expanded at once."""
        return max(16, min(16384, _ROOM // (self.most * self.words)))

    def pieces(self, rows: Words) -> Iterator[tuple[Words, Expanded]]:
        """Expand states piece by piece: yield some of them, and what follows them."""
        for lo in range(0, len(rows), self.most_rows):
            piece = np.ascontiguousarray(rows[lo : lo + self.most_rows])
            yield piece, self.expand(piece)

    def expand(self, rows: Words) -> Expanded:
        """Expand states, ``(states, words)``, all at once."""
        room = len(rows) * self.most
        states = np.empty((room, self.words), np.int64)
        events, sources = np.empty(room, np.int64), np.empty(room, np.int64)
        flags = np.zeros((len(rows), self.flag_words), np.int64)
        broken = np.full((self.step_claims + 1, 2), -1, np.int64)
        made = np.zeros(2, np.int64)
        _compiled(self.source)(
            rows, 0, len(rows), states, events, sources, flags, broken, made
        )
        found, generated = map(int, made)
        if self.canonical is not None:
            self.canonical.reduce(states, found)
        return Expanded(
            states[:found],
            events[:found],
            sources[:found],
            flags,
            broken[: self.step_claims],
            generated,
        )


@lru_cache(maxsize=4)
def _compiled(source: str) -> Compiled:
    return Compiled(source, "expand")
