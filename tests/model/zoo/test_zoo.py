"""Real, documented violations are rediscovered, and their fixes hold."""

from __future__ import annotations

import inspect

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.traces import follow
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.verdicts import Verdict
from tests.model.zoo import flink, kafka, spark

CASES = [*flink.CASES, *kafka.CASES, *spark.CASES]
CONTROLS = [*flink.CONTROLS, *kafka.CONTROLS]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_reported_interleaving_is_a_run_that_breaks_the_property(case):
    """Step by step in plain Python, at its last step and not before."""
    protocol = case.protocol(**case.parameters)
    reference = Interpreter(protocol)
    claim = {p.name: p for p in claims_of(protocol)}[case.breaks]

    start = next(iter(reference.initial_states()))
    states = follow(reference, start, case.story).states

    assert breaks(reference, claim, states)
    assert not breaks(reference, claim, states[:-1])


def breaks(reference, claim, states) -> bool:
    """Say whether a property is broken by the last state, or step, of a run."""
    views = [claim.view(reference.look(state)) for state in states]
    shown = []
    for clause in claim.clauses:
        if clause.when == "always":
            shown.append(not clause.holds(views[-1]))
        elif clause.when == "step":
            shown.append(not clause.holds(*views[-2:]))
        elif clause.when == "at_rest":
            shown.append(reference.resting(states[-1]) and not clause.holds(views[-1]))
        elif clause.when == "recoverable":
            shown.append(not recovers(reference, states[-1], clause.holds, claim))
    return any(shown)


def recovers(reference, state, holds, claim) -> bool:
    """Search in plain Python, without faults, for rest where the claim is true."""
    seen, todo = {state}, [state]
    for now in todo:
        if reference.resting(now) and holds(claim.view(reference.look(now))):
            return True
        for event, after in reference.successors(now):
            if not event.fault and after not in seen:
                seen.add(after)
                todo.append(after)
    return False


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_the_search_finds_it_or_a_shorter_one(case):
    """Refuted, and in no more steps than the report tells."""
    protocol = case.protocol(**case.parameters)
    claim = {p.name: p for p in claims_of(protocol)}[case.breaks]

    (found,) = check(protocol, [claim]).findings

    assert found.verdict is Verdict.REFUTED
    assert found.trace is not None
    assert len(found.trace.events) <= len(case.story)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_its_mend_holds(case):
    """With the fix all holds that the fix does not state to break, and not in vain."""
    protocol = case.fix(**case.fixed)

    found = check(protocol).verdicts

    assert case.breaks not in protocol.stated_breaks
    assert {n for n, v in found.items() if v is not Verdict.EXHAUSTED} == (
        protocol.stated_breaks
    )


@pytest.mark.parametrize("control", CONTROLS, ids=lambda c: c.__name__)
def test_a_control_is_not_reported(control):
    """What was reported and is no violation holds."""
    found = check(control()).verdicts

    assert set(found.values()) == {Verdict.EXHAUSTED}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_a_variant_is_a_few_lines_over_the_library(case):
    """What is new in it, with its parts, is at most about forty lines."""
    own = {
        kind
        for part in case.protocol(**case.parameters).all_parts()
        for kind in type(part).__mro__
        if kind.__module__.startswith("tests.")
    }

    lines = sum(len(inspect.getsource(kind).splitlines()) for kind in own)

    assert lines <= 45
