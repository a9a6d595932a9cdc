"""What is said to settle a claim settles it."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.terms.types import spelled
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.counterexample.slicing import Evaluation
from onceproof.properties.judges.by_search import claims_of
from tests.model.random_protocols import protocols


@settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=list(HealthCheck),
)
@given(protocols(), st.integers(0, 9))
def test_the_elements_that_settle_a_claim_are_enough(drawn, seed):
    """Whatever else is changed at random, the claim is worth what it was worth."""
    protocol = drawn()
    reference, system = Interpreter(protocol), trace(protocol)
    chance = random.Random(seed)
    places = [(field.path, place) for field, place in reference.places]
    choices: dict = {}
    for state in [*reference.initial_states()]:
        for _ in range(12):
            for place, value in zip(places, state, strict=True):
                choices.setdefault(place, set()).add(value)
            moves = [after for _, after in reference.successors(state)]
            state = chance.choice(moves) if moves else state  # noqa: PLW2901
    before = dict(zip(places, state, strict=True))
    for prop in claims_of(protocol):
        for question in prop.questions(system):
            if question.when not in ("always", "sometimes", "at_rest"):
                continue
            clause = prop.clauses[0]
            value, read = Evaluation(system, [before]).of(question.term, {})
            plain = clause.holds(prop.view(reference.look(tuple(before.values()))))
            assert bool(value) == bool(plain)
            kept = {(path, place) for path, place, _ in read}
            other = {
                place: old if place in kept else chance.choice(sorted(many, key=str))
                for (place, old), many in zip(
                    before.items(), choices.values(), strict=True
                )
            }
            again, _ = Evaluation(system, [other]).of(question.term, {})
            assert again == value
            assert all(spelled(other[e]) == spelled(before[e]) for e in kept)
