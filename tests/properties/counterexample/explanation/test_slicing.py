"""What is said to settle a claim settles it."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from onceproof.model.language import Protocol, action, at_rest, if_else, state, when
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.terms.types import spelled
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.counterexample.explanation.sentences import because
from onceproof.properties.counterexample.explanation.slicing import Evaluation
from onceproof.properties.counterexample.model_run import counterexample_of, model_of
from onceproof.properties.judges.by_search import check, claims_of
from tests.examples import drawn_from
from tests.model.random_protocols import protocols

SETTINGS = settings(
    derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)


@drawn_from(protocols(), st.integers(0, 9), few=20, many=60, like=SETTINGS)
def test_the_elements_that_settle_a_claim_are_enough(drawn, seed):
    """Whatever else is changed at random, the claim is worth what it was worth."""
    protocol = drawn()
    reference, system = Interpreter(protocol), trace(protocol)
    chance = random.Random(seed)
    places = [(field.path, place) for field, place in reference.places]
    choices: dict = {}
    for at in [*reference.initial_states()]:
        for _ in range(12):
            for place, value in zip(places, at, strict=True):
                choices.setdefault(place, set()).add(value)
            moves = [after for _, after in reference.successors(at)]
            at = chance.choice(moves) if moves else at  # noqa: PLW2901
    before = dict(zip(places, at, strict=True))
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


class Forgetful(Protocol):
    """A commit that should publish, and writes what is there already."""

    turn = state(0, high=3)
    published = state(False)
    other = state(False)

    @action
    def commit(self) -> None:
        """Commit; it leaves the value as it is."""
        when(self.turn == 0)
        self.turn = 1
        self.published = False

    @action
    def unrelated(self) -> None:
        """Change something else, and keep what is published by a condition."""
        when(self.turn == 1)
        self.turn = 2
        self.published = if_else(self.other, True, self.published)
        self.other = True

    @at_rest
    def is_published(self) -> bool:
        """What was committed is published."""
        return self.published


def test_a_step_that_writes_the_value_already_there_is_a_cause():
    """The step that should have changed a value is named; one that keeps it is not."""
    protocol = Forgetful()
    (finding,) = check(protocol).findings
    model, _ = model_of(counterexample_of(protocol, finding), protocol)
    assert model is not None

    found = because(model, len(model.run.steps), None)

    assert any("commit(), " in t and "left published at false" in t for t in found), (
        found
    )
    assert not any("unrelated(), " in t and "left published" in t for t in found), found
