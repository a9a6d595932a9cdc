"""A walk: a reader's position in a run of the model, on the trace or off it.

Steps are taken in plain Python. A run that has left the trace is shown by the same
view model as the trace, but not weighed: nothing is left out of it, nor compared.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.model.language.steps import Event
from onceproof.model.traces import Trace, follow
from onceproof.properties.counterexample.explanation.property_timeline import breaks
from onceproof.properties.counterexample.file import named, steps_of
from onceproof.properties.counterexample.lanes import READERS, lanes_of
from onceproof.properties.counterexample.model_run import counterexample_of
from onceproof.properties.counterexample.step_kinds import CRASH
from onceproof.properties.explorer.phrases import say
from onceproof.properties.explorer.recorded_view import assembled
from onceproof.properties.explorer.view_builder import Explored, ViewBuilder, explored
from onceproof.properties.words.messages import messages_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.interpreter import State
    from onceproof.properties.counterexample.model_run import ModelRun
    from onceproof.properties.explorer.view import Option, View

MOST_OWN = 500
MOST_TAKEN = 200
MOST_STARTS = 64


class Walk:
    """Stands after ``step`` steps of ``view``, which is ``trace`` or a run off it.

    ``left`` is how many steps of the trace the run off it begins with; None on the
    trace. Where there is no model to step, the trace is never left.
    """

    def __init__(self, found: Explored) -> None:
        """Stand where the trace breaks, or else at its start."""
        self.begun = 0
        self.starts = _starts(found)
        self._move_to(found)

    def _move_to(self, found: Explored) -> None:
        self.trace = found.view
        self._model = found.model
        self.view = found.view
        self.step = min(found.view.fails_at or 0, len(found.view.steps))
        self.left: int | None = None
        self._worker = None if found.model is None else _own(found.view, found.model)

    def begin(self, number: int) -> None:
        """Begin with another of ``starts``, where there are several; none follows 64.

        Only a walk may begin elsewhere: a trace is that of its own start.
        """
        if self._model is None or not self.starts:
            return
        self.begun = number % len(self.starts)
        counterexample = replace(
            counterexample_of(self._model.protocol),
            start=named(self._model.interpreter, self.starts[self.begun]),
            property=self.trace.property,
            clause=self.trace.clause,
        )
        self._move_to(explored(counterexample, self._model.protocol))

    @property
    def last(self) -> int:
        """Return the number of the last step."""
        return len(self.view.steps)

    def go(self, step: int) -> None:
        """Stand after a step, or at the nearest end."""
        self.step = max(0, min(step, self.last))

    def options(self) -> tuple[Option, ...]:
        """List what could happen now, but for the step that comes next in the run.

        Of what is broken already none is said to break it.
        """
        found: tuple[Option, ...] = ()
        if self.step < self.last:
            found = self.view.steps[self.step].options
        elif self._worker is not None:
            found = self._worker.options(self._states()[-1], None)
        fails_at = self.view.fails_at
        broken = fails_at is not None and self.step >= fails_at
        return tuple(replace(o, breaks=o.breaks and not broken) for o in found)

    def rests(self) -> bool:
        """Return whether nothing moves any more where the run ends."""
        model = self._model
        return model is not None and model.interpreter.resting(self._states()[-1])

    def take(self, option: Option) -> None:
        """Take what could happen now; this leaves the trace, unless it leads along."""
        if self._worker is None:
            return
        after = self._worker.after(self._states()[self.step])
        event = next(e for e in after if str(e) == option.code)
        self._walk((*self._run().events[: self.step], event), self.step + 1)

    def take_passing(self) -> None:
        """Walk the nearest run that passes, from where it leaves the trace."""
        passing = self.trace.passing
        if passing is not None and self._model is not None:
            steps = self._model.interpreter.steps
            events = tuple(Event(n, m, steps[n].fault) for n, m in passing.steps)
            self._walk(events, passing.shared)

    def go_on(self) -> None:
        """Take those of the trace's further steps that can be taken, in their turn."""
        if self._worker is None or self._model is None or self.left is None:
            return
        taken, _ = self._along(self._states()[-1], self._model.run.events[self.left :])
        self._walk((*self._run().events, *taken), self.last + len(taken))

    def to_rest(self) -> None:
        """Take actions by turns, and no fault, until nothing moves any more."""
        if self._worker is None:
            return
        taken, _ = self._to_rest(self._states()[-1])
        self._walk((*self._run().events, *taken), self.last + len(taken))

    def outcome(self, option: Option) -> str:
        """Return what becomes of the claim if an option is taken and gone on with.

        The trace's further steps are taken as far as they can be, then actions by turns
        until nothing moves. Empty where nothing is claimed, or it is broken already.
        """
        worker, model = self._worker, self._model
        broken = self.view.fails_at is not None and self.step >= self.view.fails_at
        if worker is None or model is None or model.claim is None or broken:
            return ""
        if option.breaks and not self.trace.looks:
            return say("breaks-at-once")
        before, state = self._run().events[: self.step], self._states()[self.step]
        event = next(e for e in worker.after(state) if str(e) == option.code)
        first = worker.after(state)[event]
        along, state = self._along(first, model.run.events[self.step :])
        rest, state = self._to_rest(state)
        events = (*before, event, *along, *rest)
        run = follow(model.interpreter, model.run.start, events)
        fails_at = _fails_at(self.trace, worker, run)
        if fails_at == self.step + 1:
            return say("breaks-at-once")
        if fails_at is not None:
            return say("breaks-later", step=fails_at)
        if model.interpreter.resting(state):
            return say("passes")
        return say("passes-so-far", most=MOST_TAKEN)

    def _along(
        self, state: State, events: Sequence[Event]
    ) -> tuple[list[Event], State]:
        """Take those of some events that can be taken, each in its turn."""
        taken = []
        for event in events:
            after = self._worker.after(state).get(event) if self._worker else None
            if after is not None:
                state = after
                taken.append(event)
        return taken, state

    def _to_rest(self, state: State) -> tuple[list[Event], State]:
        """Take actions by turns, and no fault, until nothing moves any more."""
        taken: list[Event] = []
        while self._worker is not None and len(taken) < MOST_TAKEN:
            after = self._worker.after(state)
            choice = [event for event in after if not event.fault]
            if not choice:
                break
            taken.append(min(choice, key=taken.count))
            state = after[taken[-1]]
        return taken, state

    def back(self) -> None:
        """Come back to the trace, where it was left."""
        if self.left is None:
            return
        self.step = min(self.step, self.left)
        self.left, self.view = None, self.trace
        if self._model is not None:
            self._worker = _own(self.trace, self._model)

    def _run(self) -> Trace:
        if self._worker is None:
            message = "there is no model to step"
            raise ValueError(message)
        return self._worker.run

    def _states(self) -> Sequence[State]:
        return self._run().states

    def _walk(self, events: tuple[Event, ...], step: int) -> None:
        if self._model is None:
            return
        trace = self._model.run
        events = events[: len(trace.events) + MOST_OWN]
        shared = _shared(events, trace.events)
        if shared == len(events):
            self.back()
        else:
            run = follow(self._model.interpreter, trace.start, events)
            self._worker = _own(self.trace, replace(self._model, run=run))
            self.left = shared
            self.view = _view(self.trace, self._worker, shared)
        self.go(step)


def _starts(found: Explored) -> tuple[State, ...]:
    """List the states that a walk can begin with, if there are several."""
    if found.model is None or found.view.steps:
        return ()
    interpreter = found.model.interpreter
    many = tuple(itertools.islice(interpreter.initial_states(), MOST_STARTS))
    return many if len(many) > 1 else ()


def _shared(events: Sequence[Event], others: Sequence[Event]) -> int:
    """Count the first steps that two runs have in common."""
    pairs = enumerate(zip(events, others, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(events), len(others)))


def _own(trace: View, model: ModelRun) -> ViewBuilder:
    """Look at a run of the model as at a trace, for the same claim."""
    counterexample = replace(
        counterexample_of(model.protocol),
        steps=steps_of(model.interpreter, model.run),
        start=named(model.interpreter, model.run.start),
        property=trace.property,
        clause=trace.clause,
    )
    return ViewBuilder(counterexample, model, [])


def _view(trace: View, worker: ViewBuilder, left: int) -> View:
    """Describe a run off the trace by the view model."""
    fails_at = _fails_at(trace, worker, worker.run)
    counterexample, model = worker.counterexample, worker.model
    looks = tuple(
        replace(look, breaks=False) for look in trace.looks if look.after <= left
    )
    steps = worker.steps(fails_at, None)
    for at, real in enumerate(trace.steps[:left]):
        steps[at] = replace(steps[at], source=real.source)
    view = assembled(
        counterexample,
        (*lanes_of(counterexample).names, *((READERS,) if looks else ())),
        steps,
        fails_at=fails_at,
        start=trace.start,
        named_start=trace.named_start,
        messages=tuple(messages_of(model.interpreter, model.run, worker.crashes())),
        strips=tuple(worker.strips()),
        live=True,
    )
    return replace(
        view, protocol=trace.protocol, parameters=trace.parameters, looks=looks
    )


def _fails_at(trace: View, worker: ViewBuilder, taken: Trace) -> int | None:
    """Find where a run first breaks the claim: where readers look, if they did."""
    model, states = worker.model, taken.states
    if model.claim is None:
        return None
    for number in range(len(states)):
        run = states[max(0, number - 1) : number + 1]
        if not breaks(model.claim, None, model.interpreter, run):
            continue
        before = taken.events[number - 1 : number]
        crash = any(worker.kinds.by_name[event.name] == CRASH for event in before)
        if not trace.looks or crash or model.interpreter.resting(states[number]):
            return number
    return None
