"""Lanes: a counterexample as a table, a column for each that acts, a row a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.language.steps import Event
from onceproof.properties.counterexample.file import lane_of
from onceproof.properties.counterexample.routine import (
    FOLDED,
    Fold,
    folds_of,
    telling_steps,
)
from onceproof.properties.words.readers import failed, times

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
    """The position of the lane among the names."""
    kind: str
    """The kind of step, or that readers look."""
    text: str
    """The label of the step, or what readers see."""
    breaks: bool = False


@dataclass(frozen=True)
class Lanes:
    """The columns of a counterexample, its rows in order of time, and its folds."""

    names: tuple[str, ...]
    """The name of each lane, from left to right."""
    rows: tuple[LaneRow, ...]
    """The rows, in order of time."""
    folds: tuple[Fold, ...] = ()
    """The routine steps that are shown as one line."""


def lanes_of(counterexample: Counterexample) -> Lanes:
    """Lay out a counterexample: first who acts first, and readers last.

    Steps that a real run did not take are left out.
    """
    counterexample = counterexample.as_taken()
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
    folds = folds_of(len(counterexample.steps), telling_steps(counterexample))
    return Lanes(tuple(names), tuple(rows), folds)


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
    """Map each action to who acts, so that lanes of all possible events are known."""
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
    """Return what readers saw just after a step."""
    seen = counterexample.observed
    if seen is None:
        return []
    return [
        LaneRow(
            number,
            lane,
            LOOK,
            _seen(counterexample, moment),
            moment == counterexample.fails_at and not counterexample.undecided(),
        )
        for moment, at in enumerate(counterexample.looks)
        if at == number
    ]


def _seen(line: Counterexample, moment: int) -> str:
    if line.observed is None:
        return ""
    if error := line.observed.error(moment):
        return failed(error)
    seen = line.observed.seen(moment).items()
    text = ", ".join(f"{events} {times(often)}" for often, events in seen)
    more = line.observed.unexplained[moment]
    return f"{text}, {more} that should not be there" if more else text


def as_text(
    lanes: Lanes, *, width: int = 88, most: int = 24, unfold: bool = False
) -> list[str]:
    """Draw lanes as lines of plain text: ``X`` marks a fault, ``=`` what is seen.

    Routine steps are one line together, unless ``unfold`` asks for each. Of more
    than ``most`` lines those far from any fault are left out, and that is said.
    """
    room, headings = _headings(lanes.names, (width - 4) // max(1, len(lanes.names)))
    lines = ["    " + "".join(name.ljust(room) for name in headings).rstrip()]
    blocks = _blocks(lanes, unfold=unfold)
    last = -1
    for place in _kept(blocks, most):
        lines += _left_out(blocks[last + 1 : place])
        lines.append(_line(blocks[place], room, width))
        last = place
    return lines + _left_out(blocks[last + 1 :])


def _headings(names: Sequence[str], share: int) -> tuple[int, list[str]]:
    """Return how wide the lanes are, and headings that fit and differ as names do."""
    longest = max((len(name) for name in names), default=0)
    room = max(12, min(share, longest + 2))
    for shorten in (_short, _short_before_number, _short_inside):
        found = [shorten(name, room - 1) for name in names]
        if len(set(found)) == len(set(names)):
            return room, found
    return longest + 2, list(names)


def _short_before_number(text: str, room: int) -> str:
    """Cut a text that is too long, but for the number at its end."""
    head, _, number = text.rpartition(" ")
    return text if len(text) <= room else f"{_short(head, room - len(number))}{number}"


def _short_inside(text: str, room: int) -> str:
    """Cut a text that is too long in its middle."""
    end = room // 2
    return text if len(text) <= room else f"{text[: room - end - 2]}..{text[-end:]}"


def _blocks(lanes: Lanes, *, unfold: bool) -> list[list[LaneRow]]:
    """Group rows into lines: a row for itself, or those of a fold."""
    inside = {
        number: fold
        for fold in (() if unfold else lanes.folds)
        for number in range(fold[0], fold[1] + 1)
    }
    found: list[list[LaneRow]] = []
    open_: Fold | None = None
    for row in lanes.rows:
        fold = inside.get(row.number)
        if fold is not None and row.kind == LOOK and row.number == fold[1]:
            fold = None
        if fold is None or fold != open_:
            found.append([row])
        else:
            found[-1].append(row)
        open_ = fold
    return found


def _left_out(blocks: Sequence[Sequence[LaneRow]]) -> list[str]:
    """Return how many steps are left out, if any are."""
    count = len({row.number for block in blocks for row in block})
    steps = "1 step" if count == 1 else f"{count} steps"
    return [f"    ... {steps} ..."] if count else []


def _line(block: Sequence[LaneRow], room: int, width: int) -> str:
    row = block[0]
    if len(block) > 1:
        steps = [row for row in block if row.kind != LOOK]
        first, last = steps[0], steps[-1]
        ends = {"from": first.text, "to": last.text}
        sentence = FOLDED.format(
            count=len(steps), first=first.number, last=last.number, **ends
        )
        return _short(f"    ... {sentence}", width)
    number = f"{row.number:3} " if row.kind != LOOK else "    "
    text = f"{_MARK[row.kind]}{row.text}{'  <- breaks here' if row.breaks else ''}"
    before = f"{number}{' ' * (room * row.lane)}"
    # A row has one text, so what is longer than its lane has room on its right.
    whole = row.kind == LOOK or row.breaks
    shown = text if whole else _fit(text, max(room, width - len(before)))
    return f"{before}{shown}".rstrip()


def _fit(text: str, room: int) -> str:
    return _short(text, room - 1).ljust(room)


def _short(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 2]}.."


def _kept(blocks: Sequence[Sequence[LaneRow]], most: int) -> list[int]:
    """Choose lines: what matters first, then what is near it, in order of time."""
    if len(blocks) <= most:
        return list(range(len(blocks)))
    matter = [
        i
        for i, block in enumerate(blocks)
        if any(row.kind != ACTION or row.breaks for row in block)
    ]
    near = sorted(
        range(len(blocks)), key=lambda i: (min(abs(i - m) for m in matter or [0]), i)
    )
    return sorted(near[: most - 2])
