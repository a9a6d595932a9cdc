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
    HELD_BACK,
    IN_LAST_TASKS,
    LOGGED,
    NEXT_BATCH,
    NOT_THERE,
    STEPS,
    STEPS_WITHOUT_DATA,
    TASK_FAULTS,
    UNPREDICTED,
    engine_of,
    parts_of,
    unmodelled,
)
from onceproof.spark_checks.queries import events
from onceproof.spark_checks.queries.sources import SOURCES

if TYPE_CHECKING:
    from onceproof.model.language.composition.protocol import Protocol
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
    if missing := unmodelled(query, configuration):
        return Prediction(missing=missing)
    if str(placed.fault) in UNPREDICTED:
        return Prediction(missing=str(placed.fault))
    parts = tuple(sorted(parts_of(query, configuration).items()))
    one_a_run = SOURCES[configuration.source].one_batch_a_run
    engine = engine_of(query, configuration)
    return _predicted(engine, parts, placed, one_a_run=one_a_run)


@cache
def _predicted(
    engine: EngineModel,
    chosen: tuple[tuple[str, str], ...],
    placed: PlacedFault,
    *,
    one_a_run: bool,
) -> Prediction:
    """Return the verdicts; none where the model has no step for the fault."""

    def run(size: int, batches: int) -> _Run:
        one = _Run(_moves(engine, chosen, size), engine, placed, one_a_run=one_a_run)
        for offered in (events.FIRST, batches):
            one.until_read(offered)
        return one

    read = events.FIRST
    if one_a_run:
        # One that repeats a batch after a crash may then read beyond the first ones.
        read = run(events.FIRST + 2, events.FIRST).read
    first = run(read, read).history(AFTER_RECOVERY, read)
    more = run(read + 1, read + 1).history(AFTER_MORE, read + 1)
    if first is None or more is None:
        last = run(read, read).is_without_data(placed.batch)
        return Prediction(missing=IN_LAST_TASKS if last else NOT_THERE)
    if not first.rested:
        more = replace(more, rested=False)
    return Prediction(tuple((p.name, verdict_of(p, first, more)) for p in JUDGED))


@cache
def _moves(
    engine: EngineModel, chosen: tuple[tuple[str, str], ...], batches: int
) -> _Moves:
    """Return the steps of a model, which are those of the cells of all faults."""
    return _Moves(Interpreter(_model(engine, dict(chosen), batches)))


class _Moves:
    """The steps of a model, each worked out once."""

    def __init__(self, interpreter: Interpreter) -> None:
        """Run steps by an ``interpreter``."""
        self.interpreter = interpreter
        self._known: dict[State, tuple[tuple[Event, State], ...]] = {}

    def of(self, state: State) -> tuple[tuple[Event, State], ...]:
        """Return the steps that change a state, without faults, and what they do."""
        if state not in self._known:
            self._known[state] = tuple(
                (event, after)
                for event, after in self.interpreter.successors(state)
                if not event.fault and after != state
            )
        return self._known[state]


def _model(engine: EngineModel, parts: dict[str, str], batches: int) -> Protocol:
    sizes = {"BATCH": batches, "PARTITION": PARTITIONS, "ATTEMPT": ATTEMPTS}
    # An attempt of each task may fail, in each action.
    sizes["faults"] = PARTITIONS * _ACTIONS
    settings = {**parts, **{name: str(n) for name, n in sizes.items()}}
    return make(engine.protocol, settings)


class _Run:
    """A run of the model that takes the first step that is possible, and one fault."""

    def __init__(
        self,
        moves: _Moves,
        engine: EngineModel,
        placed: PlacedFault,
        *,
        one_a_run: bool,
    ) -> None:
        """Begin where the model does.

        With ``one_a_run`` a driver reads one batch beyond those that its log names as
        it starts; another run follows it.
        """
        self._moves = moves
        self._interpreter = moves.interpreter
        self._engine = engine
        self._placed = placed
        self._one_a_run = one_a_run
        self._state = next(moves.interpreter.initial_states())
        self._offered = 0
        self._ids: dict[tuple[bool, int], int] = {}
        self._hit = placed.fault is GridFault.NONE

    @property
    def read(self) -> int:
        """How many batches of data have been taken."""
        return self._logged(next(iter(self._engine.logs)))

    def is_without_data(self, batch: int) -> bool:
        """Return whether the batch of an id, which was logged, is one without data."""
        return batch in (n for (without, _), n in self._ids.items() if without)

    def until_read(self, batches: int) -> None:
        """Take steps until so many batches of data are read, and none is left."""
        while self.read < batches:
            before = self._state
            self._offered = self.read + 1 if self._one_a_run else batches
            self._until_rest()
            if self._state == before:
                return

    def history(self, moment: str, batches: int) -> History | None:
        """Return what readers see now, if the fault has happened.

        It rests if its logs end together, with so many batches.
        """
        if not self._hit:
            return None
        logs = self._engine.logs.items()
        rested = all(self._logged(begun) == self._logged(done) for begun, done in logs)
        found = observe_states(self._interpreter, {moment: self._state})
        return replace(found, rested=rested and self.read == batches)

    def _logged(self, name: str) -> int:
        found: int = getattr(self._interpreter.look(self._state), name)
        return found

    def _until_rest(self) -> None:
        """Take steps until none changes anything."""
        when, task_fault = TASK_FAULTS.get(self._placed.fault, ("", ""))
        while True:
            taken = self._next()
            if taken is None:
                return
            event, after = taken
            if self._dies("before", event):
                self._crash()
                continue
            fails = bool(task_fault) and self._is_first_attempt(event)
            if fails and when == "before":
                self._fail(task_fault, event)
                continue
            self._state = after
            if event.name in (LOGGED, STEPS_WITHOUT_DATA[LOGGED]):
                self._ids.setdefault(_kind(event), len(self._ids))
            if self._dies("after", event):
                self._crash()
            if fails:
                self._fail(task_fault, event)

    def _next(self) -> tuple[Event, State] | None:
        possible = (
            (event, after)
            for event, after in self._moves.of(self._state)
            if not (event.name in NEXT_BATCH and event.members[0] >= self._offered)
            and not self._is_held_back(event)
        )
        if self._engine.eager:
            found = list(possible)
            eager = (one for one in found if one[0].name in self._engine.eager)
            return next(eager, found[0] if found else None)
        return next(possible, None)

    def _is_held_back(self, event: Event) -> bool:
        held = HELD_BACK.get(self._placed.fault)
        return not self._hit and event.name == held and self._is_here(event)

    def _dies(self, when: str, event: Event) -> bool:
        planned = STEPS.get(self._placed.fault)
        if self._hit or planned is None or planned[0] != when:
            return False
        name = planned[1]
        if name == "work":
            return event.name in self._engine.work and self._is_here(event)
        names = (name, STEPS_WITHOUT_DATA.get(name, ""))
        return event.name in names and self._is_here(event)

    def _is_here(self, event: Event) -> bool:
        """Return whether a step is of the fault's batch; one to be logged is next."""
        return self._ids.get(_kind(event), len(self._ids)) == self._placed.batch

    def _crash(self) -> None:
        self._hit = True
        after = self._interpreter.after(self._state, Event(CRASH, (), fault=True))
        if after is None:
            message = f"{CRASH} is not possible where the grid places it"
            raise AssertionError(message)
        self._state = after
        if self._one_a_run:
            self._offered = self.read + 1

    def _is_first_attempt(self, event: Event) -> bool:
        """Return whether the first attempt of a task does its work in the batch.

        The tasks of a batch without data are no steps of their own.
        """
        works = event.name in self._engine.work and event.members[-1] == 0
        return works and self._is_here(event)

    def _fail(self, name: str, event: Event) -> None:
        """Let the attempt fail that does its work by an event."""
        self._hit = True
        for fault, after in self._interpreter.successors(self._state):
            if fault.name == name and event.members[-len(fault.members) :] == (
                fault.members
            ):
                self._state = after
                return
        message = f"{name} is not possible after {event}"
        raise AssertionError(message)


def _kind(event: Event) -> tuple[bool, int]:
    """Return whether a step is of a batch without data, and the batch of data."""
    return event.name in STEPS_WITHOUT_DATA.values(), event.members[0]
