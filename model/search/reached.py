"""The states that a system reaches, as arrays: one for each field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.language.terms.types import BoolType, EnumType, lowest
from onceproof.model.search.visited_states import VisitedStates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.states.layout import Placement


@dataclass(frozen=True)
class ReachedStates:
    """States as arrays: ``fields[path]`` has a row for each state.

    Truth values are truth values, a value of an enumeration is its position, a member
    its number and nobody -1.
    """

    fields: dict[str, NDArray[np.int64]]
    """For each field an array of one row a state, with an axis for each of its sorts.
    """
    count: int
    """How many states there are."""
    complete: bool
    """Whether these are all states that can be reached."""


def reached(system: System, *, most: int) -> ReachedStates:
    """Search breadth first until ``most`` states are found, and return them."""
    graph = VisitedStates(system)
    graph.start()
    more = True
    while more and graph.count <= most:
        more = graph.grow()
    words = graph.states[: graph.count]
    fields = {
        path: _unpacked(place, words) for path, place in graph.layout.placements.items()
    }
    return ReachedStates(fields, graph.count, complete=not more)


def _unpacked(place: Placement, words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what one field holds in each state."""
    elements = []
    for number in range(place.count):
        word, shift = place.spot(number)
        elements.append((words[:, word] >> shift) & place.mask)
    codes = np.stack(elements, axis=1).reshape(len(words), *place.dims)
    if isinstance(place.field.type, BoolType | EnumType):
        return codes
    return codes + lowest(place.field.type)
