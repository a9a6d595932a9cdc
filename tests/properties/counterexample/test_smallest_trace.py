"""A counterexample of a search is small: its fault is in the earliest batch."""

from __future__ import annotations

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.library_variants import VARIANTS
from tests.spread import spread

BATCHED = [
    one for one in VARIANTS if "BATCH" in {s.name for s in one.values[0].protocol.sizes}
]


@pytest.mark.parametrize("variant", spread(BATCHED, 8))
def test_a_fault_is_in_the_first_batch(variant):
    """No refuted guarantee needs a batch that is done before its first fault.

    A search finds the fewest steps; of runs as long as each other, this is one of those
    whose fault comes first. One that breaks before any fault needs none. What no run of
    one batch breaks, such as a number that is taken again, needs a batch before; and so
    does what breaks a single batch only once it is done. What only the last batch can
    lose, because nothing comes after it, is in the last one of three, too.
    """
    late = {name for name, done in refuted(variant.protocol).items() if done}

    if late:
        one = refuted(make(variant.name, {**variant.settings, "BATCH": "1"}))
        both = {name for name in late & set(one) if not one[name]}
        if both:
            three = refuted(make(variant.name, {**variant.settings, "BATCH": "3"}))
            assert {three[name] for name in both} == {2}


def refuted(protocol):
    """Count the batches that are done before the first fault, by what is refuted."""
    interpreter = Interpreter(protocol)
    found = {}
    for finding in check(protocol, guarantees_of(protocol)).findings:
        trace = finding.trace
        if finding.verdict is not Verdict.REFUTED or trace is None:
            continue
        faults = [at for at, event in enumerate(trace.events) if event.fault]
        done = interpreter.look(trace.states[faults[0]]).commits if faults else 0
        found[finding.property.name] = int(done)
    return found
