"""Failure interleavings, as their readers see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.model.interleavings.durable_state import (
        Durable,
        Remains,
    )
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.traces import Trace


@dataclass(frozen=True)
class Interleaving:
    """A failure interleaving: the representative of its equivalence class."""

    number: int
    """Its number in the enumeration, from 1."""
    trace: Trace
    """The interleaving with the state after each event."""
    word: tuple[int, ...]
    """The positions in ``trace`` of its faults and durable writes."""
    size: int
    """How many interleavings the class has."""

    @property
    def faults(self) -> tuple[int, ...]:
        """The positions of the faults in the trace."""
        return tuple(i for i, e in enumerate(self.trace.events) if e.fault)


@dataclass(frozen=True)
class Interleavings:
    """All failure interleavings of a protocol, and the durable states it can reach."""

    protocol: Protocol
    """The protocol that they are of."""
    classes: tuple[Interleaving, ...]
    """One interleaving of each class, in a fixed order."""
    durable_states: frozenset[Remains]
    """The durable states that a crash can find, up to the names of members."""
    durable: Durable
    """Reads the durable part of a state."""
    crashes: frozenset[str]
    """The names of the faults that lose volatile state."""

    def covered(self, numbers: set[int]) -> int:
        """Count the durable states that the given classes crash in."""
        crashed_in = {
            self.durable.whichever(self.durable.of(one.trace.states[at]))
            for one in self.classes
            if one.number in numbers
            for at in one.faults
            if one.trace.events[at].name in self.crashes
        }
        return len(crashed_in & self.durable_states)
