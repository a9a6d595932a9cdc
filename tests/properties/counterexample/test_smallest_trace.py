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
    one batch breaks, such as a number that is taken again, needs a batch before.
    """
    protocol = variant.protocol
    interpreter = Interpreter(protocol)

    report = check(protocol, guarantees_of(protocol))

    late = {}
    for finding in report.findings:
        trace = finding.trace
        if finding.verdict is not Verdict.REFUTED or trace is None:
            continue
        faults = [at for at, event in enumerate(trace.events) if event.fault]
        if faults and interpreter.look(trace.states[faults[0]]).commits:
            late[finding.property.name] = [str(event) for event in trace.events]
    if late:
        single = make(variant.name, {**variant.settings, "BATCH": "1"})
        alone = check(single, guarantees_of(single)).verdicts
        late = {n: t for n, t in late.items() if alone[n] is Verdict.REFUTED}
    assert not late
