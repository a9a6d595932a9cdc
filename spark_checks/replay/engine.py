"""Replays: every failure interleaving of a sink's model, on real PySpark, judged."""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from onceproof.model.errors import UsageError
from onceproof.model.language.interpreter import Interpreter
from onceproof.properties.judges.by_history import broken
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.inputs.event_files import InputFiles
from onceproof.spark_checks.inputs.flights import flights_input
from onceproof.spark_checks.plan.enumeration import Enumerations, protocol_of
from onceproof.spark_checks.plan.planner import realise
from onceproof.spark_checks.plan.run_plan import NotReplayable, hits_of
from onceproof.spark_checks.replay import events
from onceproof.spark_checks.replay.confirmation import Helps, confirm
from onceproof.spark_checks.replay.observations import observer_of
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.replay.sink_report import SinkReport
from onceproof.spark_checks.replay.smallest import Smallest
from onceproof.spark_checks.replay.steering.fault_free_run import discovered
from onceproof.spark_checks.replay.steering.interleaving_run import (
    SteeredInterleaving,
    fresh,
    run_one,
)
from onceproof.spark_checks.replay.steering.replay_context import ReplayContext
from onceproof.spark_checks.replay.worker_threads import WorkerThreads
from onceproof.spark_checks.session.interruption import ReaderGoneError, Signals
from onceproof.spark_checks.session.jvm import java_version
from onceproof.spark_checks.session.session_pool import SessionPool

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.model.protocols.micro_batch import MicroBatch
    from onceproof.spark_checks.inputs.event_files import Input
    from onceproof.spark_checks.plan.choice import Hits
    from onceproof.spark_checks.plan.run_plan import InjectionPoint
    from onceproof.spark_checks.replay.events import Listener
    from onceproof.spark_checks.replay.outcome import Outcome, UnjudgedOutcome
    from onceproof.spark_checks.sinks.interface import ModelledSink

_KEPT: WeakKeyDictionary[SessionPool, Enumerations] = WeakKeyDictionary()
_AT_ONCE = 8
_BETWEEN_RELEASES = 96
_LONGER = 5.0
_STALL = 5.0


def replay(
    sinks: Sequence[ModelledSink],
    listener: Listener,
    request: ReplayRequest | None = None,
    *,
    pool: SessionPool | None = None,
    enumerations: Enumerations | None = None,
) -> list[SinkReport]:
    """Steer each sink through each failure interleaving, and judge what readers see.

    Without a ``pool`` one is made, and closed at the end: its scratch folder stays
    where the plan keeps it, and what is left of an interleaving that drifts, or could
    not be steered as planned, stays in any case. ``enumerations`` hold what the caller
    has enumerated already. Raises ``UsageError``, before Spark
    is started, for interleavings that no sink has, and for events that are too few.
    """
    began = time.perf_counter()
    request = request or ReplayRequest()
    if enumerations is None:
        enumerations = Enumerations() if pool is None else _enumerations(pool)
    if request.choice.only is not None:
        models = {s.name: _model(s, request) for s in sinks if not s.code}
        found = {name: enumerations.interleavings(m) for name, m in models.items()}
        request.choice.check({name: len(i.classes) for name, i in found.items()})
    given = None if request.given is not None else flights_input(request.sizes)
    java_version()
    listener = _one_by_one(listener)
    if pool is not None:
        listener(events.Started(tuple(s.name for s in sinks), str(pool.scratch)))
        reports = _replayed(pool, enumerations, sinks, listener, request, given)
    else:
        reports = _alone(enumerations, sinks, listener, request, given)
    listener(events.Finished(time.perf_counter() - began))
    return reports


def _model(sink: ModelledSink, request: ReplayRequest) -> MicroBatch:
    return protocol_of(sink, request.sizes, faults=request.faults)


def _alone(
    enumerations: Enumerations,
    sinks: Sequence[ModelledSink],
    listener: Listener,
    request: ReplayRequest,
    given: Input | None,
) -> list[SinkReport]:
    """Replay in a session pool of its own; keep only folders worth inspecting.

    SIGTERM and SIGHUP raise ``KeyboardInterrupt`` meanwhile, so that nothing is left.
    """
    with Signals().heeded():
        return _in_own_pool(enumerations, sinks, listener, request, given)


def _in_own_pool(
    enumerations: Enumerations,
    sinks: Sequence[ModelledSink],
    listener: Listener,
    request: ReplayRequest,
    given: Input | None,
) -> list[SinkReport]:
    pool = SessionPool(ENTRY_POINTS)
    scratch = pool.scratch
    if request.keep:
        pool.keep()
    kept: list[Path] = []
    keep = True

    def listen(event: events.Event) -> None:
        if isinstance(event, events.Replayed) and event.outcome.folder is not None:
            kept.append(event.outcome.folder)
        listener(event)

    try:
        listener(events.Started(tuple(s.name for s in sinks), str(scratch)))
        reports = _replayed(pool, enumerations, sinks, listen, request, given)
        keep = request.keep
    except (KeyboardInterrupt, ReaderGoneError):
        keep = request.keep
        raise
    finally:
        pool.close(keeping=kept, keep=keep)
        if kept or keep:
            listener(events.ScratchKept(str(scratch)))
    return reports


def _replayed(
    pool: SessionPool,
    enumerations: Enumerations,
    sinks: Sequence[ModelledSink],
    listener: Listener,
    request: ReplayRequest,
    given: Input | None,
) -> list[SinkReport]:
    sizes = request.sizes
    with pool.session(attempts=sizes.attempts, partitions=sizes.partitions) as session:
        if given is None and request.given is not None:
            given = request.given(session.spark)
        if given is None:
            message = "a replay needs events"
            raise UsageError(message)
        source = InputFiles(pool.folder("events"), given)
        reports = []
        try:
            for sink in sinks:
                context = ReplayContext(
                    session, session.spark, source, None, pool.scratch
                )
                try:
                    context = _prepared(context, sink)
                    reports.append(
                        _replay_sink(enumerations, context, sink, listener, request)
                    )
                finally:
                    context.leftovers.close(keep=request.keep)
        finally:
            if not request.keep:
                shutil.rmtree(source.folder, ignore_errors=True)
        return reports


def _one_by_one(listener: Listener) -> Listener:
    """Let threads that report events wait for each other."""
    lock = threading.Lock()

    def emit(event: events.Event) -> None:
        with lock:
            listener(event)

    return emit


def _prepared(context: ReplayContext, sink: ModelledSink) -> ReplayContext:
    """Prepare what all runs of a sink share."""
    folder, built = fresh(context, sink)
    try:
        result = built.result if built.under_test.result is not None else None
        observer = observer_of(context.spark, context.source, result)
    finally:
        built.close()
    shutil.rmtree(folder, ignore_errors=True)
    return replace(context, observer=observer, under_test=built.under_test)


def _replay_sink(
    enumerations: Enumerations,
    context: ReplayContext,
    sink: ModelledSink,
    listener: Listener,
    request: ReplayRequest,
) -> SinkReport:
    began = time.perf_counter()
    context = replace(context, patience=request.patience)
    if sink.code:
        sink = discovered(replace(context, patience=request.timeout), sink)
        took = time.perf_counter() - began
        patience, stall = max(context.patience, _LONGER * took), max(_STALL, took)
        context = replace(context, patience=patience, stall=stall)
    given = context.source.given
    sizes = replace(request.sizes, batches=given.batches, partitions=given.tasks)
    protocol = protocol_of(sink, sizes, faults=request.faults)
    classes = enumerations.interleavings(protocol)
    model = enumerations.verdicts(protocol)
    what = context.under_test
    report = SinkReport(sink, protocol, classes, model, given, under_test=what)
    report.whole = request.choice.whole
    early, others = request.choice.of(classes, _hits(report))
    # The first that breaks a claim is then the smallest, and what it left is kept.
    smallest = Smallest(protocol)
    early, others = (tuple(sorted(some, key=smallest.of)) for some in (early, others))
    report.requested = len(early) + len(others)
    listener(events.SinkBegun(sink.name, report.requested))
    semantics = Interpreter(protocol)
    mine = threading.local()

    helps = Helps()

    def go(one: Interleaving, *, again: bool) -> UnjudgedOutcome:
        if not hasattr(mine, "context"):
            mine.context = replace(context, spark=context.session.fork())
        # What is replayed to confirm a break has been reported already.
        emit = _nobody if again else listener
        emit(events.InterleavingBegun(sink.name, one.number))
        steered = SteeredInterleaving(one, protocol, semantics, sink)
        return helps.tried(lambda: run_one(mine.context, steered, emit))

    with WorkerThreads(go) as workers:

        def anew(one: Interleaving) -> Outcome:
            [outcome] = _judged(context, [workers.ask(one, again=True).result()])
            return _tidied(outcome, context, report, replace(request, retain=False))

        for chosen in (early, others):
            if _is_broken(report, request) and (request.stop or chosen is others):
                break
            for part in _parts(chosen):
                for some in workers.all_of(part, _AT_ONCE):
                    for found in _judged(context, some):
                        outcome = _tidied(found, context, report, request)
                        report.outcomes.append(outcome)
                        listener(events.Replayed(sink.name, outcome))
                    report.outcomes.sort(key=_number)
                    confirm(report, request.claims, anew)
                    if request.stop and _is_broken(report, request):
                        break
                else:
                    context.session.release()
                    continue
                break
            workers.forget()
        confirm(report, request.claims or report.properties, anew)
    context.session.release()
    report.outcomes.sort(key=_number)
    report.seconds = time.perf_counter() - began
    listener(events.SinkJudged(report))
    return report


def _enumerations(pool: SessionPool) -> Enumerations:
    """Return the enumerations that are cached as long as a session lives."""
    return _KEPT.setdefault(pool, Enumerations())


def _parts(chosen: Sequence[Interleaving]) -> list[Sequence[Interleaving]]:
    """Split interleavings: after each part no process is at work on the session."""
    begins = range(0, len(chosen), _BETWEEN_RELEASES)
    return [chosen[begin : begin + _BETWEEN_RELEASES] for begin in begins]


def _number(outcome: Outcome) -> int:
    return outcome.interleaving.number


def _nobody(event: events.Event) -> None:
    """Ignore an event."""


def _hits(report: SinkReport) -> Hits | None:
    """Find the places that an interleaving's faults are injected into in user code."""
    sink, what = report.sink, report.under_test
    if sink.seen is None or what is None:
        return None
    kind = kind_of(what, callback=sink.seen.callback)

    def of(one: Interleaving) -> tuple[InjectionPoint, ...] | None:
        try:
            return hits_of(realise(one, report.protocol, sink, kind))
        except NotReplayable:
            return None

    return of


def _is_broken(report: SinkReport, request: ReplayRequest) -> bool:
    return any(map(report.first_break, request.claims))


def _tidied(
    outcome: Outcome, context: ReplayContext, report: SinkReport, request: ReplayRequest
) -> Outcome:
    """Delete what is left of the runs, unless there is something to look into."""
    if outcome.folder is None:
        return outcome
    history = outcome.spark
    breaks = history is not None and any(broken(p, history) for p in request.claims)
    first = request.retain and breaks and not _is_broken(report, request)
    if request.keep or (request.inspect and outcome.suspect) or first:
        context.leftovers.keep(outcome.folder)
        return outcome
    shutil.rmtree(outcome.folder, ignore_errors=True)
    context.leftovers.sweep()
    return replace(outcome, folder=None)


def _judged(context: ReplayContext, some: Sequence[UnjudgedOutcome]) -> list[Outcome]:
    """Read the ledgers of several runs by one Spark job: small jobs cost dearly."""
    observations = [r.observations for r in some if r.observations is not None]
    read = iter(context.histories(observations))
    return [r.judged(next(read) if r.observations is not None else None) for r in some]
