"""One real run of a sink, steered through one interleaving."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.inject.connections import Connections
from onceproof.spark_checks.inject.hosts.built_sink import BuiltSink
from onceproof.spark_checks.replay import events
from onceproof.spark_checks.replay.deviation import AS_PLANNED, Deviation
from onceproof.spark_checks.replay.observations import Observations
from onceproof.spark_checks.replay.run_evidence import RunEvidence
from onceproof.spark_checks.replay.steering.steered_query import SteeredQuery
from onceproof.spark_checks.session.led_hadoop import LedHadoop
from onceproof.spark_checks.session.processes.host_processes import HostError
from onceproof.spark_checks.sinks.interface import Target
from onceproof.spark_checks.stores.layered import LayeredStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onceproof.spark_checks.plan.run_plan import InterleavingPlan
    from onceproof.spark_checks.replay.steering.replay_context import ReplayContext
    from onceproof.spark_checks.sinks.interface import ModelledSink
    from onceproof.spark_checks.stores.interface import StorePlace


def run_one(
    context: ReplayContext,
    plan: InterleavingPlan,
    sink: ModelledSink,
    listener: Callable[[events.Event], None],
    *,
    failed_first: str = "",
    watched: bool = False,
) -> RunEvidence:
    """Run a fresh sink as planned, looking at it as it goes.

    ``failed_first`` is the reason why an earlier try failed, if there was one. With
    ``watched``, exchanges with the store are noted even if none is cut.
    """
    began = time.perf_counter()
    if plan.refusal:
        return RunEvidence(plan, failed_first=failed_first)
    try:
        folder, built = fresh(context, sink, breaks=plan.cuts or watched)
    except HostError as error:
        gone = Deviation(str(error), help=True)
        return RunEvidence(plan, gone, failed_first=failed_first)
    under_test, callback = built.under_test, sink.callback
    kind = kind_of(under_test, callback=callback, into_files=sink.into_files)
    number = plan.interleaving.number
    query = SteeredQuery(context, folder, built, sink, kind)
    problem = AS_PLANNED
    try:
        for run in plan.runs:
            problem = query.go(run)
            for happened, what in query.news(run, well=not problem):
                listener(happened(sink.name, number, what))
            if problem:
                break
    finally:
        query.close()
    if query.rested and not problem:
        listener(events.Recovered(sink.name, number))
    moments = tuple(run.moment for run in plan.runs)
    observed = Observations(
        moments,
        tuple(query.looks),
        tuple(query.promised),
        query.rested,
        dict(query.unreadable),
    )
    return RunEvidence(
        plan,
        problem,
        folder,
        tuple(query.records),
        None if problem else observed,
        unplanned=tuple(query.unplanned),
        released_early=query.released_early,
        seconds=time.perf_counter() - began,
        failed_first=failed_first,
    )


def fresh(
    context: ReplayContext,
    sink: ModelledSink,
    *,
    breaks: bool = False,
    looks_past: bool = False,
) -> tuple[Path, BuiltSink]:
    """Make an empty folder for the runs of a sink, and the sink in it.

    Where its connections to a store may break, they go through a proxy. With
    ``looks_past``, those that do not are looked for.
    """
    folder, target = fresh_target(context)
    hosts = context.session.hosts
    connections = hadoop = led = None
    store = sink.store
    if breaks and isinstance(store, LayeredStore):
        place = store.breakable(target.store)
        connections = Connections(
            place.addresses,
            folder / "marks",
            framing=place.framing,
            spark=context.session.threads,
            sent_for=place.sent_for,
            looks_past=looks_past,
            checkpoint=folder / "checkpoint" if sink.is_unmodelled else None,
        )
        context.leftovers.add_proxy(folder, connections.close)
        target = replace(target, store=store.moved(target.store, connections.port))
        hadoop = store.breakable(target.store).hadoop
    if hadoop is not None:
        led = LedHadoop(context.spark, hadoop)
        context.leftovers.add_route(folder, led.restore)
    try:
        built = BuiltSink(
            hosts,
            context.spark,
            sink,
            target,
            context.patience,
            connections,
            hadoop=hadoop,
            led=led,
            imports=context.imports,
            builds=context.builds,
            alone=context.drivers is not None,
        )
    except BaseException:
        if led is not None:
            led.restore()
        raise
    context.leftovers.add(folder, built)
    return folder, built


def fresh_target(context: ReplayContext) -> tuple[Path, Target]:
    """Make an empty folder for the runs of a sink, and its place in the store."""
    name = f"onceproof_{uuid.uuid4().hex}"
    folder = context.scratch / name
    path = folder / "sink"
    path.mkdir(parents=True)
    (folder / "marks").mkdir()
    return folder, Target(path, name, store=_place(context, folder, name))


def _place(context: ReplayContext, folder: Path, name: str) -> StorePlace | None:
    """Make a place in the store, which is dropped when the folder is gone."""
    store = context.store
    if store is None:
        return None
    place = store.place(name)
    context.leftovers.add_place(folder, lambda: store.drop(place))
    return place
