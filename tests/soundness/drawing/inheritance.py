"""Puts a part of a protocol into a class that it is derived from.

The class before has the state and the steps. The one that is judged has the claims, may
change sizes and numbers in its line, and may override steps: its effects then come
before those of the class before, whose guard sees them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.soundness.drawing.description import Klass, Method
from tests.soundness.drawing.terms import const

if TYPE_CHECKING:
    from tests.soundness.drawing.methods import Writer

BEFORE = "Before"


def inherited(klass: Klass, w: Writer) -> list[Klass]:
    """Divide a protocol into the class before it and itself."""
    steps = [m for m in klass.methods if m.mark.startswith(("@action", "@fault"))]
    others = [m for m in klass.methods if m not in steps]
    start = [m for m in others if m.name == "__init__"]
    others = [m for m in others if m.name != "__init__"]
    over = [_override(m, w) for m in w.dice.sample(steps, k=min(2, len(steps)))]
    over = [m for m in over if m is not None]
    before = replace(klass, name=BEFORE, methods=(*start, *steps))
    line = "".join(f", {name}={value}" for name, value in _line(w).items())
    methods = tuple(
        replace(m, mark=re.sub(r"\b([STO]|limit)\b", rf"{BEFORE}.\1", m.mark))
        for m in (*over, *others)
    )
    return [before, Klass("Drawn", f"{BEFORE}{line}", (), methods)]


def _line(w: Writer) -> dict[str, int]:
    """Draw what the line of the class changes."""
    sizes = {"S": (1, 2, 3), "T": (1, 2), "O": (2, 3)}
    chosen = {n: sizes[n] for n in sizes if n in w.sorts and w.profile != "wide"}
    chosen |= dict.fromkeys(w.params, (2, 3))
    chosen["faults"] = (0, 1, 2)
    return {n: w.pick(values) for n, values in chosen.items() if w.chance(0.4)}


def _override(method: Method, w: Writer) -> Method | None:
    """Draw an effect that comes before what the class before does."""
    per = method.mark.partition("per=")[2]
    sorts = [name for name in per.replace("(", "").split(")")[0].split(", ") if name]
    sorts = [name for name in sorts if name in w.sorts][: len(method.params)]
    effects = w.statements(tuple(zip(method.params, sorts, strict=True)), 1)
    if not effects:
        return None
    above = const("stmt", f"super().{method.name}({', '.join(method.params)})")
    return replace(method, lines=(*effects, above))
