"""Enumerates state by state and orbit by orbit, and compares what comes out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from onceproof.model.interleavings import enumeration, interleavings
from onceproof.model.interleavings.dependence import dependence
from onceproof.model.interleavings.durable_state import (
    Durable,
    heeds_memory,
    is_crash,
    names_of,
)
from onceproof.model.interleavings.orbit_graph import OrbitGraph
from onceproof.model.interleavings.path_classes import NO_CRASH, PathClasses
from onceproof.model.interleavings.renaming_group import RenamingGroup
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.durable_fields import is_durable
from onceproof.model.language.tracing.trace import trace
from onceproof.model.traces import follow

if TYPE_CHECKING:
    import pytest

    from onceproof.model.interleavings.interleaving import Interleavings
    from onceproof.model.interleavings.path_classes import PathClass
    from onceproof.model.language import Protocol

MANY = 10**7


class Named:
    """Names classes by what is worked out on the graph of all states."""

    def __init__(self, protocol: Protocol) -> None:
        """Work that out."""
        self.system = system = trace(protocol)
        names = names_of(system)
        self.durable = Durable(system, names)
        graph = OrbitGraph(system, RenamingGroup(system, names[:1]), MANY)
        self.durable.of_rows(graph.found)
        self.writes = {
            a.name
            for a in system.actions
            if a.fault or any(is_durable(system, path) for path in a.written)
        }
        self.crashes = {a.name for a in system.actions if is_crash(system, a)}
        self.heeds = {a.name for a in system.actions if heeds_memory(system, a)}
        self.number = {e: i for i, e in enumerate(system.events())}
        apart = dependence(
            graph,
            [e.name in self.writes for e in self.number],
            [e.name in self.crashes for e in self.number],
        )
        self.classes = PathClasses(RenamingGroup(system, names), self.durable, apart)

    def name(self, run: Any) -> PathClass:
        """Take the steps of a run one by one."""
        path = self.classes.beginning(self.durable.of(run.start))
        for before, (event, after) in zip(run.states, run.steps, strict=False):
            found = left = NO_CRASH
            effect = 0
            old, new = self.durable.of(before), self.durable.of(after)
            if event.name in self.crashes:
                found, left = old, new
            elif event.name in self.heeds:
                effect = self.durable.effect(old, new)
            if event.name in self.writes:
                number = self.number[event]
                path = self.classes.longer(path, number, effect, found, left)
        return self.classes.name(path, self.durable.of(run.states[-1]))

    def sizes(self, found: Interleavings) -> Counter[PathClass]:
        """Say how many runs each class has."""
        sizes = Counter({self.name(one.trace): one.size for one in found.classes})
        assert len(sizes) == len(found.classes)
        return sizes


def followed(
    protocol: Protocol, monkeypatch: pytest.MonkeyPatch, *, few: int
) -> Interleavings:
    """Enumerate, following up to ``few`` states one by one."""
    monkeypatch.setattr(enumeration, "FEW_STATES", few)
    return interleavings(protocol)


def same(protocol: Protocol, monkeypatch: pytest.MonkeyPatch) -> int:
    """Compare both ways to follow; answer how many classes there are."""
    by_state = followed(protocol, monkeypatch, few=MANY)
    by_orbit = followed(protocol, monkeypatch, few=0)
    named = Named(protocol)
    assert named.sizes(by_orbit) == named.sizes(by_state)
    assert len(by_orbit.durable_states) == len(by_state.durable_states)
    assert by_orbit.crashes == by_state.crashes
    reference = Interpreter(protocol)
    starts = set(reference.initial_states())
    some = max(1, len(by_orbit.classes) // 20)
    for one in by_orbit.classes[::some]:
        assert one.trace.start in starts
        assert follow(reference, one.trace.start, one.trace.events) == one.trace
        assert reference.resting(one.trace.states[-1])
    everywhere = {one.number for one in by_orbit.classes}
    assert by_orbit.covered(everywhere) == by_state.covered(everywhere)
    return len(by_orbit.classes)
