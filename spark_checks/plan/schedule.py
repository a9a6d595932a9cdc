"""An interleaving, read from the model in terms that a plan is made of."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.protocols.micro_batch import Driver, MicroBatch, Task
from onceproof.model.protocols.parts.sinks.sink import Sink
from onceproof.properties.words.labels import Labels
from onceproof.spark_checks.plan.fault_kinds import (
    FAULT_KINDS,
    Effect,
    with_effect,
)
from onceproof.spark_checks.plan.run_plan import NO_SUCH_POINT, NotReplayable
from onceproof.spark_checks.sinks.code_points import CodePoint, may_raise
from onceproof.spark_checks.sinks.exchange_model import (
    CAUGHT,
    CAUGHT_IN_TASKS,
    CAUGHT_ON_DRIVER,
    caught_name,
    goes_on_in_vain,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.interpreter import State
    from onceproof.model.language.steps import Event
    from onceproof.spark_checks.sinks.code_points import SeenPoints
    from onceproof.spark_checks.sinks.exchanges import SeenExchanges

STOPS = with_effect(Effect.ENDS_RUN)
ARRIVALS = ("late_write", "late_step")
"""The steps by which a store gets a late request."""
LATER = ("zombie_write", *ARRIVALS)
"""The steps that no process of the driver takes any more."""
_IN_TASKS = frozenset(CAUGHT_IN_TASKS.values())
_NOT_DONE = ("lose_commit_request", "late_commit_request")
_WRITTEN = (Task.WRITTEN, Task.COMMITTED)


class Schedule:
    """An interleaving, cut into runs: each goes up to a fault that ends it."""

    def __init__(
        self,
        one: Interleaving,
        protocol: Protocol,
        steps: Mapping[str, str],
        seen: SeenPoints | None = None,
        exchanges: SeenExchanges | None = None,
        *,
        interpreter: Interpreter | None = None,
    ) -> None:
        """Read ``one``; ``steps`` maps steps to the sink's functions.

        ``seen`` holds the points of a user's own code, ``exchanges`` those of any sink
        with its store. Many schedules may share an ``interpreter`` of the protocol.

        Raises ``NotReplayable`` where no order of Spark's partitions fits.
        """
        self.events = one.trace.events
        self.states = one.trace.states
        self.steps = steps
        self._protocol = protocol
        self.seen = seen
        self.exchanges = exchanges
        self.batches = protocol.sizes[MicroBatch.BATCH]
        self.partitions = protocol.sizes[MicroBatch.PARTITION]
        self.attempts = protocol.sizes[MicroBatch.ATTEMPT]
        self._word = set(one.word)
        self._durable = {self.events[i].name for i in self._word}
        self._semantics = interpreter or Interpreter(protocol)
        self._starts = [0]
        self._starts += [at + 1 for at in range(len(self.events)) if self.ends_run(at)]
        self._real = self._renaming()

    @cached_property
    def hides_rows(self) -> bool:
        """Whether tasks write by Spark's own writer, and not by code of the sink."""
        sink = getattr(self._protocol, "sink", None)
        writes = isinstance(sink, Sink) and sink.writes_in_tasks
        return writes and self.seen is None and "write" not in self.steps

    def run_of(self, at: int) -> int:
        """Return the number of the run that the event at a position belongs to."""
        return sum(start <= at for start in self._starts) - 1

    def look(self, at: int) -> Any:
        """Read the state before the event at a position."""
        return self._semantics.look(self.states[at])

    def ends_run(self, at: int) -> bool:
        """Return whether the event at a position is a fault that the run ends by.

        Code that tries again goes on after an error.
        """
        if self.events[at].name not in STOPS:
            return False
        after: Any = self._semantics.look(self.states[at + 1])
        return bool(after.driver == Driver.DOWN)

    def label(self, at: int) -> str:
        """Show the event at a position, as ``fail_job(batch 0, partition 1, ...)``."""
        return self._labels.event(self.events[at], self.states[at])

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self._semantics)

    def real(self, partition: int) -> int:
        """Return Spark's number for a partition of the model."""
        return self._real[partition]

    def line(self, batch: int, number: int) -> dict[str, Any]:
        """Name, for a rule, a point of the user's code on the driver."""
        return _named(self.seen.driver if self.seen else {}, batch, number)

    def line_at(self, at: int) -> dict[str, Any]:
        """Name the point on the driver that the fault at a position hits.

        Raises ``NotReplayable`` for a line that runs after other faults only.
        """
        batch, number = self.events[at].members
        point = self.line(batch, number)
        name = str(CodePoint(point["line"], point["nth"]))
        before = self.caught_before(at)
        if self.seen is not None and before is not None:
            if name not in self.seen.caught[self.caught_name(before)]:
                message = "after the broken connection the code does not get there"
                raise NotReplayable(message, NO_SUCH_POINT)
            return point
        leads = self.seen.leads.get((batch, name)) if self.seen else None
        if leads is not None and not any(str(e) in leads for e in self.events[:at]):
            message = "no earlier fault of the interleaving leads to that line"
            raise NotReplayable(message, NO_SUCH_POINT)
        return point

    def caught_before(self, at: int) -> int | None:
        """Find the last fault in the same batch and run that the code went on after.

        For a fault in a task it is in the same attempt.
        """
        event = self.events[at]
        in_task = FAULT_KINDS[event.name].in_task or event.name == "fail_job"
        return self.caught_in(at, event.members[:3] if in_task else None)

    def caught_in(self, at: int, attempt: tuple[int, ...] | None) -> int | None:
        """Find the last fault that the code of an ``attempt`` went on after.

        Without an attempt it is the code on the driver.
        """
        begin = self._starts[self.run_of(at)]
        found = None
        for i in range(begin, at):
            event = self.events[i]
            if event.name == "log_commit":
                found = None
            elif attempt is None and event.name in CAUGHT_ON_DRIVER.values():
                found = i
            elif event.name in _IN_TASKS:
                found = i if event.members[:3] == attempt else found
        return found

    def caught_name(self, at: int, name: str = "") -> str:
        """Name a fault that code goes on after, or its twin, with Spark's partition."""
        event = replace(self.events[at], name=name or self.events[at].name)
        real = self.real(event.members[1]) if event.name in _IN_TASKS else None
        return caught_name(event, real)

    def require_caught(self, at: int) -> None:
        """Raise ``NotReplayable`` unless the code goes on after a fault that it has."""
        if goes_on_in_vain(self.events, at):
            message = "no other fault follows in the batch that the code goes on with"
            raise NotReplayable(message, NO_SUCH_POINT)
        if self.seen is None or self.caught_name(at) not in self.seen.caught:
            message = "the code was not seen to go on after that broken connection"
            raise NotReplayable(message, NO_SUCH_POINT)

    def refuse_restart(self, at: int) -> None:
        """Raise ``NotReplayable`` for a restart that code which goes on has not.

        A later fault in the same batch would never come.
        """
        event = self.events[at]
        twin = replace(event, name=CAUGHT[event.name])
        if self.seen is None or str(twin) not in self.seen.caught:
            return
        later = (i for i in range(at + 1, len(self.events)) if self.events[i].fault)
        following = next(later, None)
        if following is not None and self.look(following).commits == event.members[0]:
            message = "the code goes on after that error, so the batch is not run again"
            raise NotReplayable(message, NO_SUCH_POINT)

    def undo(self, batch: int, number: int) -> dict[str, Any]:
        """Name, for a rule, a point of the user's code that takes a batch back."""
        return _named(self.seen.aborts if self.seen else {}, batch, number)

    def work(self, batch: int, partition: int, number: int) -> dict[str, Any]:
        """Name, for a rule, a point of the user's code in a task; -1 is its end."""
        seen = self.seen
        if seen is None or number < 0:
            tasks = seen.tasks if seen else {}
            return _named(tasks, (batch, partition), number)
        owned = seen.work(batch)
        if number < len(owned) and owned[number][0] == partition:
            return _named({None: [point for _, point in owned]}, None, number)
        # The end is no point to hit in the midst.
        points = seen.tasks.get((batch, partition), ())
        return _named({None: points[:-1]}, None, number)

    def calls(self, at: int, name: str) -> int:
        """Count the calls of a step's function in the batch and run, up to a position.

        A request that is lost, or late, is of a call, though the step is not done.
        """
        begin = self._starts[self.run_of(at)]
        for i in range(begin, at):
            if self.events[i].name in ("log_commit", "log_offsets"):
                begin = i + 1
        lost = (
            i
            for i in range(begin, at)
            if self.events[i].name in _NOT_DONE and not self.ends_run(i)
        )
        failed = sum(self.upcoming(i, merged=False).name == name for i in lost)
        return failed + sum(e.name == name for e in self.done(at))

    def works(self, batch: int, partition: int) -> bool:
        """Return whether a task reached any point of the user's code."""
        return self.seen is None or (batch, self.real(partition)) in self.seen.tasks

    def spark_partitions(self, *, merged: bool) -> list[int]:
        """List the partitions that Spark has: those merged into one are one."""
        if not merged:
            return list(range(self.partitions))
        return [self._merged_into()]

    def attempt(self, at: int, partition: int) -> tuple[int, bool]:
        """Return the attempt that is due, and whether its work endures.

        Work that is lost with the driver counts as not done.
        """
        task = self.look(at).task
        for attempt in range(self.attempts):
            if task[partition, attempt] != Task.FAILED:
                done = task[partition, attempt] in _WRITTEN
                return attempt, done and "write" in self._durable
        message = f"no attempt is left of task {partition}"
        raise NotReplayable(message)

    def done(self, at: int) -> list[Event]:
        """List the durable steps of the running batch in the run, up to a position."""
        found: list[Event] = []
        for i in range(self._starts[self.run_of(at)], at):
            event = self.events[i]
            if event.name in ("log_commit", "log_offsets"):
                found = []
            elif i in self._word and not event.fault:
                found.append(event)
        return found

    def upcoming(self, at: int, *, merged: bool) -> Event:
        """Return the durable step that would follow without the fault.

        Raises ``NotReplayable`` where the driver is down already.
        """
        if self.look(at).driver == Driver.DOWN:
            message = "the driver is down already"
            raise NotReplayable(message, NO_SUCH_POINT)
        state: State = self.states[at]
        names = self._durable | {"log_commit", *(s for s in self.steps if s != "write")}
        existing = self.spark_partitions(merged=merged)
        while True:
            event, state = next(
                (e, s)
                for e, s in self._semantics.successors(state)
                if not e.fault and e.name not in LATER and s != state
            )
            gone = event.name == "write" and event.members[1] not in existing
            if event.name in names and event.name != "log_offsets" and not gone:
                return event

    def find(self, after: int, name: str, members: tuple[int, ...]) -> int | None:
        """Find where an event next happens."""
        for at in range(after, len(self.events)):
            if (self.events[at].name, self.events[at].members) == (name, members):
                return at
        return None

    def again(self, at: int, batch: int) -> bool:
        """Return whether an earlier run took the driver's steps for a batch."""
        begin = self._starts[self.run_of(at)]
        return any(
            e.name.startswith("sink.") and e.members[0] == batch
            for e in self.events[:begin]
        )

    def committed_before(self, at: int) -> int | None:
        """Return the batch that the same run committed last before a position."""
        begin = self._starts[self.run_of(at)]
        found = [e.members[0] for e in self.events[begin:at] if e.name == "log_commit"]
        return found[-1] if found else None

    def _merged_into(self) -> int:
        return next((e.members[0] for e in self.events if e.name == "rescale"), 0)

    def _renaming(self) -> tuple[int, ...]:
        """Choose Spark's numbers for partitions.

        All are merged into Spark's 0, and a driver takes one after the other.
        """
        begun = list(self._begun())
        namings = itertools.permutations(range(self.partitions))
        for naming in sorted(namings, key=self._emptiness):
            orders = ([naming[p] for p in order] for order in begun)
            first = naming[self._merged_into()] == 0 or not self._merges()
            if first and all(o == list(range(len(o))) for o in orders):
                return naming
        message = "the driver would take partitions in one order, and then in another"
        raise NotReplayable(message)

    def _emptiness(self, naming: tuple[int, ...]) -> int:
        """Prefer the task of a batch that reaches the point."""
        return sum(
            naming[e.members[1]] != self._owner(e)
            for e in self.events
            if e.name in FAULT_KINDS and FAULT_KINDS[e.name].in_task
        )

    def _owner(self, event: Event) -> int | None:
        """Return Spark's number for the task that a fault in a task is meant for."""
        if self.seen is None:
            return None
        batch, *_, number = event.members
        kind = FAULT_KINDS[event.name]
        owned: Sequence[tuple[int, object]] = self.seen.work(batch)
        if kind.cuts:
            owned = self.exchanges.of_tasks(batch) if self.exchanges else ()
            number -= 1
        inside = bool(kind.code) and number < len(owned)
        return owned[number][0] if inside else self.seen.fullest(batch)

    def _merges(self) -> bool:
        return any(e.name == "rescale" for e in self.events)

    def _begun(self) -> Iterator[list[int]]:
        """Yield the partitions that a driver's step had taken when a fault came."""
        for at in range(len(self.events)):
            if self.ends_run(at):
                taken = [
                    e.members[1]
                    for e in self.done(at)
                    if e.name.startswith("sink.") and len(e.members) > 1
                ]
                if len(taken) < self.partitions:
                    yield taken


def raisable(point: Mapping[str, Any]) -> None:
    """Raise ``NotReplayable`` for a point that cannot raise an error."""
    if not may_raise(str(point["line"])):
        message = "an error at the end of a with would skip its __exit__"
        raise NotReplayable(message, NO_SUCH_POINT)


def _named(
    points: Mapping[Any, Sequence[CodePoint]], place: object, number: int
) -> dict[str, Any]:
    """Name a point for a rule.

    Raises ``NotReplayable`` where fewer points are reached there.
    """
    found = points.get(place, ())
    if number >= len(found) or not found:
        message = "the sink's code reaches fewer points there than elsewhere"
        raise NotReplayable(message, NO_SUCH_POINT)
    point = found[number]
    return {"line": point.text, "nth": point.time}
