"""Lanes: a counterexample as a table, a column for each that acts, a row a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.language.steps import Event
from onceproof.properties.counterexample.file import lane_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.interpreter import Interpreter
    from onceproof.properties.counterexample.file import Counterexample

FAULT, ACTION, LOOK = "fault", "action", "look"
_MARK = {FAULT: "X ", ACTION: "", LOOK: "= "}
READERS = "readers see"


@dataclass(frozen=True)
class LaneRow:
    """A step, or what is seen after it, in the lane of who acts.

    ``number`` is that of the step, from 1; ``breaks`` says that the property fails
    here for the first time.
    """

    number: int
    lane: int
    kind: str
    text: str
    breaks: bool = False


@dataclass(frozen=True)
class Lanes:
    """The columns of a counterexample, and its rows in order of time."""

    names: tuple[str, ...]
    rows: tuple[LaneRow, ...]


def lanes_of(counterexample: Counterexample) -> Lanes:
    """Lay out a counterexample: first who acts first, and readers last."""
    names = list(
        dict.fromkeys(
            step.lane or counterexample.protocol for step in counterexample.steps
        )
    )
    if counterexample.observed is not None:
        names.append(READERS)
    rows = []
    for number, step in enumerate(counterexample.steps, 1):
        kind = FAULT if step.fault else ACTION
        lane = names.index(step.lane or counterexample.protocol)
        here = counterexample.observed is None and number == counterexample.fails_at
        rows.append(LaneRow(number, lane, kind, str(step), here))
        rows += _looks(counterexample, number, len(names) - 1)
    return Lanes(tuple(names), tuple(rows))


@dataclass(frozen=True)
class LaneRule:
    """How the lane of an action's events is named: ``text``, then a member's number.

    ``member`` is its position among those that the event is for; None for no number.
    """

    text: str
    member: int | None = None

    def lane(self, members: Sequence[int]) -> str:
        """Name the lane of an event for these members."""
        number = "" if self.member is None else members[self.member]
        return f"{self.text}{number}"


def lane_rules(interpreter: Interpreter) -> dict[str, LaneRule]:
    """Tell by action who acts, so that lanes of events that never were are known."""
    return {name: _rule(interpreter, name) for name in interpreter.steps}


def _rule(interpreter: Interpreter, name: str) -> LaneRule:
    arity = len(interpreter.steps[name].sorts)
    text = lane_of(interpreter, Event(name, (0,) * arity))
    for at in range(arity):
        other = Event(name, tuple(int(i == at) for i in range(arity)))
        if lane_of(interpreter, other) != text:
            return LaneRule(text.removesuffix("0"), at)
    return LaneRule(text)


def _looks(counterexample: Counterexample, number: int, lane: int) -> list[LaneRow]:
    """Give what readers saw just after a step."""
    seen = counterexample.observed
    if seen is None:
        return []
    return [
        LaneRow(
            number,
            lane,
            LOOK,
            _seen(counterexample, moment),
            moment == counterexample.fails_at,
        )
        for moment, at in enumerate(counterexample.looks)
        if at == number
    ]


def _seen(line: Counterexample, moment: int) -> str:
    if line.observed is None:
        return ""
    seen = line.observed.seen(moment).items()
    text = ", ".join(f"{events} x{times}" for times, events in seen)
    more = line.observed.unexplained[moment]
    return f"{text}, {more} stray" if more else text


def as_text(lanes: Lanes, *, width: int = 88, most: int = 24) -> list[str]:
    """Draw lanes as lines of plain text: ``X`` marks a fault, ``=`` what is seen.

    Of more than ``most`` rows those far from any fault are left out, and that is said.
    """
    room = max(12, (width - 4) // max(1, len(lanes.names)))
    lines = ["    " + "".join(_fit(name, room) for name in lanes.names).rstrip()]
    kept = _kept(lanes.rows, most)
    last = -1
    for place in kept:
        if place > last + 1:
            lines.append(f"    ... {place - last - 1} steps ...")
        row = lanes.rows[place]
        number = f"{row.number:3} " if row.kind != LOOK else "    "
        text = f"{_MARK[row.kind]}{row.text}{'  <- breaks here' if row.breaks else ''}"
        before = f"{number}{' ' * (room * row.lane)}"
        # A row has one text, so what is longer than its lane has room on its right.
        whole = row.kind == LOOK or row.breaks
        shown = text if whole else _fit(text, max(room, width - len(before)))
        lines.append(f"{before}{shown}".rstrip())
        last = place
    if last < len(lanes.rows) - 1:
        lines.append(f"    ... {len(lanes.rows) - 1 - last} steps ...")
    return lines


def _fit(text: str, room: int) -> str:
    short = text if len(text) < room else f"{text[: room - 3]}.."
    return short.ljust(room)


def _kept(rows: Sequence[LaneRow], most: int) -> list[int]:
    """Choose rows: what matters first, then what is near it, in order of time."""
    if len(rows) <= most:
        return list(range(len(rows)))
    matter = [i for i, row in enumerate(rows) if row.kind != ACTION or row.breaks]
    near = sorted(
        range(len(rows)), key=lambda i: (min(abs(i - m) for m in matter or [0]), i)
    )
    return sorted(near[: most - 2])
