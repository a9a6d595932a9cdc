"""Replays: every failure interleaving of a sink's model, on real PySpark, judged."""

from __future__ import annotations

import shutil
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.inputs.event_files import InputFiles
from onceproof.spark_checks.inputs.flights import flights_input
from onceproof.spark_checks.plan.enumeration import Enumerations, protocol_of
from onceproof.spark_checks.replay import events
from onceproof.spark_checks.replay.budget import Budget
from onceproof.spark_checks.replay.drivers.own_drivers import OwnDriverPool
from onceproof.spark_checks.replay.observations import Observers
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.replay.sink_replay import replay_sink
from onceproof.spark_checks.replay.steering.replay_context import ReplayContext
from onceproof.spark_checks.session.interruption import ReaderGoneError, Signals
from onceproof.spark_checks.session.java.jvm import java_version
from onceproof.spark_checks.session.session_pool import SessionPool
from onceproof.spark_checks.stores.layered import itself

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from onceproof.model.protocols.micro_batch import MicroBatch
    from onceproof.spark_checks.inputs.event_files import Input
    from onceproof.spark_checks.replay.events import Listener
    from onceproof.spark_checks.replay.journal.journals import Journals
    from onceproof.spark_checks.replay.sink_report import SinkReport
    from onceproof.spark_checks.session.warm_session import WarmSession
    from onceproof.spark_checks.sinks.interface import ModelledSink
    from onceproof.spark_checks.stores.spark_needs import SparkNeeds

_KEPT: WeakKeyDictionary[SessionPool, Enumerations] = WeakKeyDictionary()


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
    with _journals_closed(request.journals, listener) as ended:
        if pool is not None:
            listener(events.Started(tuple(s.name for s in sinks), str(pool.scratch)))
            reports = _replayed(pool, enumerations, sinks, listener, request, given)
        else:
            with Signals().heeded():
                reports = _in_own_pool(enumerations, sinks, listener, request, given)
        ended.extend(reports)
    listener(events.Finished(time.perf_counter() - began))
    return reports


@contextmanager
def _journals_closed(
    journals: Journals | None, listener: Listener
) -> Iterator[list[SinkReport]]:
    """Delete the journals if reports of all sinks are there and no budget ran out."""
    ended: list[SinkReport] = []
    try:
        yield ended
    finally:
        if journals is not None:
            done = bool(ended) and not any(report.left for report in ended)
            journals.close(done=done)
            if journals.hold_any:
                listener(events.JournalsKept(str(journals.folder)))


def _model(sink: ModelledSink, request: ReplayRequest) -> MicroBatch:
    return protocol_of(sink, request.sizes, faults=request.faults)


def _in_own_pool(
    enumerations: Enumerations,
    sinks: Sequence[ModelledSink],
    listener: Listener,
    request: ReplayRequest,
    given: Input | None,
) -> list[SinkReport]:
    """Replay in a session pool of its own; keep only folders worth inspecting.

    SIGTERM and SIGHUP must raise ``KeyboardInterrupt`` meanwhile: nothing is left then.
    """
    pool = SessionPool(ENTRY_POINTS, agent=request.agent, cluster=request.cluster)
    scratch = pool.scratch
    if request.keep:
        pool.keep()
    kept: list[Path] = []
    keep = True

    def listen(event: events.Event) -> None:
        if isinstance(event, events.Replayed) and event.folder is not None:
            kept.append(event.folder)
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
    reports: dict[int, SinkReport] = {}
    budget = Budget(request.budget, len(sinks))
    models = [_model(sink, request) for sink in sinks if not sink.code]
    with enumerations.ahead(models):
        for needs, some in _by_needs(pool, sinks).items():
            sizes = request.sizes
            with pool.session(
                attempts=sizes.attempts, partitions=sizes.partitions, needs=needs
            ) as session:
                reports |= _in_session(
                    pool, session, enumerations, some, listener, request, given, budget
                )
    return [reports[number] for number in range(len(sinks))]


def _by_needs(
    pool: SessionPool, sinks: Sequence[ModelledSink]
) -> dict[SparkNeeds, dict[int, ModelledSink]]:
    """Group sinks, by their numbers, by what their stores need of a session."""
    found: dict[SparkNeeds, dict[int, ModelledSink]] = {}
    for number, sink in enumerate(sinks):
        found.setdefault(pool.needs_of(sink.store), {})[number] = sink
    return found


def _in_session(
    pool: SessionPool,
    session: WarmSession,
    enumerations: Enumerations,
    sinks: Mapping[int, ModelledSink],
    listener: Listener,
    request: ReplayRequest,
    given: Input | None,
    budget: Budget,
) -> dict[int, SinkReport]:
    """Replay sinks in one session; return their reports by the sinks' numbers."""
    if given is None and request.given is not None:
        given = request.given(session.spark)
    if given is None:
        message = "a replay needs events"
        raise UsageError(message)
    if session.agent is not None or pool.no_agent:
        lacking = () if session.agent is None else session.agent.missing
        listener(events.AgentLooked(lacking, pool.no_agent))
    drivers: OwnDriverPool | None = None
    source = InputFiles(pool.folder("events"), given)
    observers = Observers(session.spark, source)
    reports = {}
    try:
        if request.kill_drivers:
            sizes = request.sizes
            kept = pool.of_driver(
                attempts=sizes.attempts,
                partitions=sizes.partitions,
                needs=session.needs,
            )
            drivers = OwnDriverPool(pool.folder, pool.scratch, kept)
        for number, sink in sinks.items():
            store, versions = None, {}
            if sink.store is not None:
                store = pool.stores.running(itself(sink.store))
                version = session.needs.version or sink.store.version()
                versions = {sink.store.name: version} if version else {}
            context = ReplayContext(
                session,
                session.spark,
                source,
                observers,
                observer=None,
                scratch=pool.scratch,
                store=store,
                versions=versions,
                drivers=drivers,
            )
            try:
                reports[number] = replay_sink(
                    enumerations, context, sink, listener, request, budget.next_sink()
                )
            finally:
                context.leftovers.close(keep=request.keep)
    finally:
        if drivers is not None:
            drivers.close()
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


def _enumerations(pool: SessionPool) -> Enumerations:
    """Return the enumerations that are cached as long as a session lives."""
    return _KEPT.setdefault(pool, Enumerations())
