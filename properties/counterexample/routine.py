"""Routine: the steps of a run that its story does not need, folded into one line each.

A long run is mostly routine: batches in which nothing happens, before a fault and after
it. What is folded is still there, and is unfolded on request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection

    from onceproof.properties.counterexample.file import Counterexample

Fold: TypeAlias = tuple[int, int]
"""The first and the last of some steps that are folded, from 1."""

FOLDED = "{count} routine steps, {first} to {last}: {from} ... {to}"
SHORT = 12
FEWEST = 3


def folds_of(steps: int, kept: Collection[int]) -> tuple[Fold, ...]:
    """List what is folded of so many steps, where those in ``kept`` are shown.

    A run of up to ``SHORT`` steps is shown whole, and fewer than ``FEWEST`` steps in a
    row are not worth a fold.
    """
    if steps <= SHORT:
        return ()
    found, first = [], 0
    for number in range(1, steps + 2):
        if number <= steps and number not in kept:
            first = first or number
            continue
        if first and number - first >= FEWEST:
            found.append((first, number - 1))
        first = 0
    return tuple(found)


def telling_steps(counterexample: Counterexample) -> set[int]:
    """Number the steps that a file alone shows to be no routine.

    They are the faults with the step before and after each, what is done again and has
    another effect than the first time, the step that breaks the claim, and, of what is
    repeated for ever, where it begins.
    """
    numbered = list(enumerate(counterexample.steps, 1))
    faults = {number for number, step in numbered if step.fault}
    found = {near for number in faults for near in (number - 1, number, number + 1)}
    first: dict[object, int] = {}
    for number, step in numbered:
        before = first.setdefault((step.event, step.members), number)
        if counterexample.steps[before - 1].changes != step.changes:
            found |= {before, number}
    if counterexample.observed is None:
        found.add(counterexample.fails_at)
    elif counterexample.fails_at < len(counterexample.looks):
        found.add(counterexample.looks[counterexample.fails_at])
    if counterexample.loop is not None:
        found.add(counterexample.loop + 1)
    return found & set(range(1, len(numbered) + 1))
