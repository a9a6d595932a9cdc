"""Which faults and durable writes may not change places, by looking at every state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from onceproof.model.interleavings.orbit_graph import OrbitGraph

    Numbers = NDArray[np.int32]

_PAIRS = 1 << 20


def dependence(
    graph: OrbitGraph, keys: Sequence[bool], crashes: Sequence[bool]
) -> set[tuple[int, int]]:
    """List the pairs of key events that may not change places.

    A pair may when it was met, holds no crash, and wherever one followed the other
    the two could be taken the other way round, to the same state.
    """
    key, crash = np.array(keys, bool), np.array(crashes, bool)
    met = np.zeros((len(key), len(key)), bool)
    bound = met.copy()
    steps = np.flatnonzero(key[graph.events]).astype(np.int32)
    widest = int(np.diff(graph.first).max(initial=1))
    for lo in range(0, len(steps), max(1, _PAIRS // widest)):
        piece = steps[lo : lo + max(1, _PAIRS // widest)]
        _follow(graph, key, piece, met, bound)
        _overtake(graph, key, piece, bound)
    # What was seen at a row is true of its whole orbit.
    for names in graph.group.events:
        met |= met[np.ix_(names, names)]
        bound |= bound[np.ix_(names, names)]
    apart = (bound | ~met | crash[:, None] | crash[None, :]) & key[:, None] & key
    return set(zip(*(found.tolist() for found in np.nonzero(apart)), strict=True))


def _follow(
    graph: OrbitGraph,
    key: NDArray[np.bool_],
    first: Numbers,
    met: NDArray[np.bool_],
    bound: NDArray[np.bool_],
) -> None:
    """Note each pair of steps after each other, and whether it has no way round."""
    group = graph.group
    one, then = _pairs(graph, first, graph.targets[first])
    other = group.events[group.inverse[graph.naming[one]], graph.events[then]]
    wanted = key[other]
    one, then, other = one[wanted], then[wanted], other[wanted]
    event = graph.events[one]
    met[event, other] = met[other, event] = True
    end = graph.targets[then]
    naming = group.product[graph.naming[then], graph.naming[one]]
    around = graph.step_of[graph.sources[one], other]
    last = graph.step_of[
        graph.targets[around], group.events[graph.naming[around], event]
    ]
    back = group.product[graph.naming[last], graph.naming[around]]
    kind = graph.kind[end]
    same = (around >= 0) & (last >= 0) & (graph.targets[last] == end)
    same &= graph.alike[kind, naming] == graph.alike[kind, back]
    event, other = event[~same], other[~same]
    bound[event, other] = bound[other, event] = True


def _overtake(
    graph: OrbitGraph,
    key: NDArray[np.bool_],
    first: Numbers,
    bound: NDArray[np.bool_],
) -> None:
    """Note each pair of steps from one state of which one prevents the other."""
    one, beside = _pairs(graph, first, graph.sources[first])
    wanted = key[graph.events[beside]] & (one != beside)
    one, other = one[wanted], graph.events[beside[wanted]]
    renamed = graph.group.events[graph.naming[one], other]
    prevented = graph.step_of[graph.targets[one], renamed] < 0
    event, other = graph.events[one[prevented]], other[prevented]
    bound[event, other] = bound[other, event] = True


def _pairs(graph: OrbitGraph, steps: Numbers, rows: Numbers) -> tuple[Numbers, Numbers]:
    """Pair each of some steps with all that leave a row of its own."""
    lo = graph.first[rows].astype(np.int64)
    many = graph.first[rows + 1] - lo
    offset = np.arange(int(many.sum())) - np.repeat(np.cumsum(many) - many, many)
    return np.repeat(steps, many), np.repeat(lo, many) + offset
