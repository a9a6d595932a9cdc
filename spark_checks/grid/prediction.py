"""What the model of queries with state says of a cell, step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.library import make
from onceproof.properties.ledger import observe_states
from onceproof.spark_checks.grid.grid_faults import GridFault
from onceproof.spark_checks.grid.judged import (
    AFTER_MORE,
    AFTER_RECOVERY,
    JUDGED,
    verdict_of,
)
from onceproof.spark_checks.grid.model_parts import (
    CRASH,
    IN_LAST_TASKS,
    NEXT_BATCH,
    QUERIES,
    STEPS,
    STEPS_WITHOUT_DATA,
    TASK_FAULTS,
    UNPREDICTED,
    parts_of,
    unpredicted,
)
from onceproof.spark_checks.queries import events

if TYPE_CHECKING:
    from onceproof.model.language.interpreter import State
    from onceproof.properties.ledger import History
    from onceproof.properties.verdicts import Verdict
    from onceproof.spark_checks.grid.grid_faults import PlacedFault
    from onceproof.spark_checks.grid.model_parts import EngineModel
    from onceproof.spark_checks.queries.configuration import QueryConfiguration
    from onceproof.spark_checks.queries.query_spec import QuerySpec

PARTITIONS, ATTEMPTS = 2, 2
"""How many partitions the events have, and how often Spark tries a task."""
_ACTIONS = 2


@dataclass(frozen=True)
class Prediction:
    """What the model says of a cell, or why it says nothing."""

    verdicts: tuple[tuple[str, Verdict], ...] = ()
    """The verdict on each guarantee; empty where the model says nothing."""
    missing: str = ""
    """What the model does not have, as ``UNPREDICTED`` names it."""

    @property
    def reason(self) -> str:
        """Say why there is no verdict."""
        return f"{self.missing}: {UNPREDICTED[self.missing]}" if self.missing else ""


def predicted(
    query: QuerySpec, configuration: QueryConfiguration, placed: PlacedFault
) -> Prediction:
    """Return the model's verdict on each guarantee, or why it has none."""
    if missing := unpredicted(query, configuration):
        return Prediction(missing=missing)
    if str(placed.fault) in UNPREDICTED:
        return Prediction(missing=str(placed.fault))
    parts = tuple(sorted(parts_of(query, configuration).items()))
    return _predicted(QUERIES[query.name].engine, parts, placed)


@cache
def _predicted(
    engine: EngineModel, chosen: tuple[tuple[str, str], ...], placed: PlacedFault
) -> Prediction:
    """Return the verdicts; none where the model has no step for the fault."""
    found = [
        _history(engine, dict(chosen), batches, placed, moment)
        for batches, moment in (
            (events.FIRST, AFTER_RECOVERY),
            (events.FIRST + 1, AFTER_MORE),
        )
    ]
    first, more = found
    if first is None or more is None:
        return Prediction(missing=IN_LAST_TASKS)
    if not first.rested:
        more = replace(more, rested=False)
    return Prediction(tuple((p.name, verdict_of(p, first, more)) for p in JUDGED))


def _history(
    engine: EngineModel,
    parts: dict[str, str],
    batches: int,
    placed: PlacedFault,
    moment: str,
) -> History | None:
    """Run the model on ``batches``, of which those after the first are offered late."""
    sizes = {"BATCH": batches, "PARTITION": PARTITIONS, "ATTEMPT": ATTEMPTS}
    # An attempt of each task may fail, in each action.
    sizes["faults"] = PARTITIONS * _ACTIONS
    settings = {**parts, **{name: str(n) for name, n in sizes.items()}}
    interpreter = Interpreter(make(engine.protocol, settings))
    run = _Run(interpreter, engine.work, placed)
    state = next(interpreter.initial_states())
    for offered in (events.FIRST, batches):
        state = run.until_rest(state, offered)
    if not run.hit:
        return None
    seen = interpreter.look(state)
    rested = all(
        getattr(seen, begun) == getattr(seen, done)
        for begun, done in engine.logs.items()
    )
    rested = rested and getattr(seen, next(iter(engine.logs))) == batches
    return replace(observe_states(interpreter, {moment: state}), rested=rested)


@dataclass
class _Run:
    """A run of the model that takes the first step that is possible, and one fault."""

    interpreter: Interpreter
    """Runs the protocol."""
    work: str
    """The step by which an attempt has done its work."""
    placed: PlacedFault
    """The fault, and the batch that it is in."""
    hit: bool = False
    """Whether it has happened."""

    def until_rest(self, state: State, offered: int) -> State:
        """Take steps until none changes anything; return the last state.

        Data is there for as many batches as are ``offered``.
        """
        self.hit = self.hit or self.placed.fault is GridFault.NONE
        when, task_fault = TASK_FAULTS.get(self.placed.fault, ("", ""))
        while True:
            taken = self._next(state, offered)
            if taken is None:
                return state
            event, after = taken
            if self._dies("before", event):
                state = self._crashed(state)
                continue
            fails = bool(task_fault) and self._is_first_attempt(event)
            if fails and when == "before":
                state = self._failed(task_fault, event, state)
                continue
            state = after
            if self._dies("after", event):
                state = self._crashed(state)
            if fails:
                state = self._failed(task_fault, event, state)

    @property
    def _without_data(self) -> bool:
        """Whether the fault is in the batch without data, which follows the first."""
        return self.placed.batch >= events.FIRST

    def _next(self, state: State, offered: int) -> tuple[Event, State] | None:
        return next(
            (
                (event, after)
                for event, after in self.interpreter.successors(state)
                if not event.fault
                and after != state
                and not (event.name == NEXT_BATCH and event.members[0] >= offered)
            ),
            None,
        )

    def _dies(self, when: str, event: Event) -> bool:
        planned = STEPS.get(self.placed.fault)
        if self.hit or planned is None or planned[0] != when:
            return False
        name = planned[1]
        if self._without_data:
            name = STEPS_WITHOUT_DATA.get(name, "")
        elif name == "work":
            name = self.work
        return event.name == name and self._here(event)

    def _here(self, event: Event) -> bool:
        """Return whether a step is of the fault's batch, or of the one after that."""
        return event.members[0] == self.placed.batch - self._without_data

    def _crashed(self, state: State) -> State:
        self.hit = True
        return self._must(Event(CRASH, (), fault=True), state)

    def _is_first_attempt(self, event: Event) -> bool:
        """Return whether the first attempt of a task does its work in the batch.

        The tasks of a batch without data are no steps of their own.
        """
        works = event.name == self.work and event.members[-1] == 0
        return works and self._here(event) and not self._without_data

    def _failed(self, name: str, event: Event, state: State) -> State:
        """Let the attempt fail that does its work by an event."""
        self.hit = True
        for fault, after in self.interpreter.successors(state):
            if fault.name == name and event.members[-len(fault.members) :] == (
                fault.members
            ):
                return after
        message = f"{name} is not possible after {event}"
        raise AssertionError(message)

    def _must(self, event: Event, state: State) -> State:
        after = self.interpreter.after(state, event)
        if after is None:
            message = f"{event} is not possible where the grid places it"
            raise AssertionError(message)
        return after
