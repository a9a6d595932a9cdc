"""Random walks show what is real, claim no more than they saw, and can be repeated."""

from __future__ import annotations

import pytest

from onceproof.model.language import Protocol, action, always, not_, state, when
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.library import make
from onceproof.properties.judges.by_search import simulate
from onceproof.properties.verdicts import Verdict
from tests.examples import drawn_from
from tests.model.random_protocols import protocols
from tests.model.search.walks import assert_honest
from tests.model.test_readers_agree import SETTINGS, levels


@drawn_from(protocols(), few=6, many=60, like=SETTINGS)
def test_walks_refute_only_what_the_search_refutes(drawn):
    """No verdict goes beyond "held", and each walk that is shown can be followed."""
    protocol = drawn()
    reference = Interpreter(protocol)
    if levels(reference) is None:
        return

    report = simulate(protocol, walks=30, depth=8, seed=1)

    assert_honest(report, reference, depth=8)


def test_enough_walks_find_a_rare_interleaving():
    """A message that overtakes a marker is found, and named."""
    protocol = make("chandy-lamport-unordered", {})

    report = simulate(protocol, walks=2000, depth=60, seed=7)

    found = next(f for f in report.findings if f.property.name == "conserves")
    assert found.verdict is Verdict.REFUTED
    assert any("overtake" in e.name for e in found.trace.events)


def test_the_same_seed_takes_the_same_walks():
    """Coverage and traces are those of the run before; another seed's are not."""
    protocol = make("chandy-lamport", {"P": "3"})

    first, again, other = (
        simulate(protocol, walks=50, depth=40, seed=seed) for seed in (5, 5, 6)
    )

    assert first.run.distinct == again.run.distinct != other.run.distinct
    assert [f.trace for f in first.findings] == [f.trace for f in again.findings]


@pytest.mark.parametrize(("walks", "depth"), [(0, 10), (10, 0), (0, 0)])
def test_walks_that_take_no_step_hold_nothing(walks, depth):
    """Where nothing was tried, nothing is said to hold."""
    protocol = make("chandy-lamport", {"P": "3"})

    report = simulate(protocol, walks=walks, depth=depth, seed=1)

    assert {f.verdict for f in report.findings} == {Verdict.UNDECIDED}


def test_walks_of_a_protocol_that_cannot_move_hold_nothing():
    """Its initial state alone says nothing about runs."""
    report = simulate(Stuck(), walks=5, depth=5, seed=1)

    assert report.verdicts["is-off"] is Verdict.UNDECIDED
    assert report.verdicts["is-on"] is Verdict.REFUTED


class Stuck(Protocol):
    """A lamp whose switch waits for what never comes."""

    on = state(False)

    @action
    def switch(self) -> None:
        """Wait for light to make light."""
        when(self.on)
        self.on = False

    @always
    def is_off(self) -> bool:
        """It is dark."""
        return not_(self.on)

    @always
    def is_on(self) -> bool:
        """It is bright."""
        return self.on
