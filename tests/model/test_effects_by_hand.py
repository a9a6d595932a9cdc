"""What an effect leaves, worked out by hand: in plain Python, and as it was traced."""

from __future__ import annotations

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.language import (
    Protocol,
    Sort,
    action,
    at_rest,
    fault,
    state,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.by_proof.judge import prove
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.verdicts import Verdict
from tests.model.test_readers_agree import compare_successors


class Rules(Protocol):
    """Changes every element at once, by what all of them hold before."""

    P = Sort("place", ordered=True, size=3)

    held = state(1, per=P, high=9)

    @action
    def add_the_first_two(self) -> None:
        """Each element becomes the sum of the first two, as they were."""
        when(self.held[0] + self.held[1] < 5)
        self.held.set(lambda _: self.held[0] + self.held[1])


def test_a_rule_for_all_elements_reads_what_they_held_before(tmp_path, monkeypatch):
    """Not what the rule itself has written on the way."""
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path))
    plain = Interpreter(Rules())
    [start] = plain.initial_states()

    [(_, after)] = plain.successors(start)

    assert (start, after) == ((1, 1, 1), (2, 2, 2))
    compare_successors(Rules())


class Indexed(Protocol):
    """Is indexed by a number that its guard bounds, or nearly."""

    P = Sort("place", ordered=True, size=2)

    at = state(0, high=2)
    done = state(False, per=P)


def _with(guard):
    class Mine(Indexed):
        """One action."""

        @action
        def act(self) -> None:
            """Mark a place."""
            guard(self)
            self.done[self.at] = True

    return Mine()


def test_an_index_that_may_lie_one_beyond_the_sort_is_refused():
    """The last member is one less than the size."""
    with pytest.raises(ModelError, match=r"may be 0\.\.2, outside 0\.\.1 of P"):
        trace(_with(lambda self: when(self.at > -1)))

    trace(_with(lambda self: when(self.at < 2)))


class Waiting(Protocol):
    """Does nothing until a fault has come."""

    broken = state(False)
    done = state(False)

    @fault(at_most=1)
    def break_down(self) -> None:
        """Break."""
        self.broken = True

    @action
    def repair(self) -> None:
        """Repair what is broken."""
        when(self.broken)
        self.broken = False
        self.done = True

    @at_rest
    def repaired(self) -> bool:
        """At rest all is repaired."""
        return self.done


def test_a_state_from_which_only_faults_lead_is_at_rest():
    """The search and z3 find the very first state, before any fault."""
    protocol = Waiting()

    [searched] = check(protocol, claims_of(protocol)).findings
    [proved] = prove(protocol, claims_of(protocol), depth=3).findings

    assert (searched.verdict, proved.verdict) == (Verdict.REFUTED, Verdict.REFUTED)
    assert [len(f.trace.events) for f in (searched, proved)] == [0, 0]
