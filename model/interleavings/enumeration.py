"""The failure interleavings of a protocol, one of each equivalence class.

The *durable word* of an interleaving is the sequence of its faults and of the actions
that write state which outlives a crash. Two such steps commute when they can be swapped
wherever one follows the other, and lead to the same state; that is established on the
whole state graph, not assumed. A fault that loses volatile state commutes with no
durable write: it is a moment at which someone may look.

Two interleavings are equivalent when their durable words are equal up to the order of
neighbours that commute (Mazurkiewicz, 1977), and when they start, crash and end in the
same durable states, up to the names of members of interchangeable sorts. A real run
that is killed at these durable states cannot distinguish them, because everything else
is lost. What an observer of the protocol reads counts as durable. A fault that the
driver survives, such as a task's failure, may be injected between durable writes of
others that it neither undoes nor prevents; their order is free. Where volatile state
decides what a fault does to durable state, faults with different effects differ.

Where there are many states, those that differ only in the names of interchangeable
members are followed as one. The classes, and how many runs each has, are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.errors import TooLargeError, UsageError
from onceproof.model.interleavings.dependence import dependence
from onceproof.model.interleavings.durable_state import (
    Durable,
    heeds_memory,
    is_crash,
    names_of,
)
from onceproof.model.interleavings.interleaving import Interleaving, Interleavings
from onceproof.model.interleavings.orbit_graph import OrbitGraph
from onceproof.model.interleavings.path_classes import PathClasses
from onceproof.model.interleavings.paths import Ending, KeyEvents, Paths
from onceproof.model.interleavings.renaming_group import RenamingGroup
from onceproof.model.language.tracing.durable_fields import is_durable
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.renamings import (
    MOST_RENAMINGS,
    count_renamings,
    interchangeable,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System

_NEWS = 1000
MOST_STATES = 500_000
FEW_STATES = 10_000
"""Up to how many states are followed one by one, and not orbit by orbit."""


def interleavings(
    protocol: Protocol, progress: Callable[[str], None] | None = None
) -> Interleavings:
    """Enumerate the failure interleavings of a protocol, in a fixed order.

    Each runs from an initial state to rest. The protocol's ``faults`` bounds how
    many faults one may hold. ``progress`` is told how far it is. Raises ``UsageError``
    for a protocol that need not reach rest, or is too large to enumerate.
    """
    system = trace(protocol)
    names = names_of(system)
    group = RenamingGroup(system, names)
    graph = _graph(system, group)
    durable = Durable(system, names)
    remains = durable.of_rows(graph.found)
    events = _key_events(system)
    apart = dependence(graph, events.keys, events.crashes)
    classes = PathClasses(group, durable, apart)
    paths = Paths(graph, classes, durable, remains, events, progress)
    merged: dict[tuple[int, int], tuple[int, Ending]] = {}
    for ending in paths.endings:
        alike = classes.canonical(ending.path_class, ending.end)
        before, first = merged.get(alike, (0, ending))
        merged[alike] = (before + ending.size, first)
    named = sorted(
        (
            (classes.name(first.path_class, first.end), size, first)
            for size, first in merged.values()
        ),
        key=lambda one: (len(one[0].word), one[0]),
    )
    keys = {e for e, key in zip(system.events(), events.keys, strict=True) if key}
    found = []
    for number, (_, size, first) in enumerate(named, 1):
        if progress is not None and number % _NEWS == 0:
            progress(f"made a run of {number:,} of {len(named):,} classes")
        run = paths.trace(first)
        marks = tuple(i for i, e in enumerate(run.events) if e in keys)
        found.append(Interleaving(number, run, marks, size))
    crashes = np.flatnonzero(np.array(events.crashes)[graph.events])
    return Interleavings(
        protocol,
        tuple(found),
        frozenset(
            durable.whichever(remains[row])
            for row in np.unique(graph.sources[crashes]).tolist()
        ),
        durable,
        frozenset(a.name for a in system.actions if is_crash(system, a)),
    )


def _graph(system: System, group: RenamingGroup) -> OrbitGraph:
    """Search the whole graph: of states if they are few, else of orbits."""
    plain = RenamingGroup(system, group.names[:1])
    if len(group) > 1:
        try:
            return OrbitGraph(system, plain, FEW_STATES)
        except TooLargeError:
            plain = group
    try:
        return OrbitGraph(system, plain, MOST_STATES)
    except TooLargeError as error:
        message = f"{error}, too many to enumerate interleavings; choose smaller ones"
        ways = count_renamings(interchangeable(system), system.sizes)
        if ways > len(group):
            message += (
                ". States that differ in names are not followed as one: there are more "
                f"than {MOST_RENAMINGS} ways to swap names"
            )
        raise UsageError(message) from None


def _key_events(system: System) -> KeyEvents:
    """Say what each event is to an interleaving."""
    events = system.events()
    crashes = {a.name for a in system.actions if is_crash(system, a)}
    writes = {a.name for a in system.actions if _writes_durable(system, a)}
    heeds = {a.name for a in system.actions if heeds_memory(system, a)}
    return KeyEvents(
        [e.fault or e.name in writes for e in events],
        [e.name in crashes for e in events],
        [e.name in heeds and e.name not in crashes for e in events],
    )


def _writes_durable(system: System, action: ActionTerm) -> bool:
    return any(is_durable(system, path) for path in action.written)
