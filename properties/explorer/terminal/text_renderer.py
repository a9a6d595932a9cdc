"""A view as plain text: what a pipe, a log or a simple terminal is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.properties.counterexample.lanes import ACTION as DONE
from onceproof.properties.counterexample.lanes import (
    FAULT,
    LOOK,
    LaneRow,
    Lanes,
    as_text,
)
from onceproof.properties.counterexample.step_kinds import ACTION, RESTART
from onceproof.properties.explorer.phrases import CELLS, labels, safe, title

if TYPE_CHECKING:
    from onceproof.properties.explorer.view import View

MOST_ROWS = 200
MOST_CELLS = 60
MOST_REASONS = 20


def plain_text(view: View, *, width: int = 88) -> str:
    """Write a view: its lanes, what breaks and why, and the nearest run that passes."""
    lines = [title(view), labels(view)]
    if view.clause:
        lines.append(f"It is claimed that {safe(view.clause)}.")
    if view.steps:
        lines += ["", *as_text(_lanes(view), width=width, most=MOST_ROWS)]
        lines += [f"    ... {view.ending}"] if view.ending else []
        lines.append("    X is a fault, = is what readers see")
    free = [str(step.number) for step in view.steps if step.matters is False]
    if free:
        lines.append(
            f"    can be left out: step{'s' * (len(free) > 1)} {', '.join(free)}"
        )
    lines += _section("why it breaks", _reasons(view))
    lines += _section("the nearest run that passes", _passing(view))
    if len(view.steps) < MOST_CELLS:
        lines += _section("properties along the steps, from the start", _strips(view))
    lines += _section("notes", [safe(note) for note in view.notes])
    return "\n".join(lines)


def _reasons(view: View) -> list[str]:
    """Give the reasons; of many the first, and those that end in the contradiction."""
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
    return Lanes(tuple(safe(name) for name in view.lanes), tuple(rows))


def _passing(view: View) -> list[str]:
    if view.passing is None:
        return []
    shared = view.passing.shared
    own = [
        f"{safe(name)}({', '.join(map(str, members))})"
        for name, members in view.passing.steps[shared:]
    ]
    same = f"steps 1 to {shared} are the same, then" if shared else "from the start"
    return [f"{same} {', '.join(own)}, and rest"]


def _strips(view: View) -> list[str]:
    width = max((len(safe(strip.property)) for strip in view.strips), default=0)
    lines = [
        f"{safe(strip.property):{width}}  "
        + "".join(CELLS.get(cell, "?") for cell in strip.cells)
        + ("" if strip.first is None else f"  fails after step {strip.first}")
        for strip in view.strips
    ]
    key = "· holds, ✕ fails, ✓ met, = seen by readers, - nothing to say, ? not judged"
    return [*lines, key] if lines else []
