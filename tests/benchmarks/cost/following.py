"""The simulated steps are followed through the protocol's own methods.

Each operator with its inputs, or each link, is a run of the library's protocol. Every
step that the simulation takes there must be enabled in the protocol, in the state that
its own methods have computed so far, and at the end each record must be visible once.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.protocols.barrier_snapshot import BarrierSnapshot
from onceproof.model.protocols.deduplication_log import DeduplicationLog

if TYPE_CHECKING:
    from onceproof.model.language.composition.protocol import Protocol
    from tests.benchmarks.cost.barriers import BarrierTopology
    from tests.benchmarks.cost.logs import LogTopology

Steps: TypeAlias = "list[tuple[str, tuple[int, ...]]]"

ENOUGH = 50
"""How many faults of each kind a run of the protocol may have."""


def follow(protocol: Protocol, steps: Steps) -> Counter[int]:
    """Take the steps in the protocol; count how often each event is visible then.

    Raises ``AssertionError`` at the first step that the protocol does not allow.
    """
    reference = Interpreter(protocol)
    (state,) = reference.initial_states()
    for number, (name, members) in enumerate(steps):
        event = Event(name, members, reference.steps[name].fault)
        after = reference.after(state, event)
        assert after is not None, f"step {number}, {event}, is not enabled"
        state = after
    seen = reference.look(state)
    sizes = {sort.name: size for sort, size in protocol.sizes.items()}
    inputs = range(sizes["S"]) if "S" in sizes else (None,)
    return Counter(
        int(seen.visible(e) if s is None else seen.visible(s, e))
        for s in inputs
        for e in range(sizes["E"])
    )


def follow_barriers(run: BarrierTopology) -> dict[str, int]:
    """Follow each operator of a run; return what was followed."""
    fan = run.layers.fan
    # One checkpoint more than is needed: the last may not begin before the input ends.
    records, checkpoints = run.records // fan, run.complete + 1
    protocol = BarrierSnapshot(
        S=fan, E=records, C=checkpoints, length=records + checkpoints, faults=ENOUGH
    )
    return _followed(protocol, run.steps.of_scope, fan * records)


def follow_logs(run: LogTopology) -> dict[str, int]:
    """Follow each link of a run; return what was followed."""
    records = run.records // run.layers.fan
    protocol = DeduplicationLog(
        E=records,
        NUMBER=1,
        losses=ENOUGH,
        repeats=ENOUGH,
        restarts=ENOUGH,
        faults=ENOUGH,
    )
    # A message of the network is named by its place among all that there can be.
    of_link = {
        link: [
            (name, tuple(2 * e for e in at) if "." in name else at)
            for name, at in steps
        ]
        for link, steps in run.steps.of_scope.items()
    }
    return _followed(protocol, of_link, records)


def _followed(
    protocol: Protocol, of_scope: dict[object, Steps], records: int
) -> dict[str, int]:
    for steps in of_scope.values():
        seen = follow(protocol, steps)
        assert seen == {1: records}, f"visible: {dict(seen)}"
    return {"runs": len(of_scope), "steps": sum(map(len, of_scope.values()))}
