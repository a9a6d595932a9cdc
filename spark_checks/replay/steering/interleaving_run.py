"""One real run of a sink, steered through one interleaving."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.properties.ledger import observe_states
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.inject.hosts.built_sink import BuiltSink
from onceproof.spark_checks.plan.planner import realise
from onceproof.spark_checks.plan.run_plan import NotReplayable, hits_of
from onceproof.spark_checks.replay import events
from onceproof.spark_checks.replay.observations import Observations
from onceproof.spark_checks.replay.outcome import Outcome, UnjudgedOutcome
from onceproof.spark_checks.replay.steering.deviation import AS_PLANNED
from onceproof.spark_checks.replay.steering.steered_query import SteeredQuery
from onceproof.spark_checks.session.host_processes import HostError
from onceproof.spark_checks.sinks.interface import Target

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.model.language.interpreter import Interpreter
    from onceproof.model.language.protocol import Protocol
    from onceproof.spark_checks.replay.steering.replay_context import ReplayContext
    from onceproof.spark_checks.sinks.interface import ModelledSink


@dataclass(frozen=True)
class SteeredInterleaving:
    """An interleaving of a sink's model, to steer a run through."""

    one: Interleaving
    """The interleaving."""
    protocol: Protocol
    """The protocol."""
    semantics: Interpreter
    """The protocol in plain Python."""
    sink: ModelledSink
    """The sink."""


def run_one(
    context: ReplayContext,
    steered: SteeredInterleaving,
    listener: Callable[[events.Event], None],
) -> UnjudgedOutcome:
    """Run a fresh sink through an interleaving, looking at it as it goes."""
    began = time.perf_counter()
    one, sink = steered.one, steered.sink
    try:
        folder, built = fresh(context, sink)
    except HostError as failed:
        return UnjudgedOutcome(
            Outcome(one, None, None, (), 0.0, not_replayed=str(failed), again=True)
        )
    callback = sink.seen is not None and sink.seen.callback
    kind = kind_of(built.under_test, callback=callback, into_files=sink.into_files)
    try:
        runs = realise(one, steered.protocol, sink, kind)
    except NotReplayable as reason:
        built.close()
        return UnjudgedOutcome(
            Outcome(
                one,
                None,
                None,
                (),
                0.0,
                not_replayed=str(reason),
                known=True,
                cause=reason.cause,
                folder=folder,
            )
        )
    query = SteeredQuery(context, folder, built, sink, kind)
    problem = AS_PLANNED
    try:
        for run in runs:
            problem = query.go(run)
            for happened, what in query.news(run, well=not problem):
                listener(happened(sink.name, one.number, what))
            if problem:
                break
    finally:
        query.close()
    if query.rested and not problem:
        listener(events.Recovered(sink.name, one.number))
    took = time.perf_counter() - began
    seen = {run.moment: one.trace.states[run.state] for run in runs}
    compared = not problem and not sink.code
    outcome = Outcome(
        one,
        model=observe_states(steered.semantics, seen) if compared else None,
        spark=None,
        failpoints=tuple(h for run in runs for h in run.how),
        seconds=took,
        not_replayed=problem.reason,
        known=problem.known,
        cause=problem.cause,
        folder=folder,
        hits=hits_of(runs),
        released_early=query.released_early,
        again=problem.help,
        unplanned=tuple(query.unplanned),
        runs=tuple(query.records),
    )
    if problem:
        return UnjudgedOutcome(outcome)
    observations = Observations(
        tuple(seen),
        tuple(query.looks),
        tuple(query.promised),
        query.rested,
        query.unreadable,
    )
    return UnjudgedOutcome(outcome, observations)


def fresh(context: ReplayContext, sink: ModelledSink) -> tuple[Path, BuiltSink]:
    """Make an empty folder for the runs of a sink, and the sink in it."""
    name = f"onceproof_{uuid.uuid4().hex}"
    folder = context.scratch / name
    target = Target(folder / "sink", name)
    target.path.mkdir(parents=True)
    (folder / "marks").mkdir()
    hosts = context.session.hosts
    built = BuiltSink(hosts, context.spark, sink, target, context.patience)
    context.leftovers.add(folder, built)
    return folder, built
