"""Induction: claims that hold at the start and that no action breaks.

Each conjunct is shown apart: it holds in every initial state, and no action leads
from a state in which the claims and lemmas hold to one in which it does not. What
holds after an action is expressed over the state before it, as terms (Dijkstra's
weakest precondition), so no formula is about two states.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import z3

from onceproof.model.errors import Disagreement
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.properties.judges.by_proof.claims import renamed
from onceproof.properties.judges.by_proof.connectives import asserted, conjoin, negate
from onceproof.properties.judges.by_proof.encode import Encoder
from onceproof.properties.judges.by_proof.fragment import before_of
from onceproof.properties.words.labels import Labels

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onceproof.model.language.interpreter import State
    from onceproof.model.language.sorts import Sort
    from onceproof.model.language.terms.terms import Term
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.judges.by_proof.claims import ProofQuery
    from onceproof.properties.words.labels import Shown

    _Key = tuple[Term, bool]

_MOST_LISTED = 12
_MOST_STARTS = 64


@dataclass(frozen=True)
class Cti:
    """A counterexample to induction: one step out of the states that the claims allow.

    No run need ever reach ``before``.
    """

    before: State | None
    """The state before the step, which satisfies all claims; None for an initial state.
    """
    event: Event | None
    """The step; None for an initial state."""
    after: State
    """The state that breaks the claim."""
    name: str
    """The name of the claim."""
    text: str
    """The claim in words."""

    def describe(self, interpreter: Interpreter) -> str:
        """Show the step, how the state before it differs from a first one, and after.

        Of several first states it is compared with the one that is most like it.
        """
        labels = Labels(interpreter)
        broken = f"breaks {self.name} ({self.text})"
        if self.before is None or self.event is None:
            return f"the initial state {_listed(labels.state(self.after))} {broken}"
        before = self.before
        starts = itertools.islice(interpreter.initial_states(), _MOST_STARTS)
        apart = (labels.differences(start, before) for start in starts)
        differs = _listed(min(apart, key=len))
        where = f"from a first state but for {differs}" if differs else "from the start"
        change = _listed(labels.differences(before, self.after)) or "no change"
        return (
            f"{where}: {labels.event(self.event, before)} makes {change} and {broken}"
        )


@dataclass(frozen=True)
class Inductive:
    """The result of an induction."""

    holds: bool | None
    """Whether it succeeds; None where z3 gives up."""
    lemmas: tuple[str, ...] = ()
    """The names of the lemmas that the proof uses."""
    broken: str = ""
    """The conjunct that fails."""
    action: str = ""
    """The step that breaks it; empty for the initial states."""
    cti: Cti | None = None
    """The counterexample to induction."""
    note: str = ""
    """A remark, such as why z3 gave up."""


@dataclass(frozen=True)
class _Goal:
    """One clause, with variables that clash with no action's.

    One about ``steps`` is shown of every step, and never assumed.
    """

    query: ProofQuery
    term: Term

    @property
    def steps(self) -> bool:
        """Whether the clause speaks of two states."""
        return self.query.when is Modality.STEP

    @property
    def key(self) -> _Key:
        """What distinguishes goals: a term may be claimed of states and of steps."""
        return self.term, self.steps


class Induction:
    """Proves clauses about states and steps by induction, one set after another.

    With ``open_sorts`` a proof holds for every size of these sorts; without, for
    the given sizes, and then a failure comes with a ``Cti``.
    """

    def __init__(
        self, system: System, *, open_sorts: frozenset[Sort] = frozenset()
    ) -> None:
        """Prepare; nothing is proved yet."""
        self._system = system
        self._open = open_sorts
        self._reference = Interpreter(system.protocol)
        self._cores: dict[tuple[_Key, str], frozenset[Term]] = {}

    def prove(
        self,
        claims: Sequence[ProofQuery],
        lemmas: Sequence[ProofQuery],
        *,
        timeout_seconds: float,
    ) -> Inductive:
        """Prove claims, and as many of the lemmas as that takes, all together.

        Every claim and lemma may be assumed before a step; z3's unsatisfiable cores
        say which were needed, and these are proved in turn.
        """
        goals = _goals([*claims, *lemmas])
        proof = _Proof(
            self._system, goals, self._open, time.monotonic() + timeout_seconds
        )
        asked_for = set(_goals(claims))
        waiting = [goals[key] for key in goals if key in asked_for]
        done: dict[_Key, _Goal] = {}
        while waiting:
            goal = waiting.pop(0)
            if goal.key in done:
                continue
            done[goal.key] = goal
            for action in (None, *self._system.actions):
                core = self._core(proof, goal, action)
                if isinstance(core, Inductive):
                    return core
                waiting += [goals[term, False] for term in core]
        used = [
            g.query.claim.name
            for key, g in goals.items()
            if key in done and key not in asked_for
        ]
        return Inductive(holds=True, lemmas=tuple(dict.fromkeys(used)))

    def _core(
        self, proof: _Proof, goal: _Goal, action: ActionTerm | None
    ) -> frozenset[Term] | Inductive:
        """Return the claims by which ``action`` keeps the goal, or how it may break."""
        name = action.name if action else ""
        known = self._cores.get((goal.key, name))
        if known is not None and known <= proof.hypotheses:
            return known
        outcome = proof.kept(goal, action) if action else proof.initiation(goal)
        if outcome == z3.unsat:
            core = proof.core()
            self._cores[goal.key, name] = core
            return core
        label = goal.query.claim.name
        if outcome == z3.unknown:
            note = f"z3 gave up on {label} under {name or 'the start'}: {proof.reason}"
            return Inductive(None, broken=label, action=name, note=note)
        cti = None if self._open else self._cti(proof, goal)
        return Inductive(holds=False, broken=label, action=name, cti=cti)

    def _cti(self, proof: _Proof, goal: _Goal) -> Cti:
        """Read the failed step, and check it in plain Python."""
        first, event = proof.decoded(self._reference)
        name, text = goal.query.claim.name, goal.query.text
        after = first if event is None else self._reference.after(first, event)
        states = (first, after) if goal.steps else (after,)
        no_step = goal.steps and after == first
        if after is None or no_step or goal.query.holds(self._reference, *states):
            message = f"z3 and plain Python disagree on {name} after {event}"
            raise Disagreement(message)
        if event is None:
            return Cti(None, None, after, name, text)
        assumed = (g for g in proof.goals if not g.steps)
        if not all(g.query.holds(self._reference, first) for g in assumed):
            message = f"z3 and plain Python disagree on the state before {event}"
            raise Disagreement(message)
        return Cti(first, event, after, name, text)


class _Proof:
    """The questions of one induction, as z3 gets them."""

    def __init__(
        self,
        system: System,
        goals: dict[_Key, _Goal],
        open_sorts: frozenset[Sort],
        deadline: float,
    ) -> None:
        self.goals = tuple(goals.values())
        assumed = [g.term for g in self.goals if not g.steps]
        self.hypotheses = frozenset(assumed)
        self.reason = ""
        self._deadline = deadline
        self._system = system
        terms = [g.term for g in self.goals]
        self._encoder = Encoder(system, terms, open_sorts=open_sorts)
        self._state = self._encoder.elements("")
        self._steps, self._start = z3.Solver(), z3.Solver()
        self._steps.add([asserted(c) for c in self._encoder.typed(self._state)])
        self._start.add([asserted(c) for c in self._encoder.initial(self._state)])
        self._named: dict[str, Term] = {}
        for number, term in enumerate(assumed):
            label = f"hypothesis {number}"
            self._named[label] = term
            self._steps.assert_and_track(asserted(self._encode(term)), label)
        self._core: frozenset[Term] = frozenset()
        self._model: Any = None
        self._taken: list[tuple[Event, Any]] = []

    def initiation(self, goal: _Goal) -> Any:
        """Ask for an initial state that breaks the goal."""
        self._taken = []
        if goal.steps:
            self._core = frozenset()
            return z3.unsat
        return self._check(self._start, negate(self._encode(goal.term)))

    def kept(self, goal: _Goal, action: ActionTerm) -> Any:
        """Ask for a step of ``action`` that breaks the goal."""
        before = before_of(self._system, action, goal.term, steps=goal.steps)
        if before == goal.term and not goal.steps:
            self._core = frozenset((goal.term,))
            return z3.unsat
        self._taken = []
        effects = []
        for values in self._encoder.instances(action):
            guard = self._encoder.encode(action.guard, values, self._state)
            claim = self._encoder.encode(before, values, self._state)
            breaks = conjoin([guard, negate(claim)])
            if breaks is False:
                continue
            members = tuple(m if isinstance(m, int) else 0 for m in values.values())
            taken = z3.FreshBool("taken")
            self._taken.append((Event(action.name, members, action.fault), taken))
            effects.append(z3.Implies(taken, asserted(breaks)))
        if not effects:
            return self._check(self._steps, broken=False)
        some = z3.Or([taken for _, taken in self._taken])
        return self._check(self._steps, z3.And(some, *effects))

    def core(self) -> frozenset[Term]:
        """Return the hypotheses that the last refusal rests on."""
        return self._core

    def decoded(self, interpreter: Interpreter) -> tuple[State, Event | None]:
        """Read the state and the event of the last model, at given sizes."""
        state = tuple(
            self._encoder.value(
                field.type,
                self._model.eval(self._state[field.path, place], model_completion=True),
            )
            for field, place in interpreter.places
        )
        for event, taken in self._taken:
            if z3.is_true(self._model.eval(taken)):
                return state, event
        return state, None

    def _encode(self, term: Term) -> Any:
        return self._encoder.encode(term, {}, self._state)

    def _check(self, solver: Any, broken: Any) -> Any:
        self._core = frozenset()
        if broken is False:
            return z3.unsat
        left = self._deadline - time.monotonic()
        if left <= 0:
            self.reason = "timeout"
            return z3.unknown
        solver.set("timeout", max(1, int(left * 1000)))
        solver.push()
        solver.add(asserted(broken))
        outcome = solver.check()
        if outcome == z3.unsat:
            self._core = frozenset(self._named[str(n)] for n in solver.unsat_core())
        elif outcome == z3.sat:
            self._model = solver.model()
        else:
            self.reason = solver.reason_unknown()
        solver.pop()
        return outcome


def _goals(queries: Sequence[ProofQuery]) -> dict[_Key, _Goal]:
    found: dict[_Key, _Goal] = {}
    for one in queries:
        goal = _Goal(one, renamed(one.question.term, "~"))
        found.setdefault(goal.key, goal)
    return found


def _listed(shown: Mapping[str, Shown]) -> str:
    """List what a state has, budgets of faults apart; of very much, the beginning."""
    every = [
        f"{name}={value}"
        for name, value in shown.items()
        if name.split(".")[0] != "faults"
    ]
    more = len(every) - _MOST_LISTED
    return ", ".join(every if more <= 1 else [*every[:-more], f"and {more} more"])
