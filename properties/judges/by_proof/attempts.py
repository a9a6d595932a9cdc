"""Tries the inductions that z3 can make: for every size, and for the given sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.interpreter import Interpreter
from onceproof.properties.judges.bounds import bounds_of
from onceproof.properties.judges.by_proof.claims import (
    ProofQuery,
    claimed_always,
    renamed,
)
from onceproof.properties.judges.by_proof.fragment import (
    fixed_sorts,
    fragment,
    may_not_end,
    open_sorts,
)
from onceproof.properties.judges.by_proof.induction import Induction, Inductive
from onceproof.properties.judges.by_proof.k_induction import k_induction
from onceproof.properties.judges.by_search import Finding
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.terms.terms import Term
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.property import Property


_BRIEF_SECONDS = 10.0
"""How long z3 may look for a proof where its search may go on for ever."""


@dataclass(frozen=True)
class InductionAttempt:
    """What induction came to: a finding, or why there is none."""

    finding: Finding | None = None
    """What was proved, or None."""
    note: str = ""
    """Why nothing was proved."""
    every_size: bool = False
    """Whether it is proved for every size of the sorts without order."""
    proof: tuple[ProofQuery, ...] = ()
    """What is inductive for every size together: the claims and the lemmas used."""
    steps: int = 1
    """Over how many steps the induction is."""


class Inductions:
    """Tries both inductions: for every size, and for the given sizes."""

    def __init__(
        self,
        system: System,
        lemmas: list[ProofQuery],
        timeout_seconds: float,
        remark: str,
        steps: int,
    ) -> None:
        """Prepare, with queries of the lemmas; ``remark`` is about the lemmas."""
        self._system = system
        self._timeout = timeout_seconds
        self._reference = Interpreter(system.protocol)
        self._lemmas = lemmas
        self._remark = remark
        self._steps = steps
        self._any = Induction(system, open_sorts=open_sorts(system))
        self._given = Induction(system)

    def attempt(self, prop: Property, queries: list[ProofQuery]) -> InductionAttempt:
        """Prove a property if it is of all states, of all steps, or of rest."""
        queries = [claimed_always(a, self._system) for a in queries]
        if any(a.when not in (Modality.ALWAYS, Modality.STEP) for a in queries):
            return InductionAttempt()
        why = self._obstacles(queries)
        if not why:
            result = self._prove(self._any, queries, brief=self._may_not_end(queries))
            if result.holds:
                used = [q for q in self._lemmas if q.claim.name in result.lemmas]
                return self._proved(prop, result, (*queries, *used))
            why = [result.note or _failed(result)]
            if self._steps > 1:
                together = (*queries, *self._lemmas)
                longer = k_induction(
                    self._system,
                    together,
                    open_sorts=open_sorts(self._system),
                    depth=self._steps,
                    timeout_seconds=self._timeout,
                )
                if longer.steps:
                    return self._proved_over(prop, longer.steps, together)
                why.append(longer.note)
        if self._remark:
            why.append(self._remark)
        note = f"not for every size: {'; '.join(why)}"
        result = self._prove(self._given, queries)
        if result.holds:
            sizes = _sizes(self._system)
            at = f"at the sizes {sizes}" if sizes else "at its only size"
            finding = Finding(
                prop,
                Verdict.EXHAUSTED,
                lemmas=result.lemmas,
                note=f"inductive {at}; {note}",
                bounds=bounds_of(self._system),
            )
            return InductionAttempt(finding)
        note = f"{note}; not inductive at the given sizes either"
        if result.cti:
            return InductionAttempt(
                note=f"{note}: {result.cti.describe(self._reference)}"
            )
        return InductionAttempt(note=f"{note}: {result.note}")

    def _prove(
        self, induction: Induction, queries: list[ProofQuery], *, brief: bool = False
    ) -> Inductive:
        seconds = min(self._timeout, _BRIEF_SECONDS) if brief else self._timeout
        return induction.prove(queries, self._lemmas, timeout_seconds=seconds)

    def _obstacles(self, queries: list[ProofQuery]) -> list[str]:
        """List why a proof for every size is out of reach."""
        states, steps = self._claimed(queries)
        every = [*queries, *self._lemmas]
        sized: frozenset[Sort] = frozenset().union(*(a.sized for a in every))
        return fragment(self._system, states, steps=steps, sized=sized)

    def _may_not_end(self, queries: list[ProofQuery]) -> bool:
        return may_not_end(self._system, *self._claimed(queries))

    def _claimed(self, queries: list[ProofQuery]) -> tuple[list[Term], list[Term]]:
        """Return what is claimed of states, and of steps, with names of its own."""
        states, steps = (
            dict.fromkeys(
                renamed(a.question.term, "~")
                for a in [*queries, *self._lemmas]
                if (a.when is Modality.STEP) == of_steps
            )
            for of_steps in (False, True)
        )
        return list(states), list(steps)

    def _proved_over(
        self, prop: Property, steps: int, proof: tuple[ProofQuery, ...]
    ) -> InductionAttempt:
        """Return a proof by an induction of several steps, with all of the lemmas."""
        names = dict.fromkeys(q.claim.name for q in self._lemmas)
        used = Inductive(holds=True, lemmas=tuple(n for n in names if n != prop.name))
        attempt = self._proved(prop, used, proof)
        finding = attempt.finding
        if finding is None:
            return attempt
        note = f"{finding.note}; by induction over {steps} steps"
        return replace(attempt, finding=replace(finding, note=note), steps=steps)

    def _proved(
        self, prop: Property, result: Inductive, proof: tuple[ProofQuery, ...]
    ) -> InductionAttempt:
        opened = open_sorts(self._system)
        names = ", ".join(sorted(s.name for s in opened))
        every = f"every number of members of {names}"
        note = f"inductive for {every}"
        if any(action.fault for action in self._system.actions):
            most = self._system.protocol.faults
            note = f"{note}, with at most {most} fault{'s' if most != 1 else ''}"
        verdict = Verdict.PROVED
        if fixed := fixed_sorts(self._system):
            verdict = Verdict.EXHAUSTED
            given = _sizes(self._system, only=fixed)
            note = f"{note}; the ordered sorts have the sizes {given}"
        bounds = f"{every}; {bounds_of(self._system, without=opened)}"
        return InductionAttempt(
            Finding(prop, verdict, lemmas=result.lemmas, note=note, bounds=bounds),
            every_size=True,
            proof=proof,
        )


def _failed(result: Inductive) -> str:
    where = result.action or "the start"
    return f"the induction fails for {result.broken} under {where}"


def _sizes(system: System, *, only: tuple[Sort, ...] | None = None) -> str:
    return ", ".join(
        f"{sort.name}={size}"
        for sort, size in system.sizes.items()
        if only is None or sort in only
    )
