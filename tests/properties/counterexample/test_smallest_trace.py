"""A counterexample of a search is small: its fault is in the earliest batch."""

from __future__ import annotations

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.library_variants import VARIANTS

BATCHED = [
    one for one in VARIANTS if "BATCH" in {s.name for s in one.values[0].protocol.sizes}
]


@pytest.mark.parametrize("variant", BATCHED)
def test_a_fault_is_in_the_first_batch(variant):
    """No refuted guarantee needs a batch that is done before its first fault.

    A search finds the fewest steps; of runs as long as each other, this is one of those
    whose fault comes first. One that breaks before any fault needs none. What no run of
    one batch breaks, such as a number that is taken again, needs a batch before; and so
    does what breaks a single batch only once it is done.
    """
    _, late = refuted(variant.protocol)

    if late:
        early, _ = refuted(make(variant.name, {**variant.settings, "BATCH": "1"}))
        assert not late & early


def refuted(protocol):
    """Name what is refuted by a fault before a batch is done, and what after one."""
    interpreter = Interpreter(protocol)
    early, late = set(), set()
    for finding in check(protocol, guarantees_of(protocol)).findings:
        trace = finding.trace
        if finding.verdict is not Verdict.REFUTED or trace is None:
            continue
        faults = [at for at, event in enumerate(trace.events) if event.fault]
        done = faults and interpreter.look(trace.states[faults[0]]).commits
        (late if done else early).add(finding.property.name)
    return early, late
