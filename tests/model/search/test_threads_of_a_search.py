"""A search uses a second core, and leaves nothing of it behind."""

from __future__ import annotations

import os
import threading

import pytest

from onceproof.model.language import Member, Protocol, Sort, action, not_, state, when
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.exhaustive import FaultChoice, explore
from onceproof.model.search.limits import Limits
from onceproof.model.search.visited_states import VisitedStates

SIZE = 18


class Lamps(Protocol):
    """Has levels of more states than are expanded at a time."""

    LAMP = Sort("lamp", size=SIZE)

    lit = state(False, per=LAMP)

    @action(per=LAMP)
    def light(self, lamp: Member) -> None:
        """Light one."""
        when(not_(self.lit[lamp]))
        self.lit[lamp] = True


@pytest.fixture(scope="module")
def system():
    """Give the system of the lamps."""
    return trace(Lamps())


def test_no_thread_outlives_a_search(system):
    """Also of one that is stopped in the midst of a level."""
    before = threading.active_count()

    assert explore(system).distinct == 1 << SIZE
    assert explore(system, limits=Limits(states=100_000)).stopped
    assert threading.active_count() == before


def test_a_search_that_is_given_up_changes_nothing_of_the_next(system, monkeypatch):
    """Its last piece is worked out when the next search has begun."""
    graph = VisitedStates(system)
    graph.start()
    while graph.levels[-1] - graph.levels[-2] <= 2 * graph.most_rows:
        graph.grow()
    begun, plain = threading.Event(), graph._sifted
    pieces = []

    def late(*arguments):
        pieces.append(arguments)
        if len(pieces) > 1:
            begun.wait()
        return plain(*arguments)

    monkeypatch.setattr(graph, "_sifted", late)
    given_up = graph.sweep(*graph.levels[-2:], sifted=True)
    next(given_up)
    monkeypatch.undo()
    graph.forget()
    graph.start()
    for _ in range(2):
        graph.grow()
    begun.set()
    given_up.close()

    while graph.grow():
        pass

    assert len(pieces) == 2
    assert graph.count == 1 << SIZE


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_what_searched_before_a_fork_searches_in_the_child(system):
    """The child has none of the threads."""
    choice = FaultChoice(system, [])
    choice.explore([], [])

    child = os.fork()
    if not child:
        found = choice.explore([], []).distinct
        os._exit(0 if found == 1 << SIZE else 1)

    assert os.waitpid(child, 0)[1] == 0
