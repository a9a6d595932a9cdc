"""Works out what there is to show of a counterexample, by its model where it has one.

What the model says is worked out in plain Python.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.interleavings.failing_runs import successors
from onceproof.model.language.declarations.modality import Modality
from onceproof.model.traces import follow
from onceproof.properties.counterexample.explanation import necessary_steps
from onceproof.properties.counterexample.explanation.obligations import (
    Obligation,
    broken_for_ever,
    promises_of,
)
from onceproof.properties.counterexample.explanation.passing_run import nearest_passing
from onceproof.properties.counterexample.explanation.property_timeline import (
    FAILS,
    OPEN,
    PropertyTimeline,
    breaks,
)
from onceproof.properties.counterexample.explanation.sentences import (
    because,
    grounds_of,
)
from onceproof.properties.counterexample.file import named
from onceproof.properties.counterexample.lanes import LOOK, lanes_of
from onceproof.properties.counterexample.model_run import ModelRun, model_of
from onceproof.properties.counterexample.step_kinds import CRASH, StepKinds
from onceproof.properties.explorer.recorded_view import (
    assembled,
    failing_step,
    first_steps,
    with_story,
    without_model,
)
from onceproof.properties.explorer.truncation import MOST_STEPS
from onceproof.properties.explorer.view import (
    MODEL,
    SPARK,
    Change,
    Option,
    PassingRun,
    StepView,
    View,
)
from onceproof.properties.judges.by_search import claims_of
from onceproof.properties.words.labels import Labels
from onceproof.properties.words.messages import messages_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.interpreter import Interpreter, State
    from onceproof.model.language.steps import Event
    from onceproof.properties.counterexample.file import Counterexample
    from onceproof.properties.property import Property


@dataclass(frozen=True)
class Explored:
    """A view, and the model that it can be stepped in, where there is one."""

    view: View
    """The view."""
    model: ModelRun | None
    """The model; None where it cannot be made again."""


def explored(
    counterexample: Counterexample,
    protocol: Protocol | None = None,
    *,
    interpreter: Interpreter | None = None,
    trust: bool = False,
) -> Explored:
    """Work out what there is to show of a counterexample, of the model or of Spark.

    ``protocol`` is the model that it was found in where its name does not lead there,
    and ``interpreter`` what it is run by, if not by plain Python.
    A model of the user's own is run from the project, or from anywhere with ``trust``.
    """
    notes = []
    left = len(counterexample.steps) - len(counterexample.as_taken().steps)
    if left:
        notes.append(
            f"no restart brought the query to its end: {_steps(left)} that the model "
            "takes then are not shown"
        )
        counterexample = counterexample.as_taken()
    if counterexample.undecided():
        notes.append(
            f"{counterexample.property} is undecided: no reader could read at the "
            "moment in question"
        )
    if len(counterexample.steps) > MOST_STEPS:
        total = len(counterexample.steps)
        notes.append(f"of {total:,} steps the first {MOST_STEPS:,} are shown")
        counterexample, fails_at = first_steps(counterexample)
        if fails_at is not None:
            notes.append(f"it breaks after step {fails_at:,}, which is not shown")
    model, reason = model_of(
        counterexample, protocol, interpreter=interpreter, trust=trust
    )
    if model is None:
        notes.append(f"no other step can be taken here: {reason}")
        return Explored(without_model(counterexample, notes), None)
    return Explored(ViewBuilder(counterexample, model, notes).view(), model)


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number:,} steps"


class ViewBuilder:
    """Works out a view from a model and the run of a counterexample.

    ``after`` gives what each state leads to, and ``kinds`` the kind of each step.
    """

    def __init__(
        self, counterexample: Counterexample, model: ModelRun, notes: list[str]
    ) -> None:
        """Look at the run of a model; what cannot be worked out is added to notes."""
        self.counterexample = counterexample
        self.model = model
        self._notes = notes
        self.run = model.run
        self.kinds = StepKinds.of(model.system)
        self.after = successors(model.interpreter)
        self._labels = Labels(model.interpreter)

    def view(self) -> View:
        """Put the view together."""
        counterexample, model = self.counterexample, self.model
        fails_at = self._failing()
        kept = self._matters(fails_at)
        steps = self.steps(fails_at, kept)
        reasons = counterexample.because
        if not reasons and fails_at is not None:
            reasons = because(model, fails_at, kept)
        grounds = None if fails_at is None else grounds_of(model, fails_at)
        view = assembled(
            counterexample,
            lanes_of(counterexample).names,
            steps,
            fails_at=fails_at,
            start=self._labels.state(self.run.start),
            named_start=named(model.interpreter, self.run.start),
            messages=tuple(messages_of(model.interpreter, self.run, self.crashes())),
            strips=tuple(self.strips()),
            because=reasons,
            passing=self._passing(fails_at),
            notes=tuple(self._notes),
            live=True,
        )
        return with_story(view, counterexample, model, grounds)

    def crashes(self) -> set[str]:
        """Name the faults that are crashes."""
        return {name for name, kind in self.kinds.by_name.items() if kind == CRASH}

    def _fails(self, run: Sequence[State]) -> bool:
        prop = self.model.claim
        if prop is None:
            return False
        return breaks(prop, self.model.clause, self.model.interpreter, run)

    def _failing(self) -> int | None:
        """Find the step after which the claim first fails."""
        as_stated = failing_step(self.counterexample)
        if as_stated is None or self.counterexample.observed is not None:
            return as_stated
        claim, clause = self.model.claim, self.model.clause
        if claim is None or clause is None:
            self._notes.append(
                f"the model has no property {self.counterexample.property}: "
                "that it breaks is what the file says"
            )
            return as_stated
        if clause.when is Modality.RECOVERABLE and self.counterexample.steps:
            self._notes.append(
                "that it breaks at its last step is what a search of all states found: "
                "no run without another fault comes to what is claimed from there"
            )
            return as_stated
        states, loop = self.run.states, self.run.loop
        if not clause.when.of_runs:
            breaks_at = (n for n in range(len(states)) if self._fails(states[: n + 1]))
            found = next(breaks_at, None)
        else:
            promise = self._promise()
            every = range(len(self.run.events))
            broken = promise is None or self._goes_on(promise, states, every)
            found = as_stated if broken and (loop is not None or states[1:]) else None
        if found is None and self.counterexample.steps:
            self._notes.append(
                f"the run does not break {claim.name} any more: what is claimed has "
                "changed since it was found"
            )
        return found

    def _matters(self, fails_at: int | None) -> frozenset[int] | None:
        if fails_at is None or self.model.claim is None:
            return None
        promise = self._promise()
        kept = necessary_steps.matters(
            self.model.interpreter,
            self.run.start,
            self.run.events[:fails_at],
            (lambda states, _: self._fails(states))
            if promise is None
            else lambda states, kept: self._goes_on(promise, states, kept),
        )
        if kept is None:
            why = (
                f"that is not worked out beyond {necessary_steps.MOST_STEPS} steps"
                if fails_at > necessary_steps.MOST_STEPS
                else "the claim cannot be judged by the states of this run in the model"
            )
            self._notes.append(f"which steps matter is not known: {why}")
            return None
        return kept if promise else kept | {fails_at}

    def _promise(self) -> Obligation | None:
        """Return what the run owes for ever, where that is what it breaks."""
        claim, interpreter = self.model.claim, self.model.interpreter
        if claim is None or self.run.loop is None:
            return None
        promises = promises_of(claim, interpreter)
        return next((p for p in promises if p.clause == self.model.clause), None)

    def _goes_on(
        self, promise: Obligation, states: Sequence[State], kept: Sequence[int]
    ) -> bool:
        """Return whether a run with some of the events breaks a promise for ever."""
        events = [self.run.events[i] for i in kept]
        loop = sum(i < (self.run.loop or 0) for i in kept)
        return broken_for_ever(promise, self.after, states, events, loop)

    def steps(
        self, fails_at: int | None, kept: frozenset[int] | None
    ) -> list[StepView]:
        """List the steps; ``kept`` are those that matter, where that is known."""
        interpreter, run, labels = self.model.interpreter, self.run, self._labels
        rows = {
            r.number: r for r in lanes_of(self.counterexample).rows if r.kind != LOOK
        }
        kinds = self.kinds.along(run)
        found = []
        for number, event in enumerate(run.events, 1):
            before, after = run.states[number - 1 : number + 1]
            old = labels.state(before)
            changes = labels.differences(before, after)
            found.append(
                StepView(
                    number=number,
                    lane=rows[number].lane,
                    text=labels.event(event, before),
                    event=event.name,
                    members=event.members,
                    kind=kinds[number - 1],
                    doc=interpreter.steps[event.name].doc.split("\n")[0],
                    source=SPARK if self.counterexample.sink else MODEL,
                    changes=tuple(Change(n, old[n], v) for n, v in changes.items()),
                    options=self.options(before, event),
                    matters=None if kept is None else number in kept,
                    breaks=number == fails_at,
                )
            )
        return found

    def options(self, state: State, taken: object) -> tuple[Option, ...]:
        """List what could happen in a state besides what is taken."""
        after = self.after(state)
        kinds = self.kinds.by_name
        return tuple(
            Option(
                self._labels.event(event, state),
                kinds[event.name],
                self._fails((state, then)),
                str(event),
            )
            for event, then in after.items()
            if event != taken
        )

    def strips(self) -> list[PropertyTimeline]:
        """Judge each claim along the run: that of the counterexample comes first."""
        chosen = self.counterexample.property
        claims = [p for p in claims_of(self.model.protocol) if not p.lemma]
        claims.sort(key=lambda p: p.name != chosen)
        strips = [
            PropertyTimeline.of(p, self.model.interpreter, self.run.states)
            for p in claims
        ]
        return [*self._observed(), *strips]

    def _observed(self) -> list[PropertyTimeline]:
        """Return the strip of what readers of real Spark saw, as the file has it."""
        counterexample = self.counterexample
        if counterexample.observed is None:
            return []
        cells = [OPEN] * (len(counterexample.steps) + 1)
        for moment, at in enumerate(counterexample.looks):
            if at < len(cells):
                cells[at] = FAILS if moment == counterexample.fails_at else "seen"
        first = cells.index(FAILS) if FAILS in cells else None
        name = f"{counterexample.property}, as readers of real Spark saw it"
        return [PropertyTimeline(name, counterexample.clause, tuple(cells), first)]

    def _passing(self, fails_at: int | None) -> PassingRun | None:
        claim = self.model.claim
        if fails_at is None or claim is None:
            return None
        if self.counterexample.observed is not None and not self._breaks_in_model(
            claim
        ):
            self._notes.append(
                "no passing run is shown: in the model, this run itself passes"
            )
            return None
        found, reason = nearest_passing(
            self.model.interpreter,
            self.run,
            fails_at,
            self._breaks_property,
            promises_of(claim, self.model.interpreter),
        )
        if found is None:
            self._notes.append(f"no passing run is shown: {reason}")
            return None
        run = follow(self.model.interpreter, self.run.start, found.events)
        pairs = zip(run.events, run.states, strict=False)
        return PassingRun(
            found.shared,
            tuple((e.name, e.members) for e in found.events),
            tuple(self._labels.event(event, state) for event, state in pairs),
        )

    def _breaks_in_model(self, claim: Property) -> bool:
        """Return whether the run breaks the property in the model, too."""
        states = self.run.states
        steps = zip(states, self.run.events, states[1:], strict=False)
        return any(itertools.starmap(self._breaks_property, steps)) or any(
            promise.pending(states)
            for promise in promises_of(claim, self.model.interpreter)
        )

    def _breaks_property(self, before: State, event: Event, after: State) -> bool:
        """Judge a step: of real Spark only where readers would look after it."""
        prop, interpreter = self.model.claim, self.model.interpreter
        if self.counterexample.observed is not None:
            down = self.kinds.by_name[event.name] == CRASH
            if not (down or interpreter.resting(after)):
                return False
        return prop is not None and breaks(prop, None, interpreter, (before, after))
