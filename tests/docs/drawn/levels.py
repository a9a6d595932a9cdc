"""Places for what stands in levels: near to what it is joined to, and apart."""

from __future__ import annotations

from statistics import fmean

import igraph

ROUNDS = 200
FINE = 8


def placed(
    levels: list[int], joins: list[tuple[int, int]], apart: float
) -> list[float]:
    """Give each vertex its place along its level; the leftmost is at 0.

    The order in a level is igraph's, which has few crossings (Sugiyama). Its places
    are not taken: they keep long lines straight, and the picture gets too wide.
    """
    graph = igraph.Graph(len(levels), joins, directed=True)
    first = [x for x, _ in graph.layout_sugiyama(layers=levels, maxiter=1000).coords]
    rows = [
        sorted((n for n, at in enumerate(levels) if at == level), key=first.__getitem__)
        for level in range(max(levels) + 1)
    ]
    near: list[list[int]] = [[] for _ in levels]
    for a, b in joins:
        near[a].append(b)
        near[b].append(a)
    places = [x * apart for x in first]
    for _ in range(ROUNDS):
        for row in (*rows, *reversed(rows)):
            wanted = [fmean(places[other] for other in near[n]) for n in row]
            for n, x in zip(row, _spread(wanted, apart), strict=True):
                places[n] = x
    # A grid straightens what is almost straight.
    grid = [round(x * FINE / apart) for x in places]
    return [(x - min(grid)) * apart / FINE for x in grid]


def _spread(wanted: list[float], apart: float) -> list[float]:
    """Keep an order and a distance, as near as can be to where each wants to be."""
    groups: list[tuple[float, int]] = []
    for number, x in enumerate(wanted):
        mean, size = x - number * apart, 1
        while groups and groups[-1][0] >= mean:
            before, many = groups.pop()
            mean = (before * many + mean * size) / (many + size)
            size += many
        groups.append((mean, size))
    flat = [mean for mean, size in groups for _ in range(size)]
    return [mean + number * apart for number, mean in enumerate(flat)]
