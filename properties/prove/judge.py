"""The second judge: z3, by induction where it can and by bounded checking where not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.language.plain import Reference
from onceproof.model.language.trace import trace
from onceproof.properties.check import Finding, Report, claims_of
from onceproof.properties.property import own_properties
from onceproof.properties.prove.bounded import Bounded, check_bounded
from onceproof.properties.prove.claims import Asked, ask, renamed, said_always
from onceproof.properties.prove.fragment import fixed_sorts, fragment, open_sorts
from onceproof.properties.prove.induction import Induction
from onceproof.properties.verdicts import Verdict, weakest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.protocol import Protocol
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.trace import System
    from onceproof.properties.property import Property
    from onceproof.properties.prove.induction import Inductive


def prove(
    protocol: Protocol,
    properties: Sequence[Property] | None = None,
    *,
    depth: int = 10,
    timeout_seconds: float = 60,
) -> Report:
    """Judge each property by z3: for every size, for these sizes, or to a depth.

    A property of all states, of all steps or of rest is proved by induction, with the
    protocol's lemmas; any other, and one whose induction fails, is checked in
    every interleaving of at most ``depth`` steps. A refuted one carries a shortest
    trace, replayed in plain Python. What is proved about rest counts only if there is
    a state of rest within ``depth``. Each induction may take ``timeout_seconds``, and
    so may the bounded check of all that is left. Properties default to all claims.
    """
    chosen = claims_of(protocol) if properties is None else list(properties)
    system = trace(protocol)
    inductions = _Inductions(system, timeout_seconds)
    asked = {id(p): ask(p, system) for p in chosen}
    attempts = {id(p): inductions.attempt(p, asked[id(p)]) for p in chosen}
    left = [
        a
        for p in chosen
        for a in asked[id(p)]
        if not attempts[id(p)].finding or a.when == "at_rest"
    ]
    found: dict[int, Bounded] = {}
    if left:
        bounded = check_bounded(
            system, left, depth=depth, timeout_seconds=timeout_seconds
        )
        found = {id(b.asked): b for b in bounded}
    report = Report(protocol)
    for prop in chosen:
        attempt = attempts[id(prop)]
        mine = [found[id(a)] for a in asked[id(prop)] if id(a) in found]
        if attempt.finding:
            report.findings.append(_with_rest(attempt.finding, mine))
        else:
            report.findings.append(_finding(prop, mine, attempt.note))
    return report


def _with_rest(proved: Finding, answers: list[Bounded]) -> Finding:
    """Let a proof about rest stand only if there is rest: else it may say nothing."""
    unmet = [b for b in answers if b.verdict is Verdict.UNDECIDED]
    if not unmet:
        return proved
    note = f"{unmet[0].note}, so this may say nothing: {proved.note}"
    return Finding(proved.property, Verdict.UNDECIDED, lemmas=proved.lemmas, note=note)


@dataclass(frozen=True)
class _Attempt:
    """What induction came to: a finding, or why there is none."""

    finding: Finding | None = None
    note: str = ""


class _Inductions:
    """Tries both inductions: for every size, and for the given sizes."""

    def __init__(self, system: System, timeout_seconds: float) -> None:
        self._system = system
        self._timeout = timeout_seconds
        self._reference = Reference(system.protocol)
        self._lemmas = [
            asked
            for prop in own_properties(system.protocol)
            if prop.lemma
            for asked in ask(prop, system)
        ]
        self._any = Induction(system, open_sorts=open_sorts(system))
        self._given = Induction(system)

    def attempt(self, prop: Property, asked: list[Asked]) -> _Attempt:
        """Prove a property if it is of all states, of all steps, or of rest."""
        asked = [said_always(a, self._system) for a in asked]
        if any(a.when not in ("always", "step") for a in asked):
            return _Attempt()
        why = self._obstacles(asked)
        if not why:
            result = self._prove(self._any, asked)
            if result.holds:
                return self._proved(prop, result)
            why = [result.note or _failed(result)]
        note = f"not for every size: {'; '.join(why)}"
        result = self._prove(self._given, asked)
        if result.holds:
            note = f"inductive at the sizes {_sizes(self._system)}; {note}"
            finding = Finding(prop, Verdict.EXHAUSTED, lemmas=result.lemmas, note=note)
            return _Attempt(finding)
        note = f"{note}; not inductive at the given sizes either"
        if result.cti:
            return _Attempt(note=f"{note}: {result.cti.describe(self._reference)}")
        return _Attempt(note=f"{note}: {result.note}")

    def _prove(self, induction: Induction, asked: list[Asked]) -> Inductive:
        return induction.prove(asked, self._lemmas, timeout_seconds=self._timeout)

    def _obstacles(self, asked: list[Asked]) -> list[str]:
        """List why a proof for every size is out of reach."""
        every = [*asked, *self._lemmas]
        terms = dict.fromkeys(renamed(a.question.term, "~") for a in every)
        sized: frozenset[Sort] = frozenset().union(*(a.sized for a in every))
        return fragment(self._system, list(terms), sized=sized)

    def _proved(self, prop: Property, result: Inductive) -> _Attempt:
        names = sorted(s.name for s in open_sorts(self._system))
        note = f"inductive for every number of members of {', '.join(names)}"
        if any(action.fault for action in self._system.actions):
            most = self._system.protocol.faults
            note = f"{note}, with at most {most} fault{'s' if most != 1 else ''}"
        verdict = Verdict.PROVED
        if fixed := fixed_sorts(self._system):
            verdict = Verdict.EXHAUSTED
            given = _sizes(self._system, only=fixed)
            note = f"{note}; the ordered sorts have the sizes {given}"
        return _Attempt(Finding(prop, verdict, lemmas=result.lemmas, note=note))


def _failed(result: Inductive) -> str:
    where = result.action or "the start"
    return f"the induction fails for {result.broken} under {where}"


def _sizes(system: System, *, only: tuple[Sort, ...] | None = None) -> str:
    return ", ".join(
        f"{sort.name}={size}"
        for sort, size in system.sizes.items()
        if only is None or sort in only
    )


def _finding(prop: Property, answers: list[Bounded], note: str) -> Finding:
    """Give the verdict of the weakest clause, with the shortest trace that shows it."""
    verdict = weakest(b.verdict for b in answers)
    notes = dict.fromkeys(b.note for b in answers if b.verdict == verdict and b.note)
    told = "; ".join([*notes, *([note] if note else [])])
    shown = [
        (len(b.trace.steps), b.asked.number, b.trace)
        for b in answers
        if b.trace is not None and b.verdict == verdict
    ]
    if not shown:
        return Finding(prop, verdict, note=told)
    _, clause, trace_ = min(shown, key=lambda s: s[:2])
    return Finding(prop, verdict, trace_, clause, note=told)
