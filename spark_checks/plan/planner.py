"""From a model's interleaving to the failpoints that steer real runs through it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from onceproof.spark_checks.plan.broken_connections import (
    break_and_go_on,
    break_commit,
    break_own,
    break_own_and_go_on,
    mark_of_cut,
    require_arrival,
)
from onceproof.spark_checks.plan.ended_in_tasks import (
    die_in_tasks,
    fail_job,
    marks_before,
    stop_among_writes,
)
from onceproof.spark_checks.plan.fault_kinds import FAULT_KINDS, Effect
from onceproof.spark_checks.plan.rules import LINES, UNDO
from onceproof.spark_checks.plan.run_draft import RunDraft
from onceproof.spark_checks.plan.run_plan import (
    NO_SUCH_POINT,
    ExpectedMark,
    NotReplayable,
)
from onceproof.spark_checks.plan.schedule import ARRIVALS, Schedule, raisable
from onceproof.spark_checks.plan.task_faults import (
    fail_task,
    go_on_in_task,
    lose_contact,
    refuse_unseen_rows,
    work_at,
    zombie_write,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.interpreter import Interpreter
    from onceproof.model.language.steps import Event
    from onceproof.spark_checks.plan.run_plan import RunPlan
    from onceproof.spark_checks.plan.sink_kind import SinkKind
    from onceproof.spark_checks.sinks.interface import ModelledSink


def realise(
    one: Interleaving,
    protocol: Protocol,
    sink: ModelledSink,
    kind: SinkKind,
    *,
    interpreter: Interpreter | None = None,
) -> tuple[RunPlan, ...]:
    """Return the runs that steer a real query through an interleaving.

    Many interleavings may share an ``interpreter`` of the protocol.
    Raises ``NotReplayable`` where no failpoint reaches what the model names.
    """
    steps = {**sink.steps, **kind.steps()}
    seen = (sink.seen, sink.exchanges)
    schedule = Schedule(one, protocol, steps, *seen, interpreter=interpreter)
    return _Planner(schedule, kind).runs()


class _Planner:
    def __init__(self, schedule: Schedule, kind: SinkKind) -> None:
        self.schedule = schedule
        self.steps = schedule.steps
        self.kind = kind

    def runs(self) -> tuple[RunPlan, ...]:
        """Make the runs, fault by fault."""
        schedule = self.schedule
        found: list[RunPlan] = []
        run = RunDraft(number=0, offered=schedule.batches)
        for at, event in enumerate(schedule.events):
            if event.name == "zombie_write":
                zombie_write(schedule, run, at)
            if event.name in ARRIVALS:
                require_arrival(schedule, run, at)
            if not event.fault:
                continue
            if event.name not in FAULT_KINDS:
                message = f"no failpoint is known for {event}"
                raise NotReplayable(message)
            match FAULT_KINDS[event.name].effect:
                case Effect.ENDS_RUN if not schedule.ends_run(at):
                    break_and_go_on(schedule, run, at)
                case Effect.ENDS_RUN:
                    label = schedule.label(at)
                    run.stop, run.moment = label, _moment(label, found)
                    run.state = at + 1
                    run.kills_driver = FAULT_KINDS[event.name].kills_driver
                    self._stop(run, at)
                    merged = run.merged or event.name == "rescale"
                    if event.name == "rescale":
                        run.how.append("the restart puts all partitions into one")
                    run.loses_checkpoint = event.name == "new_checkpoint"
                    if run.loses_checkpoint:
                        run.how.append("the restart finds an empty checkpoint")
                    joined = run.joined or run.loses_checkpoint
                    found.append(run.finished())
                    run = RunDraft(
                        number=len(found),
                        offered=schedule.batches,
                        merged=merged,
                        joined=joined,
                    )
                case Effect.GOES_ON if FAULT_KINDS[event.name].in_task:
                    go_on_in_task(schedule, run, at)
                case Effect.GOES_ON:
                    break_own_and_go_on(schedule, run, at)
                case Effect.FAILS_ATTEMPT:
                    refuse_unseen_rows(schedule, at, self.kind)
                    fail_task(schedule, run, at)
                case Effect.LOSES_ATTEMPT:
                    refuse_unseen_rows(schedule, at, self.kind)
                    lose_contact(schedule, run, at, self.kind)
                case _ as other:
                    assert_never(other)
        run.moment, run.state = "at rest", len(schedule.states) - 1
        found.append(run.finished())
        return tuple(found)

    def _stop(self, run: RunDraft, at: int) -> None:
        """Let a fault end the run, where the model says that it does."""
        look, event = self.schedule.look(at), self.schedule.events[at]
        batch = int(look.commits)
        if run.joined and int(look.offsets) == batch:
            message = "the source has given all its events to one batch"
            raise NotReplayable(message, NO_SUCH_POINT)
        if int(look.offsets) == batch:
            run.offered = batch
            committed = self.schedule.committed_before(at)
            if not self.kind.before_offsets(run, batch, committed):
                run.how.append(f"input of batch {batch} withheld")
            return
        # A later run may have to find no input beyond this batch.
        run.offered = self.schedule.batches if run.joined else batch + 1
        ENDINGS[event.name](self, run, event, at)
        if run.end_mark is None and run.undo is None:
            message = f"no point is left to inject {event} at"
            raise NotReplayable(message, NO_SUCH_POINT)

    def crash(self, run: RunDraft, event: Event, at: int) -> None:
        """Let the driver die before the step that would follow."""
        del event
        batch = int(self.schedule.look(at).commits)
        upcoming = self.schedule.upcoming(at, merged=run.merged)
        if upcoming.name == "log_commit":
            self.kind.before_log_commit(run, batch)
        elif upcoming.name.startswith("sink."):
            self._before_step(run, batch, at, upcoming)
        else:
            stop_among_writes(self.schedule, self.kind, run, at, upcoming)

    def _before_step(self, run: RunDraft, batch: int, at: int, upcoming: Event) -> None:
        function = self.steps.get(upcoming.name)
        if function is None:
            everyone = {self.schedule.real(p) for p in range(self.schedule.partitions)}
            again = self.schedule.again(at, batch)
            self.kind.inside(run, everyone, upcoming, again=again)
            return
        if function == LINES:
            self._before_line(run, batch, self.schedule.line(batch, 0), "die")
            return
        nth = 1 + self.schedule.calls(at, upcoming.name)
        run.stops(function, "call", batch, "die", nth=nth)
        self.kind.no_abort(run, batch)

    def _before_line(
        self,
        run: RunDraft,
        batch: int,
        point: dict[str, Any],
        do: str,
        *,
        after: str = "",
    ) -> None:
        """End the run before a point of the user's code on the driver."""
        awaited = marks_before(self.schedule, run)
        if do == "raise":
            raisable(point)
        run.stops(LINES, "call", batch, do, **point, await_=awaited, after=after)
        if do == "die":
            self.kind.no_abort(run, batch)

    def crash_in_commit(self, run: RunDraft, event: Event, at: int) -> None:
        """Let the driver die in the midst of the user's code."""
        self._at_line(run, event, at, "die")

    def fail_in_commit(self, run: RunDraft, event: Event, at: int) -> None:
        """Let the user's commit raise in the midst."""
        self._at_line(run, event, at, "raise")

    def _at_line(self, run: RunDraft, event: Event, at: int, do: str) -> None:
        point = self.schedule.line_at(at)
        cut = self.schedule.caught_before(at)
        after = "" if cut is None else mark_of_cut(run, cut)
        self._before_line(run, event.members[0], point, do, after=after)

    def lose_in_commit(self, run: RunDraft, event: Event, at: int) -> None:
        """Break a connection of the user's code on the driver."""
        del event
        break_own(self.schedule, run, at, marks_before(self.schedule, run))

    def lose_of_commit(self, run: RunDraft, event: Event, at: int) -> None:
        """Break a connection of the sink's commit, which raises."""
        del event
        break_commit(self.schedule, run, at)

    def crash_in_abort(self, run: RunDraft, event: Event, at: int) -> None:
        """Let the user's commit raise at its end, and the driver die in the abort."""
        del at
        batch, number = event.members
        self._raise_at_the_end(run, batch)
        raised = run.rules.pop()
        mark = run.mark("raised")
        run.rules.append(replace(raised, mark=mark))
        run.expected.append(
            ExpectedMark(str(event), fault=True, mark=mark, what=run.how[-1])
        )
        run.stops(UNDO, "call", batch, "die", **self.schedule.undo(batch, number))

    def crash_in_task(self, run: RunDraft, event: Event, at: int) -> None:
        """Let the driver die, and its tasks with it, one in the midst of its work."""
        schedule = self.schedule
        _, partition, attempt, number = event.members
        hit = {(partition, attempt): work_at(schedule, at, number)}
        die_in_tasks(schedule, self.kind, run, at, hit)

    def _raise_at_the_end(self, run: RunDraft, batch: int) -> None:
        seen = self.schedule.seen
        last = seen.last.get(batch) if seen else None
        if last is None:
            message = "the sink's code on the driver was not seen to return"
            raise NotReplayable(message)
        point: dict[str, Any] = {"line": last.text, "nth": last.time}
        run.stops(LINES, "call", batch, "raise", **point)

    def fail_job(self, run: RunDraft, event: Event, at: int) -> None:
        """Let the last attempt of a task die, so that Spark fails the job."""
        fail_job(self.schedule, self.kind, run, event, at)

    def fail_commit(self, run: RunDraft, fault: Event, at: int) -> None:
        """Let the sink's commit raise, before or after it took effect."""
        del fault
        batch = int(self.schedule.look(at).commits)
        done = self.schedule.done(at)
        upcoming = self.schedule.upcoming(at, merged=run.merged)
        if self.schedule.seen is not None:
            if upcoming.name == "sink.run":
                point = self.schedule.line(batch, 0)
                self._before_line(run, batch, point, "raise")
            else:
                self._raise_at_the_end(run, batch)
            return
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
        run.stops(self.steps[name], event, batch, "raise", nth=nth)


ENDINGS: dict[str, Callable[[_Planner, RunDraft, Event, int], None]] = {
    "crash": _Planner.crash,
    "rescale": _Planner.crash,
    "new_checkpoint": _Planner.crash,
    "fail_commit": _Planner.fail_commit,
    "fail_job": _Planner.fail_job,
    "crash_in_commit": _Planner.crash_in_commit,
    "fail_in_commit": _Planner.fail_in_commit,
    "crash_in_abort": _Planner.crash_in_abort,
    "crash_in_task": _Planner.crash_in_task,
    "lose_request_in_commit": _Planner.lose_in_commit,
    "lose_reply_in_commit": _Planner.lose_in_commit,
    "late_request_in_commit": _Planner.lose_in_commit,
    "lose_commit_request": _Planner.lose_of_commit,
    "lose_commit_reply": _Planner.lose_of_commit,
    "late_commit_request": _Planner.lose_of_commit,
}
"""By its name, how each fault that ends a run is injected."""


def _moment(label: str, before: list[RunPlan]) -> str:
    """Name the moment after a fault; names are unique in an interleaving."""
    times = 1 + sum(run.stop == label for run in before)
    return f"after {label}" if times == 1 else f"after {label}, time {times}"
