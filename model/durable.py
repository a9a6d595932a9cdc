"""What outlives a crash: of a state, of a run, and under any names of its members."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from onceproof.model.explore.symmetry import (
    MOST_RENAMINGS,
    count_renamings,
    interchangeable,
    renamed,
    renamings,
)

if TYPE_CHECKING:
    from onceproof.model.explore.symmetry import Renaming
    from onceproof.model.language.plain import State
    from onceproof.model.language.trace import ActionTerm, System

Remains: TypeAlias = int
"""The durable part of a state, as a number that stands for it."""


def is_durable(system: System, path: str) -> bool:
    """Say whether a field outlives a crash; budgets of faults are no state at all."""
    budget = path.split(".", maxsplit=1)[0] == "faults"
    return not (budget or system.field(path).volatile)


def is_crash(system: System, action: ActionTerm) -> bool:
    """Say whether a fault loses volatile state at large, and not of its own alone."""
    return action.fault and any(
        write.whole and system.field(write.field).volatile for write in action.writes
    )


def names_of(system: System) -> list[Renaming]:
    """List the ways to rename members; only the plain one where there are too many."""
    sorts = interchangeable(system)
    if count_renamings(sorts, system.sizes) > MOST_RENAMINGS:
        sorts = []
    return list(renamings(sorts, system.sizes))


class Durable:
    """Numbers the durable parts of states, and follows them under renaming."""

    def __init__(self, system: System, names: list[Renaming]) -> None:
        """Work out which elements endure, and how renamings move them."""
        places = [
            (field, place)
            for field in system.fields
            for place in field.places(system.sizes)
        ]
        kept = {
            (field.path, place): number
            for number, (field, place) in enumerate(places)
            if is_durable(system, field.path)
        }
        sorts = {f.path: f.sorts for f in system.fields}
        self._kept = list(kept.values())
        order = {at: i for i, at in enumerate(kept)}
        self._moves = [
            [order[path, renamed(place, sorts[path], naming)] for path, place in kept]
            for naming in names
        ]
        self._numbers: dict[State, Remains] = {}
        self._states: list[State] = []
        self._alike: dict[Remains, tuple[Remains, ...]] = {}

    def of(self, state: State) -> Remains:
        """Give the number of a state's durable part."""
        return self._number(tuple(state[i] for i in self._kept))

    def alike(self, remains: Remains) -> tuple[Remains, ...]:
        """Give what it becomes under each renaming, in order."""
        if remains not in self._alike:
            state = self._states[remains]
            self._alike[remains] = tuple(
                self._number(_moved(state, move)) for move in self._moves
            )
        return self._alike[remains]

    def whichever(self, remains: Remains) -> Remains:
        """Give the one that stands for all that differ in names alone."""
        return min(self.alike(remains))

    def _number(self, kept: State) -> Remains:
        if kept not in self._numbers:
            self._numbers[kept] = len(self._states)
            self._states.append(kept)
        return self._numbers[kept]


def _moved(state: State, move: list[int]) -> State:
    found = list(state)
    for value, to in zip(state, move, strict=True):
        found[to] = value
    return tuple(found)
