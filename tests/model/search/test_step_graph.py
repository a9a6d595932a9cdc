"""The pieces of a graph of steps are those that plain Python finds."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from onceproof.model.search.fairness.step_graph import StepGraph


def graph_of(steps: np.ndarray, rows: int) -> StepGraph:
    """Make a graph of sources and targets; every step has the same event."""
    sources, targets = steps.astype(np.int32)
    return StepGraph(sources, np.zeros_like(sources), targets, rows)


def pieces_of(graph: StepGraph) -> set[frozenset[int]]:
    found: dict[int, set[int]] = {}
    for row, piece in enumerate(graph.pieces().tolist()):
        found.setdefault(piece, set()).add(row)
    return {frozenset(rows) for rows in found.values()}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("degree", [0.7, 1.5, 4.0])
def test_pieces_are_those_of_networkx(seed: int, degree: float) -> None:
    rows = 300
    chance = np.random.default_rng(seed)
    steps = chance.integers(0, rows, (2, int(rows * degree)))
    peer = nx.DiGraph()
    peer.add_nodes_from(range(rows))
    peer.add_edges_from(steps.T.tolist())

    expected = {frozenset(c) for c in nx.strongly_connected_components(peer)}
    assert pieces_of(graph_of(steps, rows)) == expected
    assert len(expected) > 1


def test_a_long_ring_is_one_piece() -> None:
    rows = 70_000
    ring = np.stack([np.arange(rows), (np.arange(rows) + 1) % rows])

    assert set(graph_of(ring, rows).pieces().tolist()) == {0}


def test_a_path_is_shortest_and_leaves_out_what_is_not_allowed() -> None:
    steps = np.array([[0, 0, 1, 2, 3], [1, 2, 3, 3, 4]])
    graph = graph_of(steps, 5)

    assert graph.shortest([0], lambda row: row == 4) == (0, [(0, 1), (0, 3), (0, 4)])
    around = graph.shortest([0], lambda row: row == 4, lambda row: row != 1)
    assert around == (0, [(0, 2), (0, 3), (0, 4)])
    assert graph.shortest([0], lambda row: row == 4, lambda row: row != 3) is None
