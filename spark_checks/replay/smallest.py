"""Which of several failures is the smallest, so that it is the one that is shown.

It has the fewest faults, and of those the driver's deaths come first: they are what
happens most. Then come the earliest batch of the first fault, and the fewest steps. A
replay runs through all batches, so that their number is the same for each.
Interleavings are tried in this order, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from onceproof.model.language.interpreter import Interpreter
from onceproof.properties.judges.by_history import broken
from onceproof.spark_checks.plan.fault_kinds import FAULT_KINDS

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.model.protocols.micro_batch import MicroBatch
    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay.outcome import Outcome

_DRIVER_DIES = frozenset(n for n, kind in FAULT_KINDS.items() if kind.kills_driver)
Smallness: TypeAlias = tuple[int, int, int, int, int]


class Smallest:
    """Compares the interleavings of one protocol."""

    def __init__(self, protocol: MicroBatch) -> None:
        """Look at interleavings of a protocol."""
        self._interpreter = Interpreter(protocol)

    def of(self, one: Interleaving) -> Smallness:
        """Measure an interleaving: the smaller, the better to show."""
        before = one.trace.states[min(one.faults, default=0)]
        batch = cast("MicroBatch", self._interpreter.look(before)).commits
        names = [one.trace.events[at].name for at in one.faults]
        spared = len(names) - sum(name in _DRIVER_DIES for name in names)
        return len(one.faults), spared, batch, len(one.trace.steps), one.number

    def first_break(
        self, prop: Property, outcomes: Iterable[Outcome], unsteady: Container[int]
    ) -> Outcome | None:
        """Return the smallest replayed interleaving that breaks a property.

        Those that are ``unsteady``, by their numbers, do not count.
        """
        breaking = (
            outcome
            for outcome in outcomes
            if outcome.spark is not None
            and outcome.interleaving.number not in unsteady
            and broken(prop, outcome.spark)
        )
        return min(breaking, key=lambda o: self.of(o.interleaving), default=None)
