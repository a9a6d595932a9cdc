"""Every fault of the model's library has a failpoint, or says why it has none."""

from __future__ import annotations

import functools
import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import protocols
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.micro_batch_unreliable import MicroBatchUnreliable
from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.model.protocols.parts.sinks.batch_ledger import LedgerLookedUpOnce
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.plan.fault_kinds import (
    FAULT_KINDS,
    NOT_REPLAYED,
    Effect,
    with_effect,
)
from onceproof.spark_checks.plan.planner import ENDINGS, realise
from onceproof.spark_checks.plan.rules import (
    DRIVER_EXCHANGE,
    LINES,
    TASK_EXCHANGE,
    UNDO,
    WORK,
)
from onceproof.spark_checks.plan.run_plan import NotReplayable
from onceproof.spark_checks.plan.sink_kind import CALLED, SinkKind
from onceproof.spark_checks.sinks.code_points import CodePoint, SeenPoints
from onceproof.spark_checks.sinks.exchange_model import (
    CAUGHT,
    CAUGHT_IN_TASKS,
    CAUGHT_ON_DRIVER,
    InstrumentedExchanges,
    goes_on_of,
)
from onceproof.spark_checks.sinks.exchanges import Exchange, SeenExchanges
from onceproof.spark_checks.sinks.interface import ModelledSink, Target
from onceproof.spark_checks.sinks.reference import reference_sinks
from onceproof.spark_checks.sinks.user_code_model import (
    InstrumentedMicroBatch,
    UserCode,
)
from tests.spark_checks import steering

SINKS = steering.SINKS | reference_sinks("new-checkpoint")

LIBRARY = {f"library: {name}": kind for name, kind in protocols().items()}
ENGINES = {
    **{name: kind for name, kind in LIBRARY.items() if issubclass(kind, MicroBatch)},
    **{f"sink: {name}": sink.engine for name, sink in SINKS.items()},
    "a user's own code": InstrumentedMicroBatch,
    "a user's own code and its exchanges": InstrumentedExchanges,
}
"""The models of what is replayed."""


def faults_of(kind):
    """Give the faults of a protocol with the names of their members' sorts."""
    steps = Interpreter(kind()).steps.values()
    return {step.name: [s.name for s in step.sorts] for step in steps if step.fault}


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_every_fault_of_what_is_replayed_has_a_failpoint(engine):
    """A fault that is added to a model needs an entry, and what injects it."""
    missing = set(faults_of(ENGINES[engine])) - set(FAULT_KINDS)

    assert not missing, "state in plan/fault_kinds.py how a replay injects them"


def test_every_failpoint_is_for_a_fault_that_there_is():
    """What no model has any more is no failpoint."""
    known = {name for engine in ENGINES.values() for name in faults_of(engine)}

    assert set(FAULT_KINDS) == known


def test_every_protocol_that_is_not_replayed_says_why():
    """A protocol is replayed, or its faults are declared out of reach."""
    out_of_reach = {
        kind.__module__.rpartition(".")[2]
        for kind in LIBRARY.values()
        if not issubclass(kind, MicroBatch) and faults_of(kind)
    }

    assert out_of_reach <= set(NOT_REPLAYED)
    assert all(NOT_REPLAYED.values())
    modules = {kind.__module__.rpartition(".")[2] for kind in LIBRARY.values()}
    assert set(NOT_REPLAYED) <= modules


def test_every_fault_that_ends_a_run_is_injected_by_the_planner():
    """The registry and the planner have the same faults."""
    assert set(ENDINGS) == with_effect(Effect.ENDS_RUN)


@pytest.mark.parametrize("fault", sorted(FAULT_KINDS))
def test_what_a_fault_hits_is_what_its_members_name(fault):
    """The registry says of a fault's members what the model says."""
    kind = FAULT_KINDS[fault]
    sorts = next(
        found[fault] for e in ENGINES.values() if fault in (found := faults_of(e))
    )

    code = {"LINE": LINES, "WORK": WORK, "UNDO": UNDO}
    code |= {"DRIVER_EXCHANGE": DRIVER_EXCHANGE, "TASK_EXCHANGE": TASK_EXCHANGE}
    assert code.get(sorts[-1] if sorts else "", "") == kind.code
    if kind.in_task:
        assert sorts[:3] == ["BATCH", "PARTITION", "ATTEMPT"]


class Kind(SinkKind):
    """A sink whose code is called for each batch, and which can abort."""

    on_driver = CALLED


def own_code():
    """Describe a sink of the user's own with points everywhere."""

    def points(where):
        return tuple(CodePoint(f"line {n} of x.py, {where}()", 1) for n in range(1, 4))

    exchange = Exchange("line 2 of x.py", 1, 1, 1, 1)
    seen = SeenPoints(
        driver={0: points("write")},
        tasks={(0, 0): (*points("put"), CodePoint("the return of put() of x.py"))},
        aborts={0: points("abort")},
        last={0: CodePoint("the return of write() of x.py")},
    )
    exchanges = SeenExchanges({0: (exchange,)}, {(0, 0): (exchange,)})
    return ModelledSink(
        "own",
        None,
        UserCode(on_driver=1, in_tasks=1, committer=1),
        frozenset(),
        steps={"sink.run": LINES, "write": WORK},
        parameters=seen.sizes | exchanges.sizes,
        exchanges=exchanges,
        code=("/x",),
        seen=seen,
        engine=InstrumentedExchanges,
    )


def goes_on():
    """Describe the same where the code on the driver goes on after an error."""
    sink = own_code()
    late = CAUGHT["late_request_in_commit"]
    names = (f"{n}(0, {'0, ' * (n == late)}1)" for n in CAUGHT_ON_DRIVER.values())
    caught = dict.fromkeys(names, frozenset(["line 3 of x.py, write()"]))
    in_tasks = (f"{n}(0, 0, 0, 1)" for n in CAUGHT_IN_TASKS.values())
    caught |= dict.fromkeys(in_tasks, frozenset(["line 3 of x.py, put()"]))
    seen = replace(sink.seen, caught=caught)
    return replace(
        sink, seen=seen, parameters={**sink.parameters, **goes_on_of(caught)}
    )


def writes_again(model, steps):
    """Describe a reference sink whose connections break."""
    last = Exchange(f"{next(iter(steps.values()))}()", 1, 3, 1, 3)
    every = {(0, 0): (last,), (0, 1): (last,)}
    return ModelledSink(
        "again",
        None,
        model,
        frozenset(),
        engine=MicroBatchUnreliable,
        steps=steps,
        exchanges=SeenExchanges({0: (last,)}, every),
    )


def built(sink, folder):
    """Build a reference sink in a folder of its own; give its kind."""
    place = Path(folder, sink.name)
    place.mkdir()
    return kind_of(sink.build(Target(place, "sink")))


@functools.cache
def realised_faults(folder):
    """Name the faults of all interleavings that a plan realises.

    Each has one fault, or two if code goes on after the first.
    """
    found = set()
    sinks = [(own_code(), Kind())]
    sinks += [(sink, built(sink, folder)) for _, sink in sorted(SINKS.items())]
    in_tasks = writes_again(Append, {"write": "insert"})
    on_driver = writes_again(LedgerLookedUpOnce, {"sink.write_batch": "write"})
    sinks += [(in_tasks, Kind()), (on_driver, Kind())]
    # With one attempt, the first that fails is the last.
    every = [(*one, n, 1) for one, n in itertools.product(sinks, (1, 2))]
    for sink, kind, attempts, faults in [*every, (goes_on(), Kind(), 1, 2)]:
        sizes = Sizes(batches=1, partitions=1 if sink.seen else 2, attempts=attempts)
        protocol = protocol_of(sink, sizes, faults=faults)
        for one in interleavings(protocol).classes:
            try:
                runs = realise(one, protocol, sink, kind)
            except NotReplayable:
                continue
            hit = [r for r in runs if r.rules or r.end_mark or r.undo or r.expected]
            if hit:
                found |= {one.trace.events[at].name for at in one.faults}
    return found


@pytest.fixture(scope="module")
def realised(tmp_path_factory):
    """Plan every interleaving of the reference sinks, and of code of a user's own."""
    return realised_faults(str(tmp_path_factory.mktemp("sinks")))


@pytest.mark.parametrize("fault", sorted(FAULT_KINDS))
def test_every_failpoint_is_reached_by_some_plan(fault, realised):
    """An entry alone injects nothing: some interleaving with the fault has a plan."""
    assert fault in realised
