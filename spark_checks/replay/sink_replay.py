"""Replays one sink: each interleaving becomes a plan, evidence, and an outcome."""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from onceproof.model.language.interpreter import Interpreter
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.ledger import History, observe_states
from onceproof.spark_checks.inject.hosts.built_sink import Builds
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.plan.enumeration import Enumerations, protocol_of
from onceproof.spark_checks.replay import events
from onceproof.spark_checks.replay.budget import Deadline
from onceproof.spark_checks.replay.cleanup import RunFolders
from onceproof.spark_checks.replay.confirmation import Findings, Retries
from onceproof.spark_checks.replay.conformance.trace_check import NOT_ASKED
from onceproof.spark_checks.replay.journal.recording import Recording
from onceproof.spark_checks.replay.later_exchanges import with_later_exchanges
from onceproof.spark_checks.replay.outcome import outcome_of
from onceproof.spark_checks.replay.recovery import with_recovery
from onceproof.spark_checks.replay.sink_plans import checks_of, plans_of, stand_ins
from onceproof.spark_checks.replay.sink_report import SinkReport
from onceproof.spark_checks.replay.smallest import Smallest
from onceproof.spark_checks.replay.steering.fault_free_run import (
    discovered,
    with_exchanges,
)
from onceproof.spark_checks.replay.steering.interleaving_run import fresh, run_one
from onceproof.spark_checks.replay.worker_threads import WorkerThreads, parts_of
from onceproof.spark_checks.session.session_pool import THREADS
from onceproof.spark_checks.sinks.exchange_model import goes_on_of
from onceproof.spark_checks.sinks.named_part import part_of
from onceproof.spark_checks.sinks.readers import named_readers
from onceproof.spark_checks.stores.layered import breaks, one_at_a_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.model.protocols.micro_batch import MicroBatch
    from onceproof.spark_checks.inputs.sizes import Sizes
    from onceproof.spark_checks.plan.plans import Plans
    from onceproof.spark_checks.plan.run_plan import InterleavingPlan
    from onceproof.spark_checks.replay.events import Listener
    from onceproof.spark_checks.replay.journal.journal import Journal
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.request import ReplayRequest
    from onceproof.spark_checks.replay.run_evidence import RunEvidence, RunRecord
    from onceproof.spark_checks.replay.steering.replay_context import ReplayContext
    from onceproof.spark_checks.sinks.interface import ModelledSink, UnderTest

_AT_ONCE = 8
_LONGER = 5.0
_STALL = 5.0


def replay_sink(
    enumerations: Enumerations,
    context: ReplayContext,
    sink: ModelledSink,
    listener: Listener,
    request: ReplayRequest,
    deadline: Deadline | None = None,
) -> SinkReport:
    """Steer a sink through its interleavings, and judge what readers see."""
    context, what = _prepared(context, sink)
    began = time.perf_counter()
    context = replace(context, patience=request.patience)
    if sink.is_unmodelled:
        part_of(what)
        warm = replace(context, patience=request.timeout, drivers=None)
        sink = discovered(warm, sink)
        took = time.perf_counter() - began
        patience, stall = max(context.patience, _LONGER * took), max(_STALL, took)
        context = replace(context, patience=patience, stall=stall)
    elif breaks(sink.store) and not sink.compared:
        sink = with_exchanges(replace(context, drivers=None), sink)
    given = context.source.given
    sizes = replace(request.sizes, batches=given.batches, partitions=given.tasks)
    deadline = deadline or Deadline()
    journal = None
    if request.journals is not None:
        journal = request.journals.of(sink.name, request.asked, context.versions)
    shared = _Shared(
        enumerations, context, what, sizes, listener, request, deadline, journal
    )
    if sink.seen is not None and request.faults > 1:
        sink = _after_one_fault(shared, sink)
    protocol = protocol_of(sink, sizes, faults=request.faults)
    classes = enumerations.interleavings(protocol)
    model = enumerations.verdicts(protocol)
    plans = plans_of(protocol, sink, what, context, sizes.attempts)

    hits = None if sink.seen is None else plans.hits
    stands_in = stand_ins(request, sink, classes, hits)
    chosen = request.choice.of(classes, hits, stands_in)
    # The first that breaks a claim is then the smallest, and what it left is kept.
    smallest = Smallest(protocol)
    early, others = (tuple(sorted(some, key=smallest.of)) for some in chosen)
    if deadline.set:
        others = request.choice.most_valuable_first(others, hits)
    plans.keep((*early, *others))
    requested = len(early) + len(others)
    listener(events.SinkBegun(sink.name, requested))
    replaying = _SinkReplay(shared, sink, protocol, plans, Findings(smallest))
    replaying.go(early, others)
    recalled = replaying.recording.recalled
    if journal is not None:
        listener(events.JournalRead(sink.name, recalled, journal.changed))
    found = replaying.findings
    report = SinkReport(
        sink,
        protocol,
        classes,
        model,
        given,
        outcomes=tuple(sorted(found.outcomes, key=_number)),
        seconds=time.perf_counter() - began,
        under_test=what,
        requested=requested,
        whole=request.choice.whole,
        unsteady=found.unsteady,
        again={number: tuple(some) for number, some in found.again.items()},
        kept=replaying.kept,
        versions=context.versions,
        patience=context.patience,
        left=replaying.left,
        merged=len(stands_in) if request.choice.whole else 0,
        recalled=recalled,
        agent=context.session.agent is not None,
        differing=context.builds.differing if sink.code else (),
    )
    listener(events.SinkJudged(report))
    return report


@dataclass(frozen=True)
class _Shared:
    """What the replays of one sink share."""

    enumerations: Enumerations
    """What was enumerated of models."""
    context: ReplayContext
    """The session, the input, and how long a run may take."""
    what: UnderTest
    """The sink, as it is built."""
    sizes: Sizes
    """The sizes of the input."""
    listener: Listener
    """Who hears of events."""
    request: ReplayRequest
    """What is asked for."""
    deadline: Deadline
    """When no more interleavings are begun."""
    journal: Journal | None
    """Where outcomes are noted, if they are."""


def _after_one_fault(shared: _Shared, sink: ModelledSink) -> ModelledSink:
    """Run interleavings of one fault, and add the lines that run only after one."""
    if sink.seen is None:
        return sink
    protocol = protocol_of(sink, shared.sizes)
    plans = plans_of(protocol, sink, shared.what, shared.context, shared.sizes.attempts)
    asked = shared.request.choice
    choice = Choice(most=asked.most, seed=asked.seed)
    classes, hits = shared.enumerations.interleavings(protocol), plans.hits
    stands_in = stand_ins(shared.request, sink, classes, hits)
    chosen = choice.of(classes, hits, stands_in)
    every = [one for some in chosen for one in some]
    shared.listener(events.RecoveryBegun(sink.name, len(every)))

    def moves_on(event: events.Event) -> None:
        if isinstance(event, events.Replayed):
            shared.listener(events.RecoveryRun(sink.name))

    findings = Findings(Smallest(protocol))
    plain = replace(shared.request, keep=False, retain=False, inspect=False)
    quiet = replace(shared, listener=moves_on, request=plain)
    _SinkReplay(quiet, sink, protocol, plans, findings).run(every)
    seen = with_recovery(sink.seen, findings.outcomes)
    parameters = {**sink.parameters, **seen.sizes}
    exchanges = sink.exchanges
    if exchanges is not None:
        exchanges = with_later_exchanges(exchanges, findings.outcomes)
        parameters |= exchanges.sizes | goes_on_of(seen.caught)
    return replace(sink, seen=seen, exchanges=exchanges, parameters=parameters)


def _prepared(
    context: ReplayContext, sink: ModelledSink
) -> tuple[ReplayContext, UnderTest]:
    """Prepare what all runs of a sink share, and return the sink as it is built."""
    context = replace(context, builds=Builds())
    folder, built = fresh(context, sink)
    try:
        result = built.result if built.under_test.result is not None else None
        readers = tuple(named_readers(built.under_test.read))
        observer = context.observers.of(result, readers)
    finally:
        built.close()
    shutil.rmtree(folder, ignore_errors=True)
    return replace(context, observer=observer), built.under_test


class _SinkReplay:
    """The replay of one sink's chosen interleavings, while it goes on."""

    def __init__(
        self,
        shared: _Shared,
        sink: ModelledSink,
        protocol: MicroBatch,
        plans: Plans,
        findings: Findings,
    ) -> None:
        self.findings = findings
        self.kept: dict[int, Path] = {}
        self.left = 0
        self.recording = Recording(shared.journal, shared.request.faults)
        self._context = shared.context
        self._sink = sink
        self._semantics = Interpreter(protocol)
        self._properties = guarantees_of(protocol)
        self._plans = plans
        session = shared.context.session
        self._checks = checks_of(protocol, sink, shared.what, session)
        self._listener = shared.listener
        self._request = shared.request
        self._deadline = shared.deadline
        self._retries = Retries()
        self._folders = RunFolders(shared.context.leftovers, shared.request)
        self._mine = threading.local()
        drivers = shared.context.drivers
        # A killed executor takes all of its tasks with it, those of others too.
        alone = session.cluster is not None or one_at_a_time(sink.store)
        self._threads = 1 if alone else THREADS
        self._stop = None if drivers is None else drivers.close

    def go(self, early: Sequence[Interleaving], others: Sequence[Interleaving]) -> None:
        """Replay ``early`` ones, then the others, and confirm what breaks a claim."""
        request, session = self._request, self._context.session
        with WorkerThreads(self._run, self._threads, self._stop) as workers:

            def anew(some: Sequence[Interleaving]) -> list[Outcome]:
                found = {one.number: self._recalled(one) for one in some}
                unknown = [one for one in some if found[one.number] is None]
                futures = [workers.ask(one, again=True) for one in unknown]
                left = [future.result() for future in futures]
                outcomes = self._outcomes(left)
                for evidence, outcome in zip(left, outcomes, strict=True):
                    self._folders.settle(evidence, outcome, retain=False)
                    self.recording.note(evidence.plan, outcome)
                    found[outcome.interleaving.number] = outcome
                return [one for one in found.values() if one is not None]

            for chosen in (early, others):
                if self._broken and (request.stop or chosen is others):
                    break
                unknown = self._take_recalled(chosen)
                done = len(self.findings.outcomes)
                for part in parts_of(unknown):
                    if self._deadline.over:
                        break
                    for some in workers.all_of(part, _AT_ONCE):
                        self._take(some)
                        self.findings.confirm(request.claims, anew)
                        if self._deadline.over or (request.stop and self._broken):
                            break
                    else:
                        session.release()
                        continue
                    break
                workers.forget()
                if self._deadline.over:
                    done = len(self.findings.outcomes) - done
                    self.left += len(unknown) - done
            self.findings.confirm(request.claims or self._properties, anew)
        session.release()

    def run(self, chosen: Sequence[Interleaving]) -> None:
        """Replay interleavings, and confirm nothing."""
        unknown = self._take_recalled(chosen)
        with WorkerThreads(self._run, self._threads, self._stop) as workers:
            for part in parts_of(unknown):
                for some in workers.all_of(part, _AT_ONCE):
                    self._take(some)
                    if self._deadline.over:
                        return
                self._context.session.release()
                workers.forget()

    @property
    def _broken(self) -> bool:
        return self.findings.breaks_any(self._request.claims)

    def _run(self, one: Interleaving, *, again: bool) -> RunEvidence:
        """Run an interleaving in a thread of its own, with a session of its own."""
        mine = self._mine
        if not hasattr(mine, "context"):
            forked = self._context.session.fork()
            mine.context = replace(self._context, spark=forked)
        # What is replayed to confirm a break has been reported already.
        emit = _nobody if again else self._listener
        emit(events.InterleavingBegun(self._sink.name, one.number))
        plan = self._plans.of(one)
        # A restart may have exchanges that no run without a fault has.
        own = self._sink.is_unmodelled and self._sink.exchanges is not None
        watched = own and self._request.faults > 1
        return self._retries.tried(
            lambda failed: run_one(
                mine.context,
                plan,
                self._sink,
                emit,
                failed_first=failed,
                watched=watched,
            )
        )

    def _recalled(self, one: Interleaving) -> Outcome | None:
        return self.recording.recall(self._plans.of(one), self._of_model)

    def _take_recalled(self, chosen: Sequence[Interleaving]) -> list[Interleaving]:
        """Add the outcomes that were noted before; return what is left to replay."""
        unknown = []
        for one in chosen:
            outcome = self._recalled(one)
            if outcome is None:
                unknown.append(one)
            else:
                self.findings.outcomes.append(outcome)
                self._listener(events.Replayed(self._sink.name, outcome, None))
        self.findings.outcomes.sort(key=_number)
        return unknown

    def _take(self, some: Sequence[RunEvidence]) -> None:
        """Add the outcomes of some runs to the findings, and report each."""
        for evidence, outcome in zip(some, self._outcomes(some), strict=True):
            first = not self._broken
            folder = self._folders.settle(evidence, outcome, retain=first)
            if folder is not None:
                self.kept[outcome.interleaving.number] = folder
            self.findings.outcomes.append(outcome)
            self.recording.note(evidence.plan, outcome)
            self._listener(events.Replayed(self._sink.name, outcome, folder))
        self.findings.outcomes.sort(key=_number)

    def _outcomes(self, some: Sequence[RunEvidence]) -> list[Outcome]:
        """Count what readers saw of several runs at once: small jobs cost dearly."""
        seen = [one.observations for one in some if one.observations is not None]
        read = iter(self._context.histories(seen))
        return [
            outcome_of(one, model=None, spark=None)
            if one.observations is None
            else outcome_of(
                one,
                model=self._of_model(one.plan, one.runs),
                spark=next(read),
                trace=NOT_ASKED if self._checks is None else self._checks.of(one),
            )
            for one in some
        ]

    def _of_model(
        self, plan: InterleavingPlan, runs: Sequence[RunRecord]
    ) -> History | None:
        """Observe the model where the runs looked, if the sink has a model."""
        if self._sink.is_unmodelled:
            return None
        states = plan.interleaving.trace.states
        return observe_states(
            self._semantics, {run.moment: states[run.state] for run in runs}
        )


def _number(outcome: Outcome) -> int:
    return outcome.interleaving.number


def _nobody(event: events.Event) -> None:
    """Ignore an event."""
