"""The second judge: z3, by induction where it can and by bounded checking where not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from onceproof.model.errors import Disagreement
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.bounds import bounds_of
from onceproof.properties.judges.by_proof.attempts import InductionAttempt, Inductions
from onceproof.properties.judges.by_proof.bounded import Bounded, check_bounded
from onceproof.properties.judges.by_proof.claims import (
    ask,
)
from onceproof.properties.judges.by_proof.confirm import Searches
from onceproof.properties.judges.by_proof.fragment import (
    open_sorts,
)
from onceproof.properties.judges.by_proof.inference.infer import (
    Inference,
)
from onceproof.properties.judges.by_proof.inference.infer import (
    infer as infer_lemmas,
)
from onceproof.properties.judges.by_proof.second_solver import recheck
from onceproof.properties.judges.by_search import Finding, Report, claims_of
from onceproof.properties.property import distinct, own_properties
from onceproof.properties.verdicts import Verdict, weakest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.property import Property


def prove(
    protocol: Protocol,
    properties: Sequence[Property] | None = None,
    *,
    depth: int = 10,
    timeout_seconds: float = 60,
    infer: bool = False,
    induction_depth: int = 1,
) -> Report:
    """Judge each property by z3: for every size, for these sizes, or to a depth.

    z3 proves a property of all states, of all steps or of rest by induction, with the
    protocol's lemmas. It checks the others, and those whose induction fails, in every
    interleaving of at most ``depth`` steps. A refuted property has a shortest trace,
    replayed in plain Python. A proof about rest, or about steps, counts only if there
    is a state of rest, or a step. Each induction may take ``timeout_seconds``, and so
    may the bounded check of everything that is left.

    Where the induction for every size fails, one over up to ``induction_depth`` steps
    is tried, of the claims and the lemmas all together. cvc5, a second solver, checks
    such a proof again if it is installed.

    With ``infer`` the protocol's own lemmas are left aside, and lemmas are inferred
    from its terms: ``Report.inferred`` holds them as a modeller writes them. That may
    take ``timeout_seconds`` as well, and so may cvc5, which checks such proofs, too.

    An exhaustive search at small sizes confirms what holds before it is returned.
    Raises ``Disagreement`` if the search refutes it. ``properties`` defaults to all
    claims, without the lemmas where these are inferred.
    """
    chosen = claims_of(protocol) if properties is None else distinct(properties)
    if infer and properties is None:
        chosen = [p for p in chosen if not p.lemma]
    system = trace(protocol)
    queries = {id(p): ask(p, system) for p in chosen}
    inferred = Inference()
    if infer:
        every_query = [q for p in chosen for q in queries[id(p)]]
        inferred = infer_lemmas(system, every_query, timeout_seconds=timeout_seconds)
        lemmas = [lemma.query for lemma in inferred.lemmas]
    else:
        lemmas = [
            query
            for prop in own_properties(system.protocol)
            if prop.lemma
            for query in ask(prop, system)
        ]
    inductions = Inductions(
        system, lemmas, timeout_seconds, inferred.note, induction_depth
    )
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
    findings: list[_Found] = []
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
    if infer:
        remark = "" if inferred.fewest else _NOT_THE_FEWEST
        confirmed = [
            replace(f, note=f"{f.note}{remark}") if f.lemmas else f for f in confirmed
        ]
    confirmed = [
        _rechecked(f, system, attempts[id(f.property)], timeout_seconds)
        if infer or attempts[id(f.property)].steps > 1
        else f
        for f in confirmed
    ]
    return Report(
        protocol,
        confirmed,
        confirming=searches.given,
        inferred={one.query.claim.name: one.text.method for one in inferred.lemmas},
    )


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


_NOT_THE_FEWEST = "; there was no time to leave out lemmas that are not needed"


def _rechecked(
    found: Finding, system: System, attempt: InductionAttempt, timeout_seconds: float
) -> Finding:
    """Return a finding as a second solver confirms it, if it is of every size."""
    if not found.verdict.holds or not attempt.every_size:
        return found
    outcome = recheck(
        system,
        attempt.proof,
        open_sorts(system),
        timeout_seconds=timeout_seconds,
        number=attempt.steps,
    )
    return replace(found, confirmed=f"{found.confirmed}; {outcome}")


def _nothing(idle: Sequence[Bounded]) -> str:
    """Name what there is none of, where a proof says nothing."""
    rest = any(b.query.when is Modality.AT_REST for b in idle)
    return "no state of rest" if rest else "no step"


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
