"""Which plans a sink's interleavings become, and which of them stand for others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.adapters import ManifestKind, kind_of
from onceproof.spark_checks.plan.merged_points import merged
from onceproof.spark_checks.plan.plans import Plans
from onceproof.spark_checks.plan.realisations import (
    by_killed_drivers,
    in_shared_session,
    on_cluster,
)
from onceproof.spark_checks.plan.spark_steps import inside_spark
from onceproof.spark_checks.replay.conformance.checked_runs import CheckedRuns
from onceproof.spark_checks.replay.conformance.step_meanings import reported_as

if TYPE_CHECKING:
    from onceproof.model.interleavings.interleaving import Interleavings
    from onceproof.model.protocols.micro_batch import MicroBatch
    from onceproof.spark_checks.plan.choice import Hits
    from onceproof.spark_checks.plan.realisations import Realisation
    from onceproof.spark_checks.plan.sink_kind import SinkKind
    from onceproof.spark_checks.replay.request import ReplayRequest
    from onceproof.spark_checks.replay.steering.replay_context import ReplayContext
    from onceproof.spark_checks.session.warm_session import WarmSession
    from onceproof.spark_checks.sinks.interface import ModelledSink, UnderTest


def plans_of(
    protocol: MicroBatch,
    sink: ModelledSink,
    what: UnderTest,
    context: ReplayContext,
    attempts: int,
) -> Plans:
    """Plan a sink's interleavings for the processes that its queries run in."""
    realised: Realisation = in_shared_session
    if context.drivers is not None:
        realised = by_killed_drivers
    if context.session.cluster is not None:
        realised = partial(
            on_cluster, partitions=context.source.tasks, attempts=attempts
        )
    return Plans(protocol, sink, _kind_of(sink, what, context.session), realised)


def checks_of(
    protocol: MicroBatch, sink: ModelledSink, what: UnderTest, session: WarmSession
) -> CheckedRuns | None:
    """Check the runs against the sink's model; None where nothing can be checked.

    That is so without an agent, which reports steps, and for a sink without a model.
    """
    if session.agent is None or sink.is_unmodelled:
        return None
    kind = kind_of(what, callback=sink.callback, into_files=sink.into_files)
    return CheckedRuns(protocol, reported_as(kind), session.agent.has)


def _kind_of(sink: ModelledSink, what: UnderTest, session: WarmSession) -> SinkKind:
    kind = kind_of(what, callback=sink.callback, into_files=sink.into_files)
    if session.agent is None or not kind.runs_in_spark:
        return kind
    files = isinstance(kind, ManifestKind)
    return inside_spark(kind, session.agent.has, files=files)


def stand_ins(
    request: ReplayRequest,
    sink: ModelledSink,
    classes: Interleavings,
    hits: Hits | None,
) -> dict[int, int]:
    """Map each interleaving that another one stands for to that one."""
    if request.every_point or sink.seen is None or hits is None:
        return {}
    return merged(classes.classes, hits, sink.seen)
