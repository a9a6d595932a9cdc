"""Induction over several steps, for every size.

A claim is k-inductive if it holds in the first k states of every run, and after k steps
through different states in which it holds it holds once more. See Sheeran, Singh and
Stålmarck, Checking Safety Properties Using Induction and a SAT-Solver, FMCAD 2000. A
shortest run to a state that breaks the claim passes no state twice, so none is missed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import z3

from onceproof.model.language.declarations.modality import Modality
from onceproof.properties.judges.by_proof.claims import renamed
from onceproof.properties.judges.by_proof.connectives import (
    asserted,
    conjoin,
    disjoin,
    negate,
)
from onceproof.properties.judges.by_proof.encode import Encoder
from onceproof.properties.judges.by_proof.relation import StepRelation, read_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.judges.by_proof.claims import ProofQuery
    from onceproof.properties.judges.by_proof.encode import Elements


@dataclass(frozen=True)
class KInductive:
    """The result of an induction over several steps."""

    steps: int = 0
    """Over how many steps it succeeds; 0 where it does not."""
    note: str = ""
    """Why it does not succeed."""


def k_induction(
    system: System,
    claims: Sequence[ProofQuery],
    *,
    open_sorts: frozenset[Sort],
    depth: int,
    timeout_seconds: float,
) -> KInductive:
    """Prove claims, all together, by induction over two to ``depth`` steps."""
    deadline = time.monotonic() + timeout_seconds
    unrolled = _Unrolled(system, claims, open_sorts, deadline)
    if why := unrolled.outside():
        return KInductive(note=f"nor over several steps: {'; '.join(why)}")
    for steps in range(2, depth + 1):
        outcome = unrolled.first_states(steps)
        if outcome == z3.sat:
            return KInductive(note=f"a claim or lemma fails within {steps - 1} steps")
        if outcome == z3.unsat:
            outcome = unrolled.one_more(steps)
        if outcome == z3.unsat:
            return KInductive(steps)
        if outcome == z3.unknown:
            return KInductive(note=f"z3 gave up on the induction over {steps} steps")
    return KInductive(note=f"nor is it inductive over {depth} steps")


class _Unrolled:
    """States one after the other, each a step from the one before."""

    def __init__(
        self,
        system: System,
        claims: Sequence[ProofQuery],
        open_sorts: frozenset[Sort],
        deadline: float,
    ) -> None:
        terms = [renamed(c.question.term, "~") for c in claims]
        of_steps = [c.when is Modality.STEP for c in claims]
        self._system = system
        self._states_hold = [
            term for term, step in zip(terms, of_steps, strict=True) if not step
        ]
        self._steps_hold = [
            term for term, step in zip(terms, of_steps, strict=True) if step
        ]
        self._encoder = Encoder(system, terms, open_sorts=open_sorts)
        every = frozenset(field.path for field in system.fields)
        fields = every if self._steps_hold else read_by(system, terms)
        self._relation = StepRelation(self._encoder, fields)
        self._states: list[Elements] = []
        self._deadline = deadline

    def outside(self) -> list[str]:
        """List, in sentences, what steps do that no formula for every size says."""
        return self._relation.outside()

    def first_states(self, steps: int) -> Any:
        """Ask for a run of fewer than ``steps`` steps that breaks a claim."""
        starts: list[Any] = [*self._encoder.initial(self._state(0))]
        broken = [negate(self._holds(0))]
        for number in range(1, steps):
            reached = [self._step(i) for i in range(number)]
            wrong = disjoin(
                [negate(self._holds(number)), negate(self._step_holds(number - 1))]
            )
            broken.append(conjoin([*reached, wrong]))
        return self._check([*starts, disjoin(broken)])

    def one_more(self, steps: int) -> Any:
        """Ask for ``steps`` steps of which only the last breaks a claim."""
        parts: list[Any] = [*self._encoder.typed(self._state(0))]
        for number in range(steps):
            parts += [self._holds(number), self._step(number)]
            parts += [self._differ(earlier, number) for earlier in range(number)]
            if number < steps - 1:
                parts.append(self._step_holds(number))
        last = [negate(self._holds(steps)), negate(self._step_holds(steps - 1))]
        return self._check([*parts, disjoin(last)])

    def _state(self, number: int) -> Elements:
        while len(self._states) <= number:
            self._states.append(self._encoder.elements(f"{len(self._states)}"))
        return self._states[number]

    def _holds(self, number: int) -> Any:
        state = self._state(number)
        return conjoin(self._encoder.encode(c, {}, state) for c in self._states_hold)

    def _step_holds(self, number: int) -> Any:
        """Say that the claims of steps hold of a step, or that it changes nothing."""
        if not self._steps_hold:
            return True
        now, after = self._state(number), self._state(number + 1)
        held = conjoin(
            self._encoder.encode(c, {}, now, after) for c in self._steps_hold
        )
        return disjoin([negate(self._differ(number, number + 1)), held])

    def _step(self, number: int) -> Any:
        now, after = self._state(number), self._state(number + 1)
        return self._relation.step(now, after, f"{number}")

    def _differ(self, one: int, other: int) -> Any:
        return self._relation.differ(self._state(one), self._state(other))

    def _check(self, parts: Sequence[Any]) -> Any:
        left = self._deadline - time.monotonic()
        if left <= 0:
            return z3.unknown
        solver = z3.Solver()
        solver.set("timeout", max(1, int(left * 1000)))
        solver.add([asserted(part) for part in parts])
        return solver.check()
