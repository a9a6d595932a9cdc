"""From a model's interleaving to the failpoints that steer a real run through it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.model.language.plain import Reference as Semantics
from onceproof.model.protocols.micro_batch import Driver, Task
from onceproof.spark_checks.failpoints.rules import Rule
from onceproof.spark_checks.sinks.interface import (
    Foreach,
    ForeachBatch,
    Format,
    Reference,
    UnderTest,
)

if TYPE_CHECKING:
    from onceproof.model.interleavings import Interleaving
    from onceproof.model.language.plain import State
    from onceproof.model.language.protocol import Protocol
    from onceproof.model.language.steps import Event

_HARM = {
    "die": "the process dies",
    "raise": "an error is raised",
    "zombie": "the task is given up but lives on,",
}
STOPS = ("crash", "rescale", "fail_commit", "fail_job")
BEGIN, END = "begin_task", "end_task"


class NotReplayable(Exception):  # noqa: N818 - an answer, not an error
    """Says why no failpoint realises an interleaving."""


@dataclass
class Run:
    """One start of the query, up to the fault that ends it or to rest.

    ``offered`` batches are there to be read. The query ends by itself, or by a rule,
    or by the ``trap`` at a batch; ``undo`` then takes back a file sink's commit:
    the batch, and the partitions whose files stay. ``how`` names the failpoint.
    """

    offered: int
    rules: list[Rule] = field(default_factory=list)
    trap: int | None = None
    undo: tuple[int, set[int]] | None = None
    merged: bool = False
    fails: bool = False
    how: list[str] = field(default_factory=list)
    moment: str = ""
    state: int = 0
    zombies: list[str] = field(default_factory=list)


def realise(
    one: Interleaving, protocol: Protocol, sink: Reference, under_test: UnderTest
) -> list[Run]:
    """Give the runs that steer a real query through an interleaving.

    Raises ``NotReplayable`` where no failpoint reaches what the model names.
    """
    return _Planner(one, protocol, sink, under_test).runs()


class _Planner:
    def __init__(
        self,
        one: Interleaving,
        protocol: Protocol,
        sink: Reference,
        under_test: UnderTest,
    ) -> None:
        self.events = one.trace.events
        self.states = one.trace.states
        self.word = set(one.word)
        self.semantics = Semantics(protocol)
        self.batches = protocol.sizes[
            next(s for s in protocol.sizes if s.name == "BATCH")
        ]
        self.partitions = protocol.sizes[
            next(s for s in protocol.sizes if s.name == "PARTITION")
        ]
        self.steps = dict(sink.steps)
        self.under_test = under_test
        self.swap = self._merged_into()

    def runs(self) -> list[Run]:
        found = []
        run = Run(offered=self.batches)
        start = 0
        for at, event in enumerate(self.events):
            if not event.fault:
                continue
            if event.name in STOPS:
                self._stop(run, start, at)
                run.moment = self._moment(event, found)
                run.state = at + 1
                found.append(run)
                start = at + 1
                merged = run.merged or event.name == "rescale"
                if event.name == "rescale":
                    run.how.append("the restart puts all partitions into one")
                run = Run(offered=self.batches, merged=merged)
            elif event.name == "fail_task":
                self._fail_task(run, at)
            elif event.name == "lose_contact":
                self._zombie(run, at)
            else:
                message = f"no failpoint is known for {event}"
                raise NotReplayable(message)
        run.moment, run.state = "at rest", len(self.states) - 1
        found.append(run)
        return found

    def _moment(self, event: Event, before: list[Run]) -> str:
        """Name the moment after a fault: no two of an interleaving bear one name."""
        name = f"after {event}"
        times = 1 + sum(run.moment.startswith(name) for run in before)
        return name if times == 1 else f"{name}, time {times}"

    # Faults that end a run ----------------------------------------------------

    def _stop(self, run: Run, start: int, at: int) -> None:
        look: Any = self.semantics.look(self.states[at])
        batch, event = int(look.commits), self.events[at]
        if int(look.offsets) == batch:
            run.offered = batch
            run.how.append(f"input of batch {batch} withheld")
            return
        # A later run may have to find no input beyond this batch.
        run.offered = batch + 1
        run.fails = True
        done = self._done(start, at)
        upcoming = self._next(self.states[at])
        if event.name == "fail_commit":
            self._fail_commit(run, batch, done, upcoming)
        elif event.name == "fail_job":
            message = "every attempt of a task failing is not steered yet"
            raise NotReplayable(message)
        elif upcoming.name == "log_commit":
            self._before_log_commit(run, batch)
        elif upcoming.name.startswith("sink."):
            self._before_step(run, batch, done, upcoming)
        else:
            self._among_writes(run, batch, done)

    def _before_log_commit(self, run: Run, batch: int) -> None:
        if isinstance(self.under_test, ForeachBatch):
            self._rule(run, self._callback(), "return", batch, "die")
        else:
            run.trap = batch
            run.how.append(f"trap at commits/{batch}")

    def _before_step(
        self, run: Run, batch: int, done: list[Event], upcoming: Event
    ) -> None:
        function = self.steps.get(upcoming.name)
        if function is not None:
            nth = 1 + sum(e.name == upcoming.name for e in done)
            self._rule(run, function, "call", batch, "die", nth=nth)
            self._no_abort(run, batch)
        elif self._is_file_sink():
            self._undo(run, batch, set(range(self.partitions)))
        else:
            message = f"{upcoming} happens inside Spark, out of reach"
            raise NotReplayable(message)

    def _among_writes(self, run: Run, batch: int, done: list[Event]) -> None:
        written = {self._real(e.members[1]) for e in done if e.name == "write"}
        if not written:
            if isinstance(self.under_test, ForeachBatch):
                self._rule(run, self._callback(), "call", batch, "die")
            elif "write" in self.steps and isinstance(self.under_test, Foreach):
                # Were the task to fail above the writer, its close() would be called
                # as if the input had ended: docs/findings.md.
                self._rule(run, self.steps["write"], "call", batch, "die")
            else:
                self._rule(run, BEGIN, "call", batch, "die")
                self._no_abort(run, batch)
            return
        if "write" not in self.steps:
            if not self._is_file_sink():
                message = "tasks write inside Spark, out of reach"
                raise NotReplayable(message)
            self._undo(run, batch, written)
            return
        marks = tuple(f"written-{batch}-{p}" for p in sorted(written))
        for p, mark in zip(sorted(written), marks, strict=True):
            self._rule(
                run,
                self.steps["write"],
                "return",
                batch,
                "pass",
                partition=p,
                mark=mark,
            )
        for p in range(self.partitions):
            if p not in written:
                self._rule(
                    run,
                    self.steps["write"],
                    "call",
                    batch,
                    "die",
                    partition=p,
                    await_=marks,
                )
        self._no_abort(run, batch)

    def _fail_commit(
        self, run: Run, batch: int, done: list[Event], upcoming: Event
    ) -> None:
        steps = [e for e in done if e.name.startswith("sink.")]
        if upcoming.name.startswith("sink."):
            name, event = upcoming.name, "call"
            nth = 1 + sum(e.name == name for e in steps)
        elif steps:
            name, event = steps[-1].name, "return"
            nth = sum(e.name == name for e in steps)
        else:
            # The batch was published by an earlier run: its step does nothing now.
            name, event, nth = next(s for s in self.steps if s != "write"), "return", 1
        if name not in self.steps:
            message = f"{name} happens inside Spark, out of reach"
            raise NotReplayable(message)
        self._rule(run, self.steps[name], event, batch, "raise", nth=nth)

    def _undo(self, run: Run, batch: int, written: set[int]) -> None:
        run.fails = False
        run.undo = (batch, written)
        run.how.append(f"edit: manifest and commits of batch {batch} taken back")

    def _no_abort(self, run: Run, batch: int) -> None:
        """A driver that is dead calls no abort."""
        if isinstance(self.under_test, Format) and isinstance(
            self.under_test.name, type
        ):
            for function in _aborts(self.under_test.name):
                run.rules.append(Rule(function, "call", batch, "die"))

    # Faults that a run survives -----------------------------------------------

    def _fail_task(self, run: Run, at: int) -> None:
        batch, p, attempt = self.events[at].members
        look: Any = self.semantics.look(self.states[at])
        wrote = look.task[p, attempt] == Task.WRITTEN
        inside = "write" in self.steps
        function = self.steps["write"] if inside else END if wrote else BEGIN
        event = "return" if inside and wrote else "call"
        self._rule(
            run,
            function,
            event,
            batch,
            "die",
            partition=self._real(p),
            attempt=attempt,
        )

    def _zombie(self, run: Run, at: int) -> None:
        batch, p, attempt = self.events[at].members
        real = self._real(p)
        if self._is_file_sink():
            message = "no failpoint keeps a task of Spark's own file writer alive"
            raise NotReplayable(message)
        function = self.steps.get("write", BEGIN)
        lands = self._position(at, "zombie_write", (batch, p, attempt))
        again = self._position(at, "write", (batch, p, attempt + 1))
        logged = self._position(at, "log_commit", (batch,))
        landed, retried = f"landed-{batch}-{real}", f"retried-{batch}-{real}"
        awaited: tuple[str, ...] = ()
        if lands > logged:
            awaited = (f"{{checkpoint}}/commits/{batch}",)
        elif lands > again:
            awaited = (retried,)
        else:
            self._rule(
                run,
                function,
                "call",
                batch,
                "pass",
                partition=real,
                attempt=attempt + 1,
                await_=(landed,),
                quiet=True,
            )
        self._rule(
            run,
            function,
            "call",
            batch,
            "zombie",
            partition=real,
            attempt=attempt,
            await_=awaited,
        )
        self._rule(
            run,
            function,
            "return",
            batch,
            "die",
            partition=real,
            attempt=attempt,
            mark=landed,
            quiet=True,
        )
        self._rule(
            run,
            function,
            "return",
            batch,
            "pass",
            partition=real,
            attempt=attempt + 1,
            mark=retried,
            quiet=True,
        )
        run.zombies.append(landed)

    # What the model says ------------------------------------------------------

    def _done(self, start: int, at: int) -> list[Event]:
        """List the durable steps of the running batch in this incarnation."""
        done: list[Event] = []
        for i in range(start, at):
            event = self.events[i]
            if event.name in ("log_commit", "log_offsets"):
                done = []
            elif i in self.word and not event.fault:
                done.append(event)
        return done

    def _next(self, state: State) -> Event:
        """Give the next durable step that would follow, were there no fault."""
        look: Any = self.semantics.look(state)
        if look.driver == Driver.DOWN:
            message = "the driver is down already"
            raise NotReplayable(message)
        names = {self.events[i].name for i in self.word}
        names |= {"log_commit", *(s for s in self.steps if s != "write")}
        while True:
            event, state = next(
                (e, s)
                for e, s in self.semantics.successors(state)
                if not e.fault and e.name != "zombie_write" and s != state
            )
            if event.name in names and event.name != "log_offsets":
                return event

    def _position(self, after: int, name: str, members: tuple[int, ...]) -> int:
        for i in range(after, len(self.events)):
            if (self.events[i].name, self.events[i].members) == (name, members):
                return i
        return len(self.events)

    def _merged_into(self) -> int:
        return next((e.members[0] for e in self.events if e.name == "rescale"), 0)

    def _real(self, p: int) -> int:
        """Give Spark's number for a partition: the one all merge into is Spark's 0."""
        return {0: self.swap, self.swap: 0}.get(p, p)

    def _is_file_sink(self) -> bool:
        return isinstance(self.under_test, Format) and self.under_test.name == "parquet"

    def _callback(self) -> str:
        if not isinstance(self.under_test, ForeachBatch):
            message = "only foreachBatch has a callback"
            raise NotReplayable(message)
        return self.under_test.write.__qualname__

    def _rule(
        self,
        run: Run,
        function: str,
        event: str,
        batch: int,
        do: str,
        *,
        quiet: bool = False,
        **rest: Any,
    ) -> None:
        run.rules.append(Rule(function, event, batch, do, **rest))
        if do != "pass" and not quiet:
            spot = (
                "" if rest.get("partition") is None else f" of task {rest['partition']}"
            )
            when = "before" if event == "call" else "after"
            run.how.append(f"{_HARM[do]} {when} {function}(){spot}, batch {batch}")


def _aborts(source: type) -> list[str]:
    """Name the abort methods of the writers that a data source's module defines."""
    import sys

    from pyspark.sql.datasource import DataSourceStreamWriter

    module = vars(sys.modules[source.__module__])
    return [
        w.abort.__qualname__
        for w in module.values()
        if isinstance(w, type)
        and issubclass(w, DataSourceStreamWriter)
        and "abort" in vars(w)
    ]
