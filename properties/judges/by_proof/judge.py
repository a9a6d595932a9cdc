"""The second judge: z3, by induction where it can and by bounded checking where not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from onceproof.model.errors import Disagreement
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.bounds import bounds_of
from onceproof.properties.judges.by_proof.bounded import Bounded, check_bounded
from onceproof.properties.judges.by_proof.claims import (
    ProofQuery,
    ask,
    claimed_always,
    renamed,
)
from onceproof.properties.judges.by_proof.confirm import Searches
from onceproof.properties.judges.by_proof.fragment import (
    fixed_sorts,
    fragment,
    may_not_end,
    open_sorts,
)
from onceproof.properties.judges.by_proof.induction import Induction
from onceproof.properties.judges.by_search import Finding, Report, claims_of
from onceproof.properties.property import distinct, own_properties
from onceproof.properties.verdicts import Verdict, weakest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.terms.terms import Term
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.judges.by_proof.induction import Inductive
    from onceproof.properties.property import Property


def prove(
    protocol: Protocol,
    properties: Sequence[Property] | None = None,
    *,
    depth: int = 10,
    timeout_seconds: float = 60,
) -> Report:
    """Judge each property by z3: for every size, for these sizes, or to a depth.

    z3 proves a property of all states, of all steps or of rest by induction, with the
    protocol's lemmas. It checks the others, and those whose induction fails, in every
    interleaving of at most ``depth`` steps. A refuted property has a shortest trace,
    replayed in plain Python. A proof about rest, or about steps, counts only if there
    is a state of rest, or a step. Each induction may take ``timeout_seconds``, and so
    may the bounded check of everything that is left.

    An exhaustive search at small sizes confirms what holds before it is returned.
    Raises ``Disagreement`` if the search refutes it. ``properties`` defaults to all
    claims.
    """
    chosen = claims_of(protocol) if properties is None else distinct(properties)
    system = trace(protocol)
    inductions = _Inductions(system, timeout_seconds)
    queries = {id(p): ask(p, system) for p in chosen}
    attempts = {id(p): inductions.attempt(p, queries[id(p)]) for p in chosen}
    left = [a for p in chosen if not attempts[id(p)].finding for a in queries[id(p)]]
    met = [
        a
        for p in chosen
        if attempts[id(p)].finding
        for a in queries[id(p)]
        if _conditional(a.when)
    ]
    found: dict[int, Bounded] = {}
    if left or met:
        bounded = check_bounded(
            system, left, proved=met, depth=depth, timeout_seconds=timeout_seconds
        )
        found = {id(b.query): b for b in bounded}
    bounds = f"interleavings of at most {depth} steps; {bounds_of(system)}"
    findings = []
    for prop in chosen:
        attempt = attempts[id(prop)]
        mine = [found[id(a)] for a in queries[id(prop)] if id(a) in found]
        findings.append(
            _Found(attempt.finding, mine, every_size=attempt.every_size)
            if attempt.finding
            else _Found(_finding(prop, mine, attempt.note, bounds))
        )
    every = [f.given.property for f in findings if f.every_size]
    searches = Searches(
        system,
        every,
        [
            f.given.property
            for f in findings
            if f.given.verdict.holds and not f.every_size
        ],
    )
    confirmed = [_confirmed(f, searches, depth) for f in findings]
    return Report(protocol, confirmed, confirming=searches.given)


def _conditional(when: Modality) -> bool:
    """Return whether what is proved says nothing where there is no rest, or no step."""
    match when:
        case Modality.AT_REST | Modality.STEP:
            return True
        case (
            Modality.ALWAYS
            | Modality.RECOVERABLE
            | Modality.SOMETIMES
            | Modality.EVENTUALLY
            | Modality.LEADS_TO
        ):
            return False
        case _:
            assert_never(when)


@dataclass(frozen=True)
class _Found:
    """A finding of z3; of a proof also whether there is what its clauses speak of."""

    given: Finding
    met: Sequence[Bounded] = ()
    every_size: bool = False


def _confirmed(found: _Found, searches: Searches, depth: int) -> Finding:
    """Return a finding as the search confirms it."""
    given = found.given
    if not given.verdict.holds:
        return given
    beyond = searches.refutes(given.property)
    if given.verdict is Verdict.BOUNDED and beyond and len(beyond[1].steps) > depth:
        note = f"refuted by search, beyond the depth of {depth} steps"
        return replace(
            given, verdict=Verdict.REFUTED, trace=beyond[1], note=note, bounds=""
        )
    searches.contradict(given)
    confirmed = searches.confirms(given.property)
    idle = [b for b in found.met if not b.verdict.holds]
    vacuous = searches.vacuous(given.property)
    if unmet := searches.unmet(given.property):
        note = f"{'; '.join(unmet)} at {vacuous}, so this says nothing: {given.note}"
        return replace(
            given, verdict=Verdict.VACUOUS, note=note, bounds="", confirmed=confirmed
        )
    if vacuous and not idle:
        message = (
            f"z3 reaches what {given.property.name} is about, and the search finds "
            f"none of it at {vacuous}"
        )
        raise Disagreement(message)
    if vacuous or any(b.verdict is Verdict.VACUOUS for b in idle):
        why = _nothing(idle)
        where = f" at {vacuous}" if vacuous else ""
        note = f"{why} can be reached{where}, so this says nothing: {given.note}"
        return replace(
            given, verdict=Verdict.VACUOUS, note=note, bounds="", confirmed=confirmed
        )
    if idle and not searches.settled(given.property):
        note = f"{idle[0].note}, so this may say nothing: {given.note}"
        return replace(
            given, verdict=Verdict.UNDECIDED, note=note, bounds="", confirmed=confirmed
        )
    if unseen := searches.unseen(given.property):
        why = f"{'; '.join(unseen)} as far as was searched, so this may say nothing"
        note = f"{why}: {given.note}"
        return replace(
            given, verdict=Verdict.UNDECIDED, note=note, bounds="", confirmed=confirmed
        )
    return replace(given, confirmed=confirmed)


def _nothing(idle: Sequence[Bounded]) -> str:
    """Name what there is none of, where a proof says nothing."""
    rest = any(b.query.when is Modality.AT_REST for b in idle)
    return "no state of rest" if rest else "no step"


_BRIEF_SECONDS = 10.0
"""How long z3 may look for a proof where its search may go on for ever."""


@dataclass(frozen=True)
class _Attempt:
    """What induction came to: a finding, or why there is none."""

    finding: Finding | None = None
    note: str = ""
    every_size: bool = False


class _Inductions:
    """Tries both inductions: for every size, and for the given sizes."""

    def __init__(self, system: System, timeout_seconds: float) -> None:
        self._system = system
        self._timeout = timeout_seconds
        self._reference = Interpreter(system.protocol)
        self._lemmas = [
            query
            for prop in own_properties(system.protocol)
            if prop.lemma
            for query in ask(prop, system)
        ]
        self._any = Induction(system, open_sorts=open_sorts(system))
        self._given = Induction(system)

    def attempt(self, prop: Property, queries: list[ProofQuery]) -> _Attempt:
        """Prove a property if it is of all states, of all steps, or of rest."""
        queries = [claimed_always(a, self._system) for a in queries]
        if any(a.when not in (Modality.ALWAYS, Modality.STEP) for a in queries):
            return _Attempt()
        why = self._obstacles(queries)
        if not why:
            result = self._prove(self._any, queries, brief=self._may_not_end(queries))
            if result.holds:
                return self._proved(prop, result)
            why = [result.note or _failed(result)]
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
            return _Attempt(finding)
        note = f"{note}; not inductive at the given sizes either"
        if result.cti:
            return _Attempt(note=f"{note}: {result.cti.describe(self._reference)}")
        return _Attempt(note=f"{note}: {result.note}")

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

    def _proved(self, prop: Property, result: Inductive) -> _Attempt:
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
        return _Attempt(
            Finding(prop, verdict, lemmas=result.lemmas, note=note, bounds=bounds),
            every_size=True,
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


def _finding(prop: Property, answers: list[Bounded], note: str, bounds: str) -> Finding:
    """Return the verdict of the weakest clause, with the shortest trace for it."""
    verdict = weakest(b.verdict for b in answers)
    notes = dict.fromkeys(b.note for b in answers if b.verdict == verdict and b.note)
    remarks = "; ".join([*notes, *([note] if note else [])])
    shown = [
        (len(b.trace.steps), b.query.number, b.trace)
        for b in answers
        if b.trace is not None and b.verdict == verdict
    ]
    bounds = bounds if verdict.holds else ""
    if not shown:
        return Finding(prop, verdict, note=remarks, bounds=bounds)
    _, clause, trace_ = min(shown, key=lambda s: s[:2])
    return Finding(prop, verdict, trace_, clause, note=remarks, bounds=bounds)
