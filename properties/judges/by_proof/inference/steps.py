"""Counterexamples to induction at a given size, one query after another."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import z3

from onceproof.model.language.interpreter import Interpreter
from onceproof.properties.judges.by_proof.claims import renamed
from onceproof.properties.judges.by_proof.connectives import (
    asserted,
    conjoin,
    disjoin,
    negate,
)
from onceproof.properties.judges.by_proof.encode import Encoder
from onceproof.properties.judges.by_proof.fragment import before_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onceproof.model.language.interpreter import State
    from onceproof.model.language.terms.terms import Term
    from onceproof.model.language.tracing.system import System


class OutOfTimeError(Exception):
    """The time is over before the answer was found."""


class Steps:
    """Asks for states from which a step breaks a claim, where others hold."""

    def __init__(self, system: System, terms: Iterable[Term], deadline: float) -> None:
        """Prepare for claims made of ``terms``."""
        self.system = system
        self._encoder = Encoder(system, terms)
        self._state = self._encoder.elements("")
        self._solver = z3.SolverFor("QF_FD")
        self._solver.add([asserted(c) for c in self._encoder.typed(self._state)])
        self._places = Interpreter(system.protocol).places
        self._deadline = deadline
        self._held: dict[Term, Any] = {}
        self._broken: dict[tuple[Term, bool], Any] = {}

    def breaking(
        self, claim: Term, assumed: Iterable[Term], *, steps: bool = False
    ) -> State | None:
        """Return a state of the assumed ones from which a step breaks ``claim``."""
        goal = self._broken.get((claim, steps))
        if goal is None:
            goal = self._switch(self._breaks(claim, steps=steps))
            self._broken[claim, steps] = goal
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise OutOfTimeError
        self._solver.set("timeout", max(1, int(left * 1000)))
        outcome = self._solver.check(goal, *(self._holds(a) for a in assumed))
        if outcome == z3.unknown:
            raise OutOfTimeError
        if outcome == z3.unsat:
            return None
        model = self._solver.model()
        return tuple(
            self._encoder.value(
                field.type,
                model.eval(self._state[field.path, place], model_completion=True),
            )
            for field, place in self._places
        )

    def _holds(self, claim: Term) -> Any:
        held = self._held.get(claim)
        if held is None:
            held = self._switch(self._encode(renamed(claim, "~"), {}))
            self._held[claim] = held
        return held

    def _breaks(self, claim: Term, *, steps: bool) -> Any:
        apart = renamed(claim, "~")
        ways = []
        for action in self.system.actions:
            before = before_of(self.system, action, apart, steps=steps)
            if before == apart and not steps:
                continue
            for values in self._encoder.instances(action):
                guard = self._encode(action.guard, values)
                if guard is not False:
                    broken = negate(self._encode(before, values))
                    ways.append(conjoin([guard, broken]))
        return disjoin(ways)

    def _encode(self, term: Term, values: dict[Any, Any]) -> Any:
        return self._encoder.encode(term, values, self._state)

    def _switch(self, formula: Any) -> Any:
        switch = z3.FreshBool("switch")
        self._solver.add(z3.Implies(switch, asserted(formula)))
        return switch
