"""A reduced search settles each question as the full search does, at the same depth."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from onceproof.model.language.declarations.modality import Modality
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.terms import terms as t
from onceproof.model.language.terms.types import MemberType
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.model.search.exhaustive import explore
from onceproof.model.search.queries import SearchQuery
from onceproof.model.search.reduction import stubborn
from onceproof.model.search.renamings import interchangeable
from onceproof.model.traces import follow
from onceproof.properties.judges.by_search import check, claims_of
from tests.examples import drawn_from
from tests.model.library_variants import VARIANTS
from tests.model.random_protocols import protocols
from tests.model.test_readers_agree import SETTINGS, levels
from tests.spread import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.tracing.system import System
    from onceproof.properties.property import Property

_KEPT = (Modality.ALWAYS, Modality.SOMETIMES, Modality.AT_REST)


def reducible(protocol: Protocol) -> list[Property]:
    """Return the claims that a reduction keeps."""
    system = trace(protocol)
    return [
        claim
        for claim in claims_of(protocol)
        if all(
            q is None or q.when in _KEPT
            for q in (*claim.questions(system), *claim.premises(system))
        )
    ]


def agree(protocol: Protocol, claims: Sequence[Property], **how: Any) -> None:
    """Compare a reduced search with the full one, claim by claim."""
    reference = Interpreter(protocol)
    whole = check(protocol, claims, **how)
    found = check(protocol, claims, reduce=True, **how)

    assert found.exploration.reduced
    assert found.exploration.distinct <= whole.exploration.distinct
    for one, other in zip(whole.findings, found.findings, strict=True):
        assert one.verdict is other.verdict
        assert (one.trace is None) == (other.trace is None)
        if other.trace is not None:
            shown = other.trace
            assert len(shown.steps) == len(one.trace.steps)
            assert follow(reference, shown.start, shown.events).states == shown.states


def is_state(system: System, state: Any) -> t.Term:
    """Return the claim that every element of the state has the value it has there."""
    places = Interpreter(system.protocol).places
    parts = []
    for (field, at), value in zip(places, state, strict=True):
        indices = zip(at, field.sorts, strict=True)
        members = tuple(t.Const(i, MemberType(s)) for i, s in indices)
        held = t.Get(field.path, members, field.type)
        parts.append(t.equality(held, t.Const(value, field.type)))
    return t.conjunction(parts)


@drawn_from(
    st.one_of(protocols(), protocols(talks=True)), few=4, many=40, like=SETTINGS
)
def test_random_protocols_keep_verdicts_and_depths(drawn):
    """Together and one at a time, the same verdicts, and traces as short, and real."""
    protocol = drawn()
    if levels(Interpreter(protocol)) is None:
        return
    claims = reducible(protocol)

    agree(protocol, claims)
    for claim in claims:
        agree(protocol, [claim])
    if interchangeable(trace(protocol)):
        agree(protocol, claims, symmetry=True)


@drawn_from(protocols(talks=True), few=2, many=20, like=SETTINGS)
def test_each_state_is_reached_where_it_is_the_goal(drawn):
    """A search for one reachable state finds it, in as few steps as the full search."""
    protocol = drawn()
    if levels(Interpreter(protocol)) is None:
        return
    system = trace(protocol)
    states = explore(system, keep=400).kept
    for state in random.Random(len(states)).sample(states, min(4, len(states))):
        goal = SearchQuery("met", Modality.SOMETIMES, is_state(system, state))
        (whole,) = explore(system, [goal]).answers

        (found,) = explore(system, [goal], reduce=True).answers

        assert found.verdict == whole.verdict == "exhausted"
        assert len(found.trace.steps) == len(whole.trace.steps)


@pytest.mark.parametrize(
    "variant",
    spread(VARIANTS, 16),
)
def test_the_library_keeps_its_verdicts(variant):
    """Every claim that a reduction keeps is judged as the full search judges it."""
    claims = reducible(variant.protocol)

    agree(variant.protocol, claims)


def test_a_claim_of_steps_is_searched_in_full():
    """The full search answers, and the report says why."""
    protocol = make("non-blocking-commit", {})

    whole, found = check(protocol), check(protocol, reduce=True)

    assert found.verdicts == whole.verdicts
    assert found.exploration.distinct == whole.exploration.distinct
    assert not found.exploration.reduced
    assert "need every state and step" in found.exploration.not_reduced


def test_states_are_left_out():
    """A reduction that leaves nothing out would pass all other tests."""
    protocol = make("two-phase-commit", {"RM": "4"})
    claims = [c for c in reducible(protocol) if c.name == "agreement"]

    whole, found = check(protocol, claims), check(protocol, claims, reduce=True)

    assert found.exploration.distinct * 3 < whole.exploration.distinct
    assert found.never_taken == ()
    assert "partial-order reduction" in found.findings[0].bounds


@pytest.mark.parametrize("broken", ["accord", "may_become", "rest"])
def test_a_wrong_reduction_is_noticed(broken, monkeypatch):
    """A reduction that lacks one of its rules misses a goal of two-phase commit."""
    protocol = make("two-phase-commit", {"RM": "2"})
    system = trace(protocol)
    states = explore(system, keep=400).kept
    goals = [
        SearchQuery("met", Modality.SOMETIMES, is_state(system, state))
        for state in states[-1:-12:-3]
    ]
    rests = SearchQuery("rests", Modality.AT_REST, t.TRUE)
    if broken == "accord":
        monkeypatch.setattr(stubborn, "accord", lambda _one, _other: True)
    elif broken == "may_become":
        never = lambda *_args, **_words: False  # noqa: E731
        monkeypatch.setattr(stubborn.Footprints, "may_become", never)
    else:
        monkeypatch.setattr(stubborn.Reduction, "rest", False)

    found = [explore(system, [q], reduce=True).answers[0] for q in (*goals, rests)]

    assert any(answer.verdict == "vacuous" for answer in found)
