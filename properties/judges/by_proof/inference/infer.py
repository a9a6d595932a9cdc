"""Infers the lemmas by which claims are inductive for every size: as few as can be."""

from __future__ import annotations

import contextlib
import itertools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.errors import ModelError
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.substitution import free_variables
from onceproof.properties.judges.by_proof.claims import ask, claimed_always, renamed
from onceproof.properties.judges.by_proof.fragment import fragment, open_sorts
from onceproof.properties.judges.by_proof.induction import Induction
from onceproof.properties.judges.by_proof.inference.grammar import folded
from onceproof.properties.judges.by_proof.inference.lemmas import (
    Candidates,
    Goal,
    LemmaSearch,
)
from onceproof.properties.judges.by_proof.inference.steps import OutOfTimeError
from onceproof.properties.judges.by_proof.inference.text import (
    LemmaWriter,
    UnspeakableError,
)
from onceproof.properties.property import own_properties

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.tracing.system import System
    from onceproof.properties.judges.by_proof.claims import ProofQuery
    from onceproof.properties.judges.by_proof.inference.text import LemmaText


_PROVABLE = (Modality.ALWAYS, Modality.STEP)


@dataclass(frozen=True)
class InferredLemma:
    """A lemma that was found."""

    text: LemmaText
    """The lemma as a modeller writes it."""
    query: ProofQuery
    """The lemma as it was read back from its text, to be proved."""


@dataclass(frozen=True)
class Inference:
    """What was inferred for some claims."""

    lemmas: tuple[InferredLemma, ...] = ()
    """The lemmas: without any one of them some proof fails, if they are the fewest."""
    note: str = ""
    """Why there are none for some claims."""
    fewest: bool = True
    """Whether there was time to leave out the lemmas that are not needed."""


def infer(
    system: System, claims: Sequence[ProofQuery], *, timeout_seconds: float
) -> Inference:
    """Find lemmas by which claims of states and steps are inductive for every size.

    What is returned proves nothing by itself: the judge proves it. Claims that are
    false at a small size get no lemmas, nor do those outside the fragment that z3
    decides.
    """
    return _Inferring(system, claims, time.monotonic() + timeout_seconds).infer()


class _Inferring:
    """One inference, for several claims at once."""

    def __init__(
        self, system: System, claims: Sequence[ProofQuery], deadline: float
    ) -> None:
        self._system = system
        always = [(c, claimed_always(c, system)) for c in claims]
        provable = [
            (own, claim)
            for own, claim in always
            if claim.when in _PROVABLE and not self._outside([claim], [])
        ]
        self._own = [own.question.term for own, _ in provable]
        self._claims = [claim for _, claim in provable]
        self._deadline = deadline
        self._writer = LemmaWriter(system)
        self._induction = Induction(system, open_sorts=open_sorts(system))
        self._read: dict[t.Term, InferredLemma] = {}
        self._allowed: dict[t.Term, bool] = {}

    def infer(self) -> Inference:
        """Return the lemmas, fewest first, or why there are none."""
        if not self._claims:
            return Inference(note="no lemmas were looked for")
        candidates = Candidates(self._system, self._own, self._speakable)
        goals: dict[Goal, list[ProofQuery]] = {}
        for claim in self._claims:
            goal = Goal(claim.question.term, claim.when is Modality.STEP)
            if goal.steps or candidates.holds(goal.term):
                goals.setdefault(goal, []).append(claim)
        search = LemmaSearch(
            self._system, list(goals), candidates, self._fits, self._deadline
        )
        try:
            return self._searched(search, goals)
        except OutOfTimeError:
            return Inference(note="no lemmas were found in time")

    def _searched(
        self, search: LemmaSearch, goals: dict[Goal, list[ProofQuery]]
    ) -> Inference:
        while search.goals:
            search.run()
            claims = [query for goal in search.goals for query in goals[goal]]
            lemmas = [self._lemma(term) for term in search.found]
            result = self._proved(claims, lemmas)
            if result is not None and not isinstance(result, str):
                kept, fewest = self._fewest(claims, result, search)
                return Inference(self._numbered(kept), self._note(search), fewest)
            if search.grow():
                continue
            self._without(result or "", search, goals)
        return Inference(note=self._note(search))

    def _without(
        self, broken: str, search: LemmaSearch, goals: dict[Goal, list[ProofQuery]]
    ) -> None:
        """Go on without the lemma, or the claim, that some larger size breaks."""
        for term in search.found:
            if self._lemma(term).query.claim.name == broken:
                search.drop(term)
                return
        for goal in search.goals:
            if any(query.claim.name == broken for query in goals[goal]):
                search.give_up(goal)
                return
        raise OutOfTimeError

    def _note(self, search: LemmaSearch) -> str:
        if not search.given_up:
            return ""
        return "no lemmas of the grammar were found that prove every claim"

    def _proved(
        self, claims: list[ProofQuery], lemmas: list[InferredLemma]
    ) -> list[InferredLemma] | str:
        """Return the lemmas by which the claims hold for every size, or what fails."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise OutOfTimeError
        queries = [lemma.query for lemma in lemmas]
        result = self._induction.prove(claims, queries, timeout_seconds=left)
        if result.holds:
            return [one for one in lemmas if one.query.claim.name in result.lemmas]
        return result.broken

    def _groups(self, claims: list[ProofQuery]) -> list[list[ProofQuery]]:
        """Group claims by their property: each property is proved by itself."""
        found: dict[str, list[ProofQuery]] = {}
        for claim in claims:
            found.setdefault(claim.claim.name, []).append(claim)
        return list(found.values())

    def _enough(
        self,
        groups: list[list[ProofQuery]],
        lemmas: list[InferredLemma],
        search: LemmaSearch,
    ) -> list[InferredLemma]:
        """Add the claims that others of the protocol's claims need, as lemmas."""
        if not isinstance(self._each_proved(groups, lemmas), str):
            return lemmas
        more = []
        for goal in search.goals:
            if not goal.steps and goal.term in self._own:
                with contextlib.suppress(UnspeakableError):
                    more.append(self._lemma(folded(goal.term)))
        return [*lemmas, *more]

    def _each_proved(
        self, groups: list[list[ProofQuery]], lemmas: list[InferredLemma]
    ) -> list[InferredLemma] | str:
        """Return the lemmas by which each property holds by itself, or what fails."""
        used: list[InferredLemma] = []
        for group in groups:
            proved = self._proved(group, lemmas)
            if isinstance(proved, str):
                return proved
            used += proved
        return [one for one in lemmas if one in used]

    def _fewest(
        self,
        claims: list[ProofQuery],
        lemmas: list[InferredLemma],
        search: LemmaSearch,
    ) -> tuple[list[InferredLemma], bool]:
        """Leave out lemmas until some proof fails without any one of them.

        Answers last whether there was time for that.
        """
        groups = self._groups(claims)
        try:
            lemmas = self._enough(groups, lemmas, search)
            again = True
            while again:
                again = False
                for one in list(lemmas):
                    if one not in lemmas:
                        continue
                    rest = [other for other in lemmas if other is not one]
                    proved = self._each_proved(groups, rest)
                    if not isinstance(proved, str):
                        lemmas, again = proved, True
        except OutOfTimeError:
            return lemmas, False
        return lemmas, True

    def _numbered(self, lemmas: list[InferredLemma]) -> tuple[InferredLemma, ...]:
        """Give the lemmas that are left numbers that no claim of the protocol has."""
        taken = {prop.name for prop in own_properties(self._system.protocol)}
        names = (f"inferred_{n}" for n in itertools.count(1))
        free = (name for name in names if name.replace("_", "-") not in taken)
        terms = {id(one): term for term, one in self._read.items()}
        return tuple(
            self._made(name, terms[id(one)])
            for name, one in zip(free, lemmas, strict=False)
        )

    def _lemma(self, term: t.Term) -> InferredLemma:
        found = self._read.get(term)
        if found is None:
            found = self._read[term] = self._made(f"c{len(self._read) + 1}", term)
        return found

    def _made(self, name: str, term: t.Term) -> InferredLemma:
        text = self._writer.lemma(name, term)
        return InferredLemma(text, ask(self._writer.property(text), self._system)[0])

    def _speakable(self, shape: t.Term) -> bool:
        """Return whether the language has words for a shape, and reads them back."""
        free = sorted(free_variables(shape), key=lambda v: v.name)
        try:
            text = self._writer.lemma(
                "shape", t.quantified(t.ForAll, tuple(free), shape)
            )
            ask(self._writer.property(text), self._system)
        except (UnspeakableError, ModelError):
            return False
        return True

    def _fits(self, clause: t.Term) -> bool:
        """Return whether a lemma keeps the proof inside of what z3 decides."""
        known = self._allowed.get(clause)
        if known is None:
            known = not self._alternates(clause) or not self._outside(
                self._claims, [clause]
            )
            self._allowed[clause] = known
        return known

    def _alternates(self, clause: t.Term) -> bool:
        body = clause.body if isinstance(clause, t.ForAll) else clause
        opened = open_sorts(self._system)
        return any(
            isinstance(part, t.ForAll | t.Exists)
            and any(v.type.sort in opened for v in part.vars)
            for part in t.subterms(body)
        )

    def _outside(self, claims: Sequence[ProofQuery], lemmas: list[t.Term]) -> list[str]:
        steps = [c.question.term for c in claims if c.when is Modality.STEP]
        states = [c.question.term for c in claims if c.when is not Modality.STEP]
        sized = frozenset().union(*(c.sized for c in claims))
        return fragment(
            self._system,
            [renamed(term, "~") for term in [*states, *lemmas]],
            steps=[renamed(term, "~") for term in steps],
            sized=sized,
        )
