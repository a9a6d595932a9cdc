"""Bounded model checking: every interleaving of a system up to a number of steps.

The step relation is made once, over one state and the next, and put in place for
each step. A step changes the state: an action that would leave it as it is takes
none. See Biere, Cimatti, Clarke and Zhu, Symbolic Model Checking without BDDs, TACAS
1999. z3 provides only the interleaving: the states of a
trace are those of plain Python.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

import z3

from onceproof.model.errors import Disagreement
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.language.terms.terms import Const, Get
from onceproof.model.language.terms.types import MemberType
from onceproof.model.traces import Trace, follow
from onceproof.properties.judges.by_proof.connectives import (
    asserted,
    conjoin,
    disjoin,
    negate,
    same,
)
from onceproof.properties.judges.by_proof.encode import Encoder
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.interpreter import State
    from onceproof.model.language.tracing.action_term import ActionTerm
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.judges.by_proof.claims import ProofQuery
    from onceproof.properties.judges.by_proof.encode import Elements


@dataclass(frozen=True)
class Bounded:
    """The result of bounded checking for one clause."""

    query: ProofQuery
    """The clause."""
    verdict: Verdict
    """The verdict."""
    trace: Trace | None = None
    """The trace that refutes or witnesses it."""
    note: str = ""
    """A remark, such as the depth."""


@dataclass(frozen=True)
class _Instance:
    """One event in the step relation: it is taken where ``taken`` holds.

    ``stays`` says that it would change nothing: then it is no step.
    """

    event: Event
    taken: Any
    guard: Any
    writes: dict[tuple[str, tuple[int, ...]], Any]
    stays: Any


def check_bounded(
    system: System,
    queries: Sequence[ProofQuery],
    *,
    proved: Sequence[ProofQuery] = (),
    depth: int,
    timeout_seconds: float,
) -> list[Bounded]:
    """Look for each clause's shortest refutation, or witness, to ``depth`` steps.

    The clauses are sought together. A clause about the whole graph is left
    undecided, and so is every clause that is still open when the time is over. Of
    those that are ``proved`` is only queries whether there is what they speak of: a
    state of rest, a step. Their answers come last.
    """
    deadline = time.monotonic() + timeout_seconds
    try:
        search = _UnrolledSearch(system, queries, proved, deadline)
    except _TooLateError:
        note = f"the steps were not encoded within {timeout_seconds:g} s"
        return [Bounded(a, Verdict.UNDECIDED, note=note) for a in (*queries, *proved)]
    stopped = ""
    for steps in range(depth + 1):
        stopped = search.look(steps)
        if stopped or not search.busy:
            break
        if steps < depth:
            search.step()
    return [search.answer(a, depth, stopped) for a in (*queries, *proved)]


class _TooLateError(Exception):
    """The time is over before the first query can be made."""


class _UnrolledSearch:
    """Looks for all clauses in one unrolling, one step longer at a time."""

    def __init__(
        self,
        system: System,
        queries: Sequence[ProofQuery],
        proved: Sequence[ProofQuery],
        deadline: float,
    ) -> None:
        self._reference = Interpreter(system.protocol)
        self._relation = _Relation(system, queries, deadline)
        self._deadline = deadline
        self._solver = z3.SolverFor("QF_FD")
        self._solver.add(self._relation.initial())
        self._found: dict[int, Trace] = {}
        self._rests = False
        self._moves: bool | None = None
        self._spoken_of = {a.when for a in (*queries, *proved)}
        self.open = [a for a in queries if not a.question.whole]

    @property
    def busy(self) -> bool:
        """Whether there is anything left to look for."""
        return self._moves is not False and bool(
            self.open
            or (Modality.AT_REST in self._spoken_of and not self._rests)
            or (Modality.STEP in self._spoken_of and self._moves is None)
        )

    def step(self) -> None:
        """Allow one more step."""
        self._solver.add(self._relation.unroll())

    def look(self, steps: int) -> str:
        """Look for each open clause after ``steps`` steps; say why if z3 gives up."""
        if steps == 1:
            outcome = self._solve(claim=True)
            if outcome == z3.unknown:
                return f"z3 gave up at depth {steps}: {self._solver.reason_unknown()}"
            self._moves = outcome == z3.sat
            if not self._moves:
                return ""
        for query in list(self.open):
            if query.when is Modality.STEP and steps == 0:
                continue
            outcome = self._solve(shown := self._relation.shown(query))
            if outcome == z3.unknown:
                return f"z3 gave up at depth {steps}: {self._solver.reason_unknown()}"
            if outcome == z3.sat:
                self._found[id(query)] = self._trace(query)
                self.open.remove(query)
            else:
                self._solver.add(negate(shown))
        if not self._rests and Modality.AT_REST in self._spoken_of:
            outcome = self._solve(self._relation.resting())
            if outcome == z3.unknown:
                return f"z3 gave up at depth {steps}: {self._solver.reason_unknown()}"
            self._rests = outcome == z3.sat
        return ""

    def answer(self, query: ProofQuery, depth: int, stopped: str) -> Bounded:
        """Return how a clause came out."""
        trace = self._found.get(id(query))
        witness = query.when is Modality.SOMETIMES
        if trace is not None and witness:
            note = f"witnessed after {len(trace.steps)} steps"
            return Bounded(query, Verdict.BOUNDED, trace, note)
        if trace is not None:
            return Bounded(query, Verdict.REFUTED, trace)
        if query.when is Modality.STEP and self._moves is False:
            return Bounded(query, Verdict.VACUOUS, note="no step is possible at all")
        missing = ""
        if query.question.whole:
            missing = "z3 cannot decide it: it needs the whole graph of states"
        elif stopped and query in self.open:
            missing = stopped
        elif witness:
            missing = f"no witness within {depth} steps"
        elif query.when is Modality.AT_REST and not self._rests:
            missing = stopped or f"no state of rest within {depth} steps"
        elif query.when is Modality.STEP and self._moves is None:
            missing = stopped or f"no step within {depth} steps"
        if missing:
            return Bounded(query, Verdict.UNDECIDED, note=missing)
        note = f"in every interleaving of at most {depth} steps"
        return Bounded(query, Verdict.BOUNDED, note=note)

    def _solve(self, claim: Any) -> Any:
        left = self._deadline - time.monotonic()
        if left <= 0:
            return z3.unknown
        if isinstance(claim, bool) and not claim:
            return z3.unsat
        goal = z3.FreshBool("goal")
        self._solver.add(z3.Implies(goal, asserted(claim)))
        self._solver.set("timeout", max(1, int(left * 1000)))
        return self._solver.check(goal)

    def _trace(self, query: ProofQuery) -> Trace:
        start, events = self._relation.decoded(self._solver.model(), self._reference)
        trace = follow(self._reference, start, events)
        shown = trace.states[-2:] if query.when is Modality.STEP else trace.states[-1:]
        agrees = query.holds(self._reference, *shown) == (
            query.when is Modality.SOMETIMES
        )
        if query.when is Modality.AT_REST:
            agrees = agrees and self._reference.resting(trace.states[-1])
        if query.when is Modality.STEP:
            agrees = agrees and shown[0] != shown[1]
        if not agrees:
            message = f"z3 and plain Python disagree on {query.question.name}"
            raise Disagreement(message)
        return trace


class _Relation:
    """The steps of a system as formulas, unrolled from the initial states."""

    def __init__(
        self, system: System, queries: Sequence[ProofQuery], deadline: float
    ) -> None:
        self._system = system
        self._deadline = deadline
        self._encoder = Encoder(system, [a.question.term for a in queries])
        self._now = self._encoder.elements("now")
        self._next = self._encoder.elements("next")
        self._instances = [i for a in system.actions for i in self._made(a)]
        self._step = self._relation()
        self._rest = self._resting()
        self._claims = {id(a): self._claim(a) for a in queries}
        self._states = [self._encoder.elements("0")]
        self._taken: list[list[Any]] = []

    def initial(self) -> list[Any]:
        """Say that the first state is one that the system starts from."""
        return [asserted(c) for c in self._encoder.initial(self._states[0])]

    def unroll(self) -> Any:
        """Add a state, and say that a step leads to it."""
        number = len(self._states)
        self._states.append(self._encoder.elements(str(number)))
        self._taken.append([z3.Bool(f"{i.taken}@{number}") for i in self._instances])
        return self._in_step(self._step)

    def shown(self, query: ProofQuery) -> Any:
        """Say that the last state (or step) refutes the clause, or witnesses it."""
        claim = self._claims[id(query)]
        return (
            self._in_step(claim)
            if query.when is Modality.STEP
            else self._in_state(claim)
        )

    def resting(self) -> Any:
        """Say that nothing moves in the last state, faults apart."""
        return self._in_state(self._rest)

    def decoded(
        self, model: Any, interpreter: Interpreter
    ) -> tuple[State, tuple[Event, ...]]:
        """Read the first state and the events from a model."""
        first = self._states[0]
        start = tuple(
            self._encoder.value(
                field.type, model.eval(first[field.path, place], model_completion=True)
            )
            for field, place in interpreter.places
        )
        events = tuple(
            next(
                i.event
                for i, bit in zip(self._instances, taken, strict=True)
                if z3.is_true(model.eval(bit))
            )
            for taken in self._taken
        )
        return start, events

    def _made(self, action: ActionTerm) -> list[_Instance]:
        made = []
        sizes = self._system.sizes
        fields = [f for f in self._system.fields if f.path in action.written]
        for values in self._encoder.instances(action):
            if time.monotonic() > self._deadline:
                raise _TooLateError
            members = tuple(values.values())
            guard = self._encoder.encode(action.guard, values, self._now)
            if guard is False:
                continue
            writes = {}
            for field, place in (
                (f, place) for f in fields for place in f.places(sizes)
            ):
                indices = tuple(
                    Const(i, MemberType(s))
                    for i, s in zip(place, field.sorts, strict=True)
                )
                term = action.after(Get(field.path, indices, field.type))
                value = self._encoder.encode(term, values, self._now)
                if same(value, self._now[field.path, place]) is not True:
                    writes[field.path, place] = value
            event = Event(action.name, members, action.fault)
            stays = conjoin(same(v, self._now[key]) for key, v in writes.items())
            if stays is not True:
                taken = z3.Bool(str(event))
                made.append(_Instance(event, taken, guard, writes, stays))
        return made

    def _relation(self) -> Any:
        kept = {key: self._next[key] == self._now[key] for key in self._now}
        constraints: list[Any] = [z3.Or([i.taken for i in self._instances])]
        for one in self._instances:
            effect = [same(value, self._next[key]) for key, value in one.writes.items()]
            frame = [same_ for key, same_ in kept.items() if key not in one.writes]
            done = conjoin([one.guard, negate(one.stays), *effect, *frame])
            constraints.append(z3.Implies(one.taken, asserted(done)))
        return z3.And(constraints)

    def _resting(self) -> Any:
        return conjoin(
            disjoin([negate(one.guard), one.stays])
            for one in self._instances
            if not one.event.fault
        )

    def _claim(self, query: ProofQuery) -> Any:
        term, encode = query.question.term, self._encoder.encode
        match query.when:
            case Modality.ALWAYS:
                return negate(encode(term, {}, self._now))
            case Modality.STEP:
                return negate(encode(term, {}, self._now, self._next))
            case Modality.AT_REST:
                return conjoin([self._rest, negate(encode(term, {}, self._now))])
            case Modality.SOMETIMES:
                return encode(term, {}, self._now)
            case Modality.RECOVERABLE | Modality.EVENTUALLY | Modality.LEADS_TO:
                return False
            case _:
                assert_never(query.when)

    def _in_state(self, formula: Any) -> Any:
        """Put a formula over ``now`` in the last state."""
        if isinstance(formula, bool):
            return formula
        return z3.substitute(formula, *_pairs(self._now, self._states[-1]))

    def _in_step(self, formula: Any) -> Any:
        """Put a formula over ``now`` and ``next`` in the last step."""
        if isinstance(formula, bool):
            return formula
        taken = zip((i.taken for i in self._instances), self._taken[-1], strict=True)
        return z3.substitute(
            formula,
            *_pairs(self._now, self._states[-2]),
            *_pairs(self._next, self._states[-1]),
            *taken,
        )


def _pairs(old: Elements, new: Elements) -> list[tuple[Any, Any]]:
    return [(old[key], new[key]) for key in old]
