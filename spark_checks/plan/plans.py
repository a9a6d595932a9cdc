"""The plans of a sink's interleavings: each is made once for a whole replay."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from onceproof.model.language.interpreter import Interpreter
from onceproof.spark_checks.plan.planner import realise
from onceproof.spark_checks.plan.realisations import in_shared_session
from onceproof.spark_checks.plan.run_plan import InterleavingPlan, NotReplayable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.spark_checks.plan.realisations import Realisation
    from onceproof.spark_checks.plan.run_plan import InjectionPoint
    from onceproof.spark_checks.plan.sink_kind import SinkKind
    from onceproof.spark_checks.sinks.interface import ModelledSink


class Plans:
    """Makes the plan of an interleaving when it is first asked for, and keeps it.

    The choice of interleavings, their runs, and the runs that confirm a failure all
    go by the same plan. Threads may ask side by side.
    """

    def __init__(
        self,
        protocol: Protocol,
        sink: ModelledSink,
        kind: SinkKind,
        realised: Realisation = in_shared_session,
    ) -> None:
        """Plan the interleavings of a sink, which is of some ``kind``.

        ``realised`` says which processes the faults end, and how.
        """
        self._realised = realised
        self._protocol = protocol
        self._interpreter = Interpreter(protocol)
        self._sink = sink
        self._kind = kind
        self._made: dict[int, InterleavingPlan] = {}
        self._lock = threading.Lock()

    def of(self, one: Interleaving) -> InterleavingPlan:
        """Return the plan of an interleaving, or why there is none."""
        with self._lock:
            if one.number not in self._made:
                self._made[one.number] = self._make(one)
            return self._made[one.number]

    def hits(self, one: Interleaving) -> tuple[InjectionPoint, ...] | None:
        """Return the places that an interleaving's faults are injected into.

        None for one that cannot be replayed.
        """
        plan = self.of(one)
        return None if plan.refusal else plan.hits

    def keep(self, chosen: Iterable[Interleaving]) -> None:
        """Drop the plans of all interleavings that are not chosen."""
        numbers = {one.number for one in chosen}
        with self._lock:
            self._made = {n: plan for n, plan in self._made.items() if n in numbers}

    def _make(self, one: Interleaving) -> InterleavingPlan:
        try:
            what = (self._protocol, self._sink, self._kind)
            runs = realise(one, *what, interpreter=self._interpreter)
        except NotReplayable as why:
            return InterleavingPlan(one, refusal=str(why), cause=why.cause)
        return self._realised(InterleavingPlan(one, runs))
