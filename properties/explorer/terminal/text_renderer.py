"""A view as plain text: what a pipe, a log or a simple terminal is given."""

from __future__ import annotations

import itertools
import textwrap
from typing import TYPE_CHECKING

from onceproof.model.text import safe
from onceproof.properties.counterexample.lanes import ACTION as DONE
from onceproof.properties.counterexample.lanes import (
    FAULT,
    LOOK,
    LaneRow,
    Lanes,
    as_text,
)
from onceproof.properties.counterexample.routine import FEWEST
from onceproof.properties.counterexample.step_kinds import ACTION, RESTART
from onceproof.properties.explorer.phrases import CELLS, labels, say, title, when

if TYPE_CHECKING:
    from onceproof.properties.explorer.view import View

MOST_ROWS = 200
MOST_CELLS = 60
MOST_REASONS = 20
MOST_CHANGES = 3
MOST_ELEMENTS = 40


def plain_text(view: View, *, width: int = 88, unfold: bool = False) -> str:
    """Write a view: its story, its lanes, why it breaks, and a run that passes.

    Routine steps are one line together, unless ``unfold`` asks for each.
    """
    lines = [title(view), labels(view)]
    if view.story is not None:
        lines += ["", *story_lines(view, width)]
    elif view.clause:
        lines.append(say("claimed", clause=safe(view.clause)))
    if view.steps:
        drawn = as_text(_lanes(view), width=width, most=MOST_ROWS, unfold=unfold)
        lines += ["", *drawn]
        if view.folds and not unfold:
            lines.append("    --unfold shows the routine steps one by one")
        lines += [f"    ... {view.ending}"] if view.ending else []
        lines.append("    X is a fault, = is what readers see")
    if not view.steps:
        lines += _section(say("state-at-the-start"), _start(view))
    free = [step.number for step in view.steps if step.matters is False]
    if free:
        steps = "steps" if len(free) > 1 else "step"
        lines.append(f"    can be left out: {steps} {_numbers(free)}")
    lines += _section("why it breaks", _reasons(view))
    lines += _section("the nearest run that passes", _passing(view, width - 2))
    if len(view.steps) < MOST_CELLS:
        lines += _section("properties along the steps, from the start", _strips(view))
    lines += _section("notes", [safe(note) for note in view.notes])
    return "\n".join(lines)


def story_lines(view: View, width: int) -> list[str]:
    """Write the story of a view: what is wrong, which claim it breaks, and how."""
    story = view.story
    if story is None:
        return []
    found = []
    for text in filter(None, (story.saw, story.why)):
        found += textwrap.wrap(safe(text), width)
    if story.steps:
        found += ["", f"{say('story-steps')}:"]
    for step in story.steps:
        found.append(f"{step.step:3} {safe(step.who)}: {safe(step.text)}")
        changes = [
            f"{safe(c.name)}: {_value(c.before)} -> {_value(c.after)}"
            for c in step.changes[:MOST_CHANGES]
        ]
        about = " ".join(filter(None, (safe(step.doc), "; ".join(changes))))
        found += textwrap.wrap(
            about, width, initial_indent=" " * 4, subsequent_indent=" " * 4
        )
    return found


def _numbers(steps: list[int]) -> str:
    """Write numbers in order, three or more in a row as "11 to 25"."""
    rows: list[list[int]] = []
    for step in steps:
        if rows and step == rows[-1][-1] + 1:
            rows[-1].append(step)
        else:
            rows.append([step])
    shown = (
        [f"{row[0]} to {row[-1]}"] if len(row) >= FEWEST else map(str, row)
        for row in rows
    )
    return ", ".join(itertools.chain.from_iterable(shown))


def _value(value: object) -> str:
    return "?" if value is None else safe(value)


def _reasons(view: View) -> list[str]:
    """Return the reasons: the first ones, and those that end in the contradiction."""
    reasons = [safe(reason) for reason in view.because]
    more = len(reasons) - MOST_REASONS
    if more <= 0:
        return reasons
    first, last = MOST_REASONS // 4, MOST_REASONS - MOST_REASONS // 4
    return [*reasons[:first], f"... {more} more reasons ...", *reasons[-last:]]


def _section(head: str, lines: list[str]) -> list[str]:
    return ["", f"{head}:", *(f"  {line}" for line in lines)] if lines else []


def _lanes(view: View) -> Lanes:
    rows = []
    for step in view.steps:
        kind = DONE if step.kind in (ACTION, RESTART) else FAULT
        seen = [look for look in view.looks if look.after == step.number]
        here = step.breaks and not any(look.breaks for look in seen)
        rows.append(LaneRow(step.number, step.lane, kind, safe(step.text), here))
        last = len(view.lanes) - 1
        rows += [LaneRow(step.number, last, LOOK, safe(s.text), s.breaks) for s in seen]
    names = tuple(safe(name) for name in view.lanes)
    return Lanes(names, tuple(rows), view.folds)


def _start(view: View) -> list[str]:
    """List what the first state holds, budgets of faults apart."""
    lines = [
        f"{safe(name)} = {_value(value)}"
        for name, value in view.start.items()
        if name.split(".")[0] != "faults"
    ]
    more = len(lines) - MOST_ELEMENTS
    return lines if more <= 0 else [*lines[:MOST_ELEMENTS], f"... {more} more ..."]


def _passing(view: View, width: int) -> list[str]:
    if view.passing is None:
        return []
    shared = view.passing.shared
    own = map(safe, view.passing.labels[shared:])
    same = "from the start"
    if shared:
        many = f"steps 1 to {shared} are" if shared > 1 else "step 1 is"
        same = f"{many} the same, then"
    return textwrap.wrap(f"{same} {', '.join(own)}, and rest", width)


def _strips(view: View) -> list[str]:
    width = max((len(safe(strip.property)) for strip in view.strips), default=0)
    lines = [
        f"{safe(strip.property):{width}}  "
        + "".join(CELLS.get(cell, "?") for cell in strip.cells)
        + ("" if strip.first is None else f"  fails {when(strip.first)}")
        for strip in view.strips
    ]
    key = "· holds, ✕ fails, ✓ met, = seen by readers, - nothing to say, ? not judged"
    return [*lines, key] if lines else []
