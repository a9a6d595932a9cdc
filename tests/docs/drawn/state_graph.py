"""The state graph of two-phase commit among two participants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import igraph

from onceproof.model.explore.graph import Graph
from onceproof.model.language.trace import trace
from onceproof.model.library import make
from tests.docs.drawn.canvas import Canvas, points

if TYPE_CHECKING:
    from onceproof.model.language.steps import Event

BOX = (92, 38)
GAP, LEVEL, EDGE = 14, 84, 16
LEGEND = 74
SIDES = {"init": "box", "committed": "on-good", "aborted": "on-bad"}
SAYS = {"committed": "commit", "aborted": "abort"}
VOTES = ("no votes seen", "1 vote seen", "2 votes seen")


def state_graph() -> str:
    """Draw each state that differs in more than names, and each step that changes it."""
    graph, steps = _searched()
    levels = [
        next(n for n, end in enumerate(graph.levels[1:]) if row < end)
        for row in range(graph.count)
    ]
    places, bends = _layout(graph.count, list(steps), levels)
    width = max(x for x, _ in places) + BOX[0] / 2 + EDGE
    height = max(y for _, y in places) + BOX[1] / 2 + EDGE
    picture = Canvas(
        width,
        height + LEGEND,
        f"Two-phase commit, two participants: {graph.count} states",
        "Each box is a state: what both participants have done, and the manager below. "
        "States that differ in the participants' names alone are one.",
    )
    for (source, target), events in steps.items():
        bent = bends[source, target]
        (x, y), (to_x, to_y) = places[source], places[target]
        line = [(x, y + BOX[1] / 2), *bent, (to_x, to_y - BOX[1] / 2)]
        manager = all(event.name.startswith("tm_") for event in events)
        kind = "edge thick" if manager else "edge"
        picture.path(points(line), kind, hint=" or ".join(map(str, events)))
    for row, (x, y) in enumerate(places):
        _box(picture, graph, row, (x, y), ends=all(a != row for a, _ in steps))
    _legend(picture, height)
    return picture.text()


def _searched() -> tuple[Graph, dict[tuple[int, int], list[Event]]]:
    graph = Graph(trace(make("two-phase-commit", {"RM": "2"})), symmetry=True)
    graph.start()
    while graph.grow():
        pass
    steps: dict[tuple[int, int], list[Event]] = {}
    for source, event, target in zip(
        *(column.tolist() for column in graph.edges()), strict=True
    ):
        if source != target:
            steps.setdefault((source, target), []).append(graph.events[event])
    return graph, dict(sorted(steps.items()))


def _layout(
    count: int, steps: list[tuple[int, int]], levels: list[int]
) -> tuple[list[tuple[float, float]], dict[tuple[int, int], list[tuple[float, float]]]]:
    """Place states by how many steps lead there, with few crossings (Sugiyama)."""
    drawn = igraph.Graph(count, steps, directed=True)
    found = drawn.layout_sugiyama(layers=levels, hgap=1, vgap=1, maxiter=500)
    across = BOX[0] + GAP
    left = min(x for x, _ in found.coords)
    at = [
        ((x - left) * across + BOX[0] / 2 + EDGE, y * LEVEL + BOX[1] / 2 + EDGE)
        for x, y in found.coords
    ]
    return at[:count], dict.fromkeys(steps, [])


def _box(
    picture: Canvas, graph: Graph, row: int, at: tuple[float, float], *, ends: bool
) -> None:
    state = dict(
        zip(
            ((f.path, place) for f, place in graph.reference.places),
            graph.layout.unpack(graph.states[row].tolist()),
            strict=True,
        )
    )
    x, y = at[0] - BOX[0] / 2, at[1] - BOX[1] / 2
    tm = state["tm", ()].value
    if ends:
        picture.box((x - 4, y - 4), (BOX[0] + 8, BOX[1] + 8), "box", round_=9)
    picture.box((x, y), BOX, SIDES[tm])
    rms = sorted(state["rm", (n,)].value for n in range(2))
    seen = sum(state["prepared_seen", (n,)] for n in range(2))
    words = " · ".join(rms) if len(set(rms)) > 1 else f"both {rms[0]}"
    picture.words((at[0], at[1] - 3), words, "small strong", anchor="middle")
    below = SAYS.get(tm, VOTES[seen])
    picture.words((at[0], at[1] + 12), below, "small quiet", anchor="middle")


def _legend(picture: Canvas, top: float) -> None:
    pass
