"""The state graph of two-phase commit among two participants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.model.search.visited_states import VisitedStates
from tests.docs.drawn.canvas import Canvas, points
from tests.docs.drawn.levels import placed

if TYPE_CHECKING:
    from onceproof.model.language.steps import Event

BOX = (92, 58)
GAP, LEVEL, EDGE = 12, 98, 14
LEGEND = 104
KINDS = {"init": "box", "committed": "on-good", "aborted": "on-bad"}
DECISIONS = {"init": "undecided", "committed": "commit", "aborted": "abort"}


@dataclass(frozen=True)
class Shown:
    """What a box says of a state; a vote is 0 where none was cast, 1 sent, 2 received.

    ``level`` is how many steps lead there, ``ends`` whether none leads on.
    """

    decision: str
    participants: tuple[tuple[str, int], ...]
    level: int
    ends: bool


def state_graph() -> str:
    """Draw each state that differs in more than names, and each step between two."""
    graph, steps = _searched(symmetry=True)
    apart, _ = _searched(symmetry=False)
    shown = [_shown(graph, row, steps) for row in range(graph.count)]
    places = _placed(shown, list(steps))
    width = max(x for x, _ in places) + BOX[0] / 2 + EDGE
    height = max(y for _, y in places) + BOX[1] / 2 + EDGE
    picture = Canvas(
        width,
        height + LEGEND,
        f"Two-phase commit with two participants: {graph.count} states",
        "Each box is a state: what the manager has decided, what both participants "
        "have done, and what has become of their votes. Time goes down.",
    )
    for (source, target), events in steps.items():
        (x, y), (to_x, to_y) = places[source], places[target]
        manager = all(event.name.startswith("tm_") for event in events)
        picture.path(
            points([(x, y + BOX[1] / 2), (to_x, to_y - BOX[1] / 2)]),
            "edge thick" if manager else "edge",
            hint=" or ".join(dict.fromkeys(event.name for event in events)),
        )
    for state, place in zip(shown, places, strict=True):
        _box(picture, state, place)
    _legend(picture, height, graph.count, apart.count)
    return picture.text()


def _searched(
    *, symmetry: bool
) -> tuple[VisitedStates, dict[tuple[int, int], list[Event]]]:
    """Find all states, and the steps between two that differ."""
    system = trace(make("two-phase-commit", {"RM": "2"}))
    graph = VisitedStates(system, symmetry=symmetry)
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


def _shown(
    graph: VisitedStates, row: int, steps: dict[tuple[int, int], list[Event]]
) -> Shown:
    values = graph.layout.unpack(graph.states[row].tolist())
    places = [(field.path, place) for field, place in graph.interpreter.places]
    state = dict(zip(places, values, strict=True))
    participants = [
        (
            state["rm", (n,)].value,
            int(state["prepared_sent", (n,)]) + int(state["prepared_seen", (n,)]),
        )
        for n in range(2)
    ]
    return Shown(
        decision=state["tm", ()].value,
        participants=tuple(sorted(participants, key=lambda one: (-one[1], one[0]))),
        level=next(n for n, end in enumerate(graph.levels[1:]) if row < end),
        ends=all(source != row for source, _ in steps),
    )


def _placed(
    shown: list[Shown], steps: list[tuple[int, int]]
) -> list[tuple[float, float]]:
    """Place each state below those that lead to it, with few crossings (Sugiyama)."""
    # Each step leads one level down, so no line passes a box on its way.
    assert all(shown[b].level == shown[a].level + 1 for a, b in steps)
    levels = [state.level for state in shown]
    across = placed(levels, steps, BOX[0] + GAP)
    return [
        (x + BOX[0] / 2 + EDGE, level * LEVEL + BOX[1] / 2 + EDGE)
        for x, level in zip(across, levels, strict=True)
    ]


def _box(picture: Canvas, state: Shown, at: tuple[float, float]) -> None:
    x, y = at[0] - BOX[0] / 2, at[1] - BOX[1] / 2
    picture.box((x, y), BOX, KINDS[state.decision])
    if state.ends:
        picture.box((x - 3, y - 3), (BOX[0] + 6, BOX[1] + 6), "frame", round_=9)
    decision = DECISIONS[state.decision]
    picture.words((at[0], y + 16), decision, "small strong", anchor="middle")
    for number, (done, vote) in enumerate(state.participants):
        line = y + 33 + 16 * number
        _vote(picture, (x + 14, line - 4), vote)
        picture.words((x + 25, line), done, "small")


def _vote(picture: Canvas, at: tuple[float, float], vote: int) -> None:
    if vote:
        picture.dot(at, 3.5, "mark" if vote > 1 else "mark weak")


def _legend(picture: Canvas, top: float, count: int, apart: int) -> None:
    """Say what shapes and colours mean, and how states were counted."""
    first, second, third = EDGE, 250, 480
    for row, (kind, text) in enumerate(
        (
            ("box", "the manager is undecided"),
            ("on-good", "it has decided to commit"),
            ("on-bad", "it has decided to abort"),
        )
    ):
        line = top + 22 + 22 * row
        picture.box((first, line - 11), (22, 14), kind, round_=3)
        picture.words((first + 32, line), text, "small")
    for row, (vote, text) in enumerate(
        ((1, "a participant's vote is on its way"), (2, "its vote is received"))
    ):
        line = top + 22 + 22 * row
        _vote(picture, (second + 11, line - 4), vote)
        picture.words((second + 32, line), text, "small")
    picture.box((second, top + 55), (22, 14), "box", round_=3)
    picture.box((second - 3, top + 52), (28, 20), "frame", round_=5)
    picture.words((second + 32, top + 66), "nothing happens any more", "small")
    for row, (kind, text) in enumerate(
        (("edge thick", "a step of the manager"), ("edge", "a step of a participant"))
    ):
        line = top + 22 + 22 * row
        picture.path(f"M{third} {line - 4}h24", kind)
        picture.words((third + 34, line), text, "small")
    caption = (
        f"{count} states. {apart} where the two participants are told apart: "
        "here states that differ in their names alone are one."
    )
    picture.words((EDGE, top + 92), caption, "small quiet")
