"""The trace of real runs: what the agent reported, and how the runs ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.conformance.observed import (
    Condition,
    ObservedEvent,
    ObservedKind,
    ObservedTrace,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.protocols.micro_batch import Driver, MicroBatch
from onceproof.spark_checks.replay.conformance.omissions import (
    ENDS,
    OMISSIONS,
    silences,
)
from onceproof.spark_checks.replay.conformance.step_meanings import (
    ATTEMPT,
    BATCH,
    PARTITION,
)
from onceproof.spark_checks.session.java.agent.step_report import REFUSED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.spark_checks.replay.conformance.omissions import Omission
    from onceproof.spark_checks.replay.conformance.step_meanings import StepMeaning
    from onceproof.spark_checks.session.java.agent.step_report import StepReport

_DOWN = Condition("driver", (), Driver.DOWN)


class BeyondModelError(Exception):
    """A run has more batches, partitions or attempts than its model."""


@dataclass(frozen=True)
class NumberedBatch:
    """What a batch of Spark's is in the model."""

    number: int
    """Its number among the batches with data, or that of the one before it."""
    with_data: bool = True
    """Whether it has data."""


@dataclass(frozen=True)
class EndOfRun:
    """What is known of a run's end."""

    committed: frozenset[int] | None = None
    """The batches that the commit log names then; None if that is not the model's."""
    holds: tuple[tuple[str, Condition], ...] = ()
    """What else the state is like then, each in words and as the model has it."""
    batches: Mapping[int, NumberedBatch] | None = None
    """What the batches are that the offset log names then; None if all have data, and
    the model's numbers."""


def run_trace(
    protocol: Protocol,
    meanings: Mapping[str, StepMeaning],
    steps: Sequence[StepReport],
    ends: Sequence[EndOfRun],
    omissions: Sequence[Omission] = OMISSIONS,
) -> ObservedTrace:
    """Return the trace of the runs of one query, in terms of its model.

    ``meanings`` are those of the steps that the agent reports of the sink, ``steps``
    what it has reported, in the order of time, and ``ends`` how the runs ended, one
    after the other. All but the last end by a fault. Raises ``BeyondModelError``.
    """
    names = Interpreter(protocol).steps
    known = {
        step: meaning
        for step, meaning in meanings.items()
        if {*meaning.actions, *meaning.without_data} & set(names)
    }
    seen = {
        action
        for meaning in known.values()
        for action in (*meaning.actions, *meaning.without_data)
    }
    maker = _TraceMaker(protocol, known, steps, ends)
    quiet = silences(names, frozenset(seen), omissions)
    return ObservedTrace(maker.observations(), quiet)


class _TraceMaker:
    def __init__(
        self,
        protocol: Protocol,
        known: dict[str, StepMeaning],
        steps: Sequence[StepReport],
        ends: Sequence[EndOfRun],
    ) -> None:
        self._sizes = {
            BATCH: protocol.sizes[MicroBatch.BATCH],
            PARTITION: protocol.sizes[MicroBatch.PARTITION],
            ATTEMPT: protocol.sizes[MicroBatch.ATTEMPT],
        }
        interpreter = Interpreter(protocol)
        self._steps = interpreter.steps
        self._faults = tuple(e for e in interpreter.events() if e.name in ENDS)
        self._known = known
        self._reports = steps
        self._ends = ends
        self._found: list[ObservedEvent] = []
        self._open: dict[tuple[object, ...], str] = {}
        self._run = -1

    def observations(self) -> tuple[ObservedEvent, ...]:
        """Put the steps and the ends of runs in one order."""
        for at, report in enumerate(self._reports):
            meaning = self._known.get(report.step)
            if meaning is None or report.run >= len(self._ends):
                continue
            self._begin(report.run)
            self._step(at, report, meaning)
        self._begin(len(self._ends) - 1)
        self._promised(self._ends[-1], self._run)
        return tuple(self._found)

    def _begin(self, run: int) -> None:
        """Let the runs up to one begin, and those before it end."""
        while self._run < run:
            if self._run >= 0:
                self._end(self._run)
            self._run += 1
            text = f"run {self._run}: the query starts"
            events = (Event("restart"),)
            self._found.append(ObservedEvent(ObservedKind.STEP, text, events))

    def _end(self, run: int) -> None:
        text = f"run {run}: the query ends"
        for place in [place for place in self._open if place[0] == run]:
            if not self._returns_later(place):
                self._gone(place)
        self._found.append(
            ObservedEvent(ObservedKind.STEP, text, self._faults, (_DOWN,))
        )
        self._promised(self._ends[run], run)

    def _promised(self, end: EndOfRun, run: int) -> None:
        """Say how far the commit log is, and what else is known."""
        for text, condition in end.holds:
            holds = (condition,)
            what = f"run {run}: {text}"
            self._found.append(ObservedEvent(ObservedKind.STATE, what, (), holds))
        if end.committed is None:
            return
        commits = len(end.committed)
        if end.committed != frozenset(range(commits)):
            message = f"the commit log of run {run} names {sorted(end.committed)}"
            raise BeyondModelError(message)
        text = f"run {run}: the commit log names {commits} batches"
        holds = (Condition("commits", (), commits),)
        self._found.append(ObservedEvent(ObservedKind.STATE, text, (), holds))

    def _step(self, at: int, report: StepReport, meaning: StepMeaning) -> None:
        place = _place(report)
        if report.event == REFUSED:
            self._gone(place)
            return
        if report.event == "return":
            key = self._open.pop(place, "")
            if key:
                text = f"run {report.run}: return of {_named(report)}"
                self._found.append(ObservedEvent(ObservedKind.RETURN, text, key=key))
            return
        if report.run < self._run or self._given_up(at, report):
            return
        events = self._events(report, meaning)
        if not events:
            return
        key = f"{at}"
        kind = ObservedKind.STEP if meaning.at_call else ObservedKind.CALL
        if not meaning.at_call:
            self._gone(place)
            self._open[place] = key
        text = f"run {report.run}: {_named(report)}"
        self._found.append(
            ObservedEvent(kind, text, events, key="" if meaning.at_call else key)
        )

    def _gone(self, place: tuple[object, ...]) -> None:
        key = self._open.pop(place, "")
        if key:
            text = f"run {place[0]}: {place[1]} is given up"
            self._found.append(ObservedEvent(ObservedKind.GONE, text, key=key))

    def _returns_later(self, place: tuple[object, ...]) -> bool:
        key = self._open[place]
        return any(
            _place(one) == place and one.event == "return"
            for one in self._reports[int(key) + 1 :]
        )

    def _given_up(self, at: int, report: StepReport) -> bool:
        """Return whether a task commits that Spark has replaced by another attempt.

        Its commit goes nowhere; in the model, its work was its last step.
        """
        if report.step != "commit_task":
            return False
        return any(
            (one.run, one.batch, one.partition)
            == (report.run, report.batch, report.partition)
            and one.attempt is not None
            and report.attempt is not None
            and one.attempt > report.attempt
            for one in self._reports[:at]
        )

    def _events(self, report: StepReport, meaning: StepMeaning) -> tuple[Event, ...]:
        """Return what a step may be; none if its batch has no such step."""
        found: list[Event] = []
        for batch in self._numbered(report):
            actions, members = meaning.actions, meaning.members
            if batch is not None and not batch.with_data:
                actions, members = meaning.without_data, (BATCH,)
            numbers = {
                BATCH: None if batch is None else batch.number,
                PARTITION: report.partition,
                ATTEMPT: report.attempt,
            }
            found += [
                Event(name, self._members(report, members, numbers), fault)
                for name in actions
                if name in self._steps
                for fault in (self._steps[name].fault,)
            ]
        return tuple(found)

    def _numbered(self, report: StepReport) -> list[NumberedBatch | None]:
        """Return what a step's batch may be, by what the run has left in its logs.

        An entry that was not written after all would be the one after the last. Raises
        ``BeyondModelError``.
        """
        known = self._ends[report.run].batches
        if known is None or report.batch is None:
            return [None if report.batch is None else NumberedBatch(report.batch)]
        if report.batch in known:
            return [known[report.batch]]
        before = known.get(report.batch - 1)
        if before is None and report.batch > 0:
            message = f"the offset log of run {report.run} does not name {report.batch}"
            raise BeyondModelError(message)
        if before is None:
            return [NumberedBatch(0)]
        found = [
            NumberedBatch(before.number + 1),
            NumberedBatch(before.number, with_data=False),
        ]
        return [one for one in found if one.number < self._sizes[BATCH]]

    def _members(
        self,
        report: StepReport,
        members: Sequence[str],
        numbers: Mapping[str, int | None],
    ) -> tuple[int, ...]:
        """Return what an action is for. Raises ``BeyondModelError``."""
        found = []
        for name in members:
            number = numbers[name]
            if number is None or number >= self._sizes[name]:
                message = (
                    f"{report.step} is of {name} {number}, and the model has "
                    f"{self._sizes[name]}"
                )
                raise BeyondModelError(message)
            found.append(number)
        return tuple(found)


def _place(report: StepReport) -> tuple[object, ...]:
    """Return what tells a step of a run from others that go on beside it."""
    return report.run, report.step, report.batch, report.partition, report.attempt


def _named(report: StepReport) -> str:
    of = [
        f"{word} {number}"
        for word, number in (
            (BATCH, report.batch),
            (PARTITION, report.partition),
            (ATTEMPT, report.attempt),
        )
        if number is not None
    ]
    return f"{report.step}({', '.join(of)})"
