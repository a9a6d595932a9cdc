"""A search in which some faults may happen is that of a model without the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceproof.model.language import (
    Protocol,
    action,
    always,
    at_rest,
    fault,
    param,
    recoverable,
    state,
    step,
    when,
)
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.exhaustive import explore
from onceproof.properties.judges.by_search import FaultSets
from onceproof.properties.property import own_properties


class FillingTank(Protocol):
    """A tank is filled unit by unit; it may spill, and its gauge may lie."""

    faults = param(2, "how many faults may happen in all")
    level = state(0, high=3)
    gauge = state(0, high=3)

    @action
    def fill(self) -> None:
        """A unit more, which the gauge shows."""
        when(self.level < 3)
        self.level += 1
        self.gauge = self.level

    @fault
    def spill(self) -> None:
        """All is gone."""
        when(self.level > 0)
        self.level = 0

    @fault
    def lie(self) -> None:
        """The gauge shows that the tank is full."""
        when(self.level == 2, self.gauge == 2)
        self.gauge = 3

    @always
    def gauge_is_right(self) -> bool:
        """The gauge shows the level."""
        return self.gauge == self.level

    @step
    def never_falls(self, after: FillingTank) -> bool:
        """The level never falls."""
        return after.level >= self.level

    @at_rest
    def gets_full(self) -> bool:
        """The tank is full at last."""
        return self.level == 3

    @recoverable
    def can_get_full(self) -> bool:
        """It can be filled once faults stop."""
        return self.level == 3


@pytest.mark.parametrize(
    ("faults", "broken"),
    [
        ((), set()),
        (("spill",), {"gauge-is-right", "never-falls"}),
        (("lie",), {"gauge-is-right"}),
        (("spill", "lie"), {"gauge-is-right", "never-falls"}),
    ],
)
def test_what_some_faults_break_is_what_a_model_with_these_alone_breaks(faults, broken):
    """States, verdicts and shortest runs are those of a system without the others."""
    protocol = FillingTank()
    claims = own_properties(protocol)
    judge = FaultSets(protocol, claims)
    judge.check(("spill", "lie"), claims)

    report = judge.check(faults, claims, samples=4)

    names = {f.property.name for f in report.findings if f.trace is not None}
    assert names == broken
    system = trace(protocol)
    allowed = tuple(a for a in system.actions if not a.fault or a.name in faults)
    alone = explore(replace(system, actions=allowed))
    assert report.exploration.distinct == alone.distinct
    happened = {e.name for f in report.findings if f.trace for e in f.trace.events}
    assert happened <= {"fill", *faults}


def test_only_the_claims_that_are_asked_for_are_judged():
    """A claim that was compiled and is not asked for has no finding."""
    protocol = FillingTank()
    claims = own_properties(protocol)
    asked = [claim for claim in claims if claim.name == "never-falls"]

    found = FaultSets(protocol, claims).check(("spill",), asked).findings

    assert [finding.property.name for finding in found] == ["never-falls"]
    assert found[0].trace is not None
