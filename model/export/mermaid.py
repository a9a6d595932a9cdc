"""The picture of a model: its state graph, as Mermaid text."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from onceproof.model.search.visited_states import VisitedStates
from onceproof.model.text import printable

if TYPE_CHECKING:
    from onceproof.model.export.names import Names
    from onceproof.model.language.interpreter import State
    from onceproof.model.language.tracing.system import System

_ODD = re.compile(r"[^\w .,=+*/()\[\]-]")


def mermaid(system: System, *, states: int = 60, names: Names | None = None) -> str:
    """Draw the reachable states and the steps between them, as Mermaid text.

    States are numbered in the order of a breadth-first search, and labelled with
    what differs from the first. Faults are marked with ``!``. No more than
    ``states`` are drawn; the picture says so where there are more. Steps and elements
    have their ``names``; without them, they have their numbers.
    """
    graph = VisitedStates(system)
    graph.start()
    done = 0
    steps: list[tuple[State, str, State]] = []
    while done < min(graph.count, states):
        before = graph.layout.unpack(graph.states[done].tolist())
        made = graph.expand(done, done + 1)
        for words, act in zip(made.states.tolist(), made.events.tolist(), strict=True):
            event = graph.events[act]
            text = str(event) if names is None else _shown(names.event(event, before))
            label = f"! {text}" if event.fault else text
            steps.append((before, label, graph.layout.unpack(words)))
        graph.add(made.states)
        done += 1
    shown = [graph.layout.unpack(graph.states[row].tolist()) for row in range(done)]
    numbers = {state: number for number, state in enumerate(shown, 1)}
    lines = ["stateDiagram-v2"]
    for state, number in numbers.items():
        label = _label(graph, shown[0], state, names)
        lines.append(f"    s{number} : {number} {label}")
    lines.extend(
        f"    s{numbers[a]} --> s{numbers[b]} : {label}"
        for a, label, b in steps
        if b in numbers
    )
    if graph.count > done:
        lines.append(f"    note right of s{done} : only the first {done} states")
    return "\n".join(lines)


def _shown(value: object) -> str:
    """Return a value in letters that mean nothing to Mermaid."""
    return _ODD.sub(lambda found: f"#{ord(found[0])};", printable(str(value)))


def _label(
    graph: VisitedStates, first: State, state: State, names: Names | None
) -> str:
    if state == first:
        return "start"
    if names is not None:
        changes = names.differences(first, state).items()
        return " ".join(f"{_shown(name)}={_shown(value)}" for name, value in changes)
    parts = []
    for (field, place), old, new in zip(
        graph.interpreter.places, first, state, strict=True
    ):
        if old != new:
            index = f"[{','.join(map(str, place))}]" if place else ""
            value = new.value if isinstance(new, Enum) else new
            parts.append(f"{field.path}{index}={_shown(value)}")
    return " ".join(parts)
