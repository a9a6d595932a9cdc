"""What tests of replays share: interleavings are asked for by their words."""

from __future__ import annotations

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.sinks.reference import reference_sinks

SINKS = reference_sinks()
SMALL = Sizes(batches=1)


def numbered(name: str, *words: str, faults: int = 2, sizes: Sizes = SMALL) -> int:
    """Find the interleaving of a sink whose durable word is just this."""
    classes = interleavings(protocol_of(SINKS[name], sizes, faults=faults)).classes
    found = [
        one.number
        for one in classes
        if tuple(str(one.trace.events[i]) for i in one.word) == words
    ]
    assert len(found) == 1, words
    return found[0]
