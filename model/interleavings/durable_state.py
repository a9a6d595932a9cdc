"""What outlives a crash, what faults do to it, and both under any names of members."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from onceproof.model.language.terms import terms as t
from onceproof.model.language.tracing.durable_fields import durable_fields, is_durable
from onceproof.model.search.renamings import (
    MOST_RENAMINGS,
    count_renamings,
    interchangeable,
    position,
    renamed,
    renamed_value,
    renamings,
)

if TYPE_CHECKING:
    from onceproof.model.language.interpreter import State
    from onceproof.model.language.stores.symbolic_store import FieldWrite
    from onceproof.model.language.terms.types import Value
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System
    from onceproof.model.search.renamings import Renaming
    from onceproof.model.search.visited_states import VisitedStates

Remains: TypeAlias = int
"""The durable part of a state, as a number."""

Effect: TypeAlias = int
"""What a step changed in the durable state, as a number."""


Change: TypeAlias = "tuple[tuple[int, Value], ...]"


def is_crash(system: System, action: ActionTerm) -> bool:
    """Return whether a fault loses volatile state at large, and not of its own alone.

    So does one that changes a whole family of elements, or that puts a field which
    has no index back to where it began.
    """
    return action.fault and any(_loses(system, write) for write in action.writes)


def _loses(system: System, write: FieldWrite) -> bool:
    field = system.field(write.field)
    begins = isinstance(write.value, t.Const) and write.value.value == field.initial
    return field.volatile and (write.whole or (not field.sorts and begins))


def heeds_memory(system: System, action: ActionTerm) -> bool:
    """Return whether what a fault does to durable state depends on volatile state."""
    return action.fault and any(
        is_durable(system, write.field)
        and any(
            isinstance(term, t.Get) and system.field(term.field).volatile
            for part in (write.value, *write.indices)
            for term in t.subterms(part)
        )
        for write in action.writes
    )


def names_of(system: System) -> list[Renaming]:
    """List the ways to rename members; only the plain one where there are too many."""
    sorts = interchangeable(system)
    if count_renamings(sorts, system.sizes) > MOST_RENAMINGS:
        sorts = []
    return list(renamings(sorts, system.sizes))


class Durable:
    """Numbers the durable parts of states, and follows them under renaming.

    What is observed counts as durable: whoever looks sees it.
    """

    def __init__(self, system: System, names: list[Renaming]) -> None:
        """Work out which elements endure, and how renamings move them."""
        durable = durable_fields(system)
        places = [
            (field, place)
            for field in system.fields
            for place in field.places(system.sizes)
        ]
        kept = {
            (field.path, place): number
            for number, (field, place) in enumerate(places)
            if field.path in durable
        }
        sorts = {f.path: f.sorts for f in system.fields}
        types = {f.path: f.type for f in system.fields}
        self._types = [types[path] for path, _ in kept]
        self._names = names
        self._kept = list(kept.values())
        dims = {f.path: tuple(system.sizes[s] for s in f.sorts) for f in system.fields}
        self._spots = [(path, position(dims[path], at)) for path, at in kept]
        order = {at: i for i, at in enumerate(kept)}
        self._moves = [
            [order[path, renamed(place, sorts[path], naming)] for path, place in kept]
            for naming in names
        ]
        self._numbers: dict[State, Remains] = {}
        self._states: list[State] = []
        self._alike: dict[Remains, tuple[Remains, ...]] = {}
        self._effects: dict[Change, Effect] = {(): 0}  # 0 is to change nothing
        self._changes: list[Change] = [()]
        self._effects_alike: dict[Effect, tuple[Effect, ...]] = {}

    def of(self, state: State) -> Remains:
        """Return the number of a state's durable part."""
        return self._number(tuple(state[i] for i in self._kept))

    def of_rows(self, found: VisitedStates) -> list[Remains]:
        """Return the number of the durable part of each state of a search."""
        rows = found.states[: found.count]
        mask = np.zeros(rows.shape[1], np.int64)
        for path, element in self._spots:
            place = found.layout.placements[path]
            word, shift = place.spot(element)
            mask[word] |= place.mask << shift
        _, first, which = np.unique(
            rows & mask, axis=0, return_index=True, return_inverse=True
        )
        numbers = np.zeros(len(first), np.int64)
        for at in np.argsort(first).tolist():
            packed = rows[first[at]].tolist()
            numbers[at] = self.of(found.layout.unpack(packed))
        of_each: list[Remains] = numbers[which.reshape(-1)].tolist()
        return of_each

    def alike(self, remains: Remains) -> tuple[Remains, ...]:
        """Return what it becomes under each renaming, in order."""
        if remains not in self._alike:
            state = self._states[remains]
            self._alike[remains] = tuple(
                self._number(self._moved(state, move, naming))
                for move, naming in zip(self._moves, self._names, strict=True)
            )
        return self._alike[remains]

    def whichever(self, remains: Remains) -> Remains:
        """Return the representative of all that differ only in names."""
        return min(self.alike(remains))

    def effect(self, before: Remains, after: Remains) -> Effect:
        """Return the number of what a step changed."""
        states = zip(self._states[before], self._states[after], strict=True)
        return self._effect(
            tuple((i, new) for i, (old, new) in enumerate(states) if old != new)
        )

    def effects_alike(self, effect: Effect) -> tuple[Effect, ...]:
        """Return what an effect becomes under each renaming, in order."""
        if effect not in self._effects_alike:
            change = self._changes[effect]
            self._effects_alike[effect] = tuple(
                self._effect(self._changed(change, move, naming))
                for move, naming in zip(self._moves, self._names, strict=True)
            )
        return self._effects_alike[effect]

    def _effect(self, change: Change) -> Effect:
        if change not in self._effects:
            self._effects[change] = len(self._changes)
            self._changes.append(change)
        return self._effects[change]

    def _number(self, kept: State) -> Remains:
        if kept not in self._numbers:
            self._numbers[kept] = len(self._states)
            self._states.append(kept)
        return self._numbers[kept]

    def _changed(self, change: Change, move: list[int], naming: Renaming) -> Change:
        moved = (
            (move[i], renamed_value(self._types[i], value, naming))
            for i, value in change
        )
        return tuple(sorted(moved, key=lambda one: one[0]))

    def _moved(self, state: State, move: list[int], naming: Renaming) -> State:
        found = list(state)
        for value, type_, to in zip(state, self._types, move, strict=True):
            found[to] = renamed_value(type_, value, naming)
        return tuple(found)
