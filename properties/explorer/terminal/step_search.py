"""Finds steps by what a reader types: an action or a kind of step, and who acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.text import safe
from onceproof.properties.explorer.phrases import word

if TYPE_CHECKING:
    from onceproof.properties.explorer.view import View


def matches(view: View, typed: str) -> frozenset[int]:
    """Return the numbers of the steps that match, such as ``write by partition 1``."""
    action, _, who = f" {typed.lower()}".partition(" by ")
    return frozenset(
        step.number
        for step in view.steps
        if action.strip() in f"{safe(step.text)} {word(step.kind)}".lower()
        and who.strip() in safe(view.lanes[step.lane]).lower()
    )


def in_words(found: frozenset[int], typed: str) -> str:
    """Return how many steps match what was typed."""
    many = len(found)
    count = "No step is" if not many else "1 step is" if many == 1 else f"{many} are"
    return f"{count} found by {safe(typed)}. "


def next_match(found: frozenset[int], step: int, way: int) -> int:
    """Return the next match after a step, or the previous one where ``way`` is -1.

    After the last match comes the first.
    """
    numbers = sorted(found, reverse=way < 0)
    further = (number for number in numbers if (number - step) * way > 0)
    return next(further, numbers[0])
