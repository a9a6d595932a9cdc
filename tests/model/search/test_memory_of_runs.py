"""Claims about runs and about recovery count the memory that they take."""

from __future__ import annotations

import tracemalloc

import pytest

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    any_of,
    eventually,
    state,
    when,
)
from onceproof.model.search import exhaustive
from onceproof.model.search.limits import Limits
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict

UNDECIDED = Verdict.UNDECIDED


class Counters(Protocol):
    """Counters that go up to two, each on its own, and one that may go on for ever."""

    P = Sort("process", size=9)

    at = state(0, high=2, per=P)
    turn = state(False)

    @action(per=P, fair=True)
    def up(self, p: Member) -> None:
        """A counter goes up."""
        when(self.at[p] < 2)
        self.at[p] += 1

    @action
    def flip(self) -> None:
        """The turn changes, again and again."""
        self.turn = self.turn == False  # noqa: E712 - a term, and not its truth

    @eventually
    def all_get_there(self) -> bool:
        """Every counter reaches two."""
        return all_of(self.at[p] == 2 for p in self.P)

    @eventually
    def none_gets_there(self) -> bool:
        """No counter ever reaches two, which is false."""
        return any_of(self.at[p] > 2 for p in self.P)


def answers(limits: Limits, **how: bool):
    """Judge both claims."""
    report = check(Counters(), limits=limits, **how)
    return report.verdicts, report


@pytest.mark.parametrize("symmetry", [False, True])
def test_a_claim_about_runs_is_undecided_where_its_memory_is_short(symmetry):
    verdicts, whole = answers(Limits(), symmetry=symmetry)
    assert verdicts["all-get-there"] is Verdict.EXHAUSTED
    assert verdicts["none-gets-there"] is Verdict.REFUTED

    less = Limits(memory=whole.exploration.memory - 1)
    verdicts, short = answers(less, symmetry=symmetry)

    assert not short.exploration.stopped
    undecided = {
        f.property.name: f.note for f in short.findings if f.verdict is UNDECIDED
    }
    assert undecided
    assert all("bytes of memory" in note for note in undecided.values())
    assert verdicts == whole.verdicts | dict.fromkeys(undecided, UNDECIDED)
    enough = Limits(memory=whole.exploration.memory)
    assert answers(enough, symmetry=symmetry)[0] == whole.verdicts


def test_what_is_counted_is_what_a_claim_about_runs_takes(monkeypatch):
    taken: list[int] = []
    counted: list[int] = []
    judged = exhaustive.refuting_lasso

    def watched(graph, question, flags, hold):
        def noted(more):
            counted.append(more)
            hold(more)

        tracemalloc.start()
        try:
            return judged(graph, question, flags, noted)
        finally:
            taken.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()

    answers(Limits())  # what is compiled and imported at first is none of it
    monkeypatch.setattr(exhaustive, "refuting_lasso", watched)
    answers(Limits())

    assert len(taken) == 2
    assert max(taken) <= max(counted) <= 3 * max(taken)
