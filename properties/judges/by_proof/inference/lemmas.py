"""The search for lemmas: from counterexamples to induction to what excludes them.

It is Houdini (Flanagan and Leino, FME 2001) turned round, as in Endive (Schultz,
Dardik and Tripakis, FMCAD 2022). The candidates are all clauses of the grammar that
hold in every state reached at small sizes. A state from which a step breaks a claim
is excluded by the simplest of them, which becomes a claim itself. A state that none
excludes shows that its claim is in no inductive set of candidates: a candidate is
dropped for good, and a claim of the protocol waits for a larger grammar. So the search
ends with an inductive set, if the candidates hold one. What is found here is no proof:
it is proved afterwards, for every size.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onceproof.model.errors import TooLargeError
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.substitution import free_variables
from onceproof.model.language.tracing.resizing import other
from onceproof.model.search.reached import reached
from onceproof.properties.judges.by_proof.fragment import open_sorts
from onceproof.properties.judges.by_proof.inference.evaluation import (
    ManyStates,
    of_states,
)
from onceproof.properties.judges.by_proof.inference.grammar import (
    Template,
    shapes_of,
    templates,
)
from onceproof.properties.judges.by_proof.inference.separation import ReachedRows
from onceproof.properties.judges.by_proof.inference.steps import OutOfTimeError, Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from onceproof.model.language.interpreter import State
    from onceproof.model.language.tracing.system import System

SMALL = (1, 2, 3)
MOST_STATES = 20_000
_LEVELS = ((False, 4), (True, 3), (True, 4), (False, 5))
_EACH = 12
_TRIED = 40


@dataclass(frozen=True)
class Goal:
    """A claim that is to be proved, or a candidate that helps to."""

    term: t.Term
    """The claim."""
    steps: bool = False
    """Whether it is about steps: then it is never assumed."""


class Candidates:
    """All clauses of the grammar that hold in the states reached at small sizes."""

    def __init__(
        self, system: System, claims: Sequence[t.Term], keep: Callable[[t.Term], bool]
    ) -> None:
        """Search at small sizes, and list what the protocol's terms can say."""
        self.system = system
        self.claims = claims
        self.reached: list[ManyStates] = []
        self.cut: list[str] = []
        for small in _sizes(system, SMALL):
            try:
                found = reached(small, most=MOST_STATES)
            except TooLargeError:
                continue
            self.reached.append(ManyStates(found.fields, small.sizes))
            if not found.complete:
                break
        self.shapes = [s for s in shapes_of(system, claims) if keep(s)]
        self._wider = False
        self.literals = 0
        self._templates: list[Template] = []
        self._tables: dict[Template, ReachedRows] = {}
        self.extend(*_LEVELS[0])

    def holds(self, term: t.Term) -> bool:
        """Return whether a claim holds in every state reached."""
        return all(bool(many.truth(term, {}).all()) for many in self.reached)

    def extend(self, wider: bool, literals: int) -> None:  # noqa: FBT001 - a level
        """Go on to another grammar."""
        if not self._templates or wider != self._wider:
            self._wider = wider
            self._templates = templates(
                self.system, self.claims, self.shapes, wider=wider
            )
        self.literals = literals

    def excluding(self, many: ManyStates, literals: int) -> Iterator[t.Term]:
        """Yield clauses of so many literals that are false in a state."""
        seen: set[t.Term] = set()
        for template in self._templates:
            table = self._table(template)
            for known in many.members(template.variables):
                row = np.array(
                    [bool(many.truth(a, known)[0]) for a in template.atoms], bool
                )
                for columns in table.clauses(row, literals, _EACH):
                    clause = _clause(template, columns, row)
                    if clause not in seen:
                        seen.add(clause)
                        yield clause

    def _table(self, template: Template) -> ReachedRows:
        found = self._tables.get(template)
        if found is None:
            blocks = [
                np.stack([many.truth(a, known) for a in template.atoms], axis=1)
                for many in self.reached
                for known in many.members(template.variables)
            ]
            found = self._tables[template] = ReachedRows(np.concatenate(blocks))
        return found


def _clause(
    template: Template,
    columns: Sequence[int],
    excluded: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> t.Term:
    literals = [
        t.negation(template.atoms[c]) if excluded[c] else template.atoms[c]
        for c in sorted(columns)
    ]
    body = t.disjunction(literals)
    used = free_variables(body)
    return t.quantified(
        t.ForAll, tuple(v for v in template.variables if v in used), body
    )


def _sizes(system: System, sizes: Sequence[int]) -> Iterator[System]:
    """Yield the system at small sizes of the sorts that may have any."""
    for size in sizes:
        yield resized(system, size)


def resized(system: System, size: int) -> System:
    """Return the system with ``size`` members of each sort that may have any."""
    for sort in sorted(open_sorts(system), key=lambda s: s.name):
        if system.sizes[sort] != size:
            system = other(system, sort, size)
    return system


class LemmaSearch:
    """Looks for lemmas by which claims are inductive, at one size and then larger."""

    def __init__(
        self,
        system: System,
        goals: Sequence[Goal],
        candidates: Candidates,
        allowed: Callable[[t.Term], bool],
        deadline: float,
    ) -> None:
        """Prepare; nothing is looked for yet. Only ``allowed`` lemmas are chosen."""
        self._allowed = allowed
        self._system = system
        self._goals = list(goals)
        self._candidates = candidates
        self._deadline = deadline
        self._dead: set[t.Term] = set()
        self._level = 0
        self._ctis: list[ManyStates] = []
        self._size = 2
        self._steps = self._prepared()
        self.found: list[t.Term] = []
        self.given_up: list[Goal] = []

    def _prepared(self) -> Steps:
        terms = [*(g.term for g in self._goals), *self._candidates.shapes]
        return Steps(resized(self._system, self._size), terms, self._deadline)

    @property
    def goals(self) -> list[Goal]:
        """The claims that are still to be proved."""
        return self._goals

    def grow(self) -> bool:
        """Look at a larger size from now on; answer whether there is one."""
        if self._size >= 4:  # noqa: PLR2004 - as far as three members and one more
            return False
        self._size += 1
        self._steps = self._prepared()
        self._ctis = []
        return True

    def give_up(self, goal: Goal) -> None:
        """Look for lemmas for the other claims only."""
        self._goals.remove(goal)
        self.given_up.append(goal)

    def drop(self, lemma: t.Term) -> None:
        """Take a lemma for no lemma from now on."""
        self._dead.add(lemma)
        self.found.remove(lemma)

    def run(self) -> None:
        """Add lemmas until the claims and the lemmas are inductive at this size."""
        while True:
            broken = self._broken()
            if broken is None:
                return
            goal, state = broken
            many = of_states(self._steps.system, [state])
            self._ctis.append(many)
            chosen = self._chosen(many)
            if chosen is not None:
                self.found.append(chosen)
            elif goal.term in self.found:
                self.drop(goal.term)
            elif self._level + 1 < len(_LEVELS):
                self._level += 1
                self._candidates.extend(*_LEVELS[self._level])
                self._dead = set()
            else:
                self.give_up(goal)

    def _broken(self) -> tuple[Goal, State] | None:
        assumed = self._assumed()
        for goal in [*map(Goal, reversed(self.found)), *self._goals]:
            state = self._steps.breaking(goal.term, assumed, steps=goal.steps)
            if state is not None:
                return goal, state
        return None

    def _assumed(self) -> list[t.Term]:
        return [*(g.term for g in self._goals if not g.steps), *self.found]

    def _chosen(self, many: ManyStates) -> t.Term | None:
        """Return the best candidate that is false in a state, if there is one."""
        fallback: t.Term | None = None
        for literals in range(1, self._candidates.literals + 1):
            clauses = [
                c
                for c in self._candidates.excluding(many, literals)
                if c not in self._dead and self._allowed(c)
            ]
            if not clauses:
                continue
            clauses.sort(key=self._rank)
            for clause in clauses[:_TRIED]:
                if time.monotonic() > self._deadline:
                    raise OutOfTimeError
                assumed = [*self._assumed(), clause]
                if self._steps.breaking(clause, assumed) is None:
                    return clause
            fallback = fallback or clauses[0]
        return fallback

    def _rank(self, clause: t.Term) -> tuple[int, int, int]:
        excluded = sum(
            not bool(many.truth(clause, {}).all()) for many in self._ctis[-20:]
        )
        variables = len(clause.vars) if isinstance(clause, t.ForAll) else 0
        return variables, sum(1 for _ in t.subterms(clause)), -excluded
