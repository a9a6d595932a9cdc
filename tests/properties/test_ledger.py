"""Each guarantee is broken by the histories that break it, and by no others."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.model.language import Protocol, Sort, observe, state
from onceproof.model.language.interpreter import Interpreter
from onceproof.properties.guarantees import GUARANTEES
from onceproof.properties.judges.by_history import broken
from onceproof.properties.ledger import EventOutcome, History, Row, of_protocol
from onceproof.properties.property import Property
from onceproof.properties.verdicts import Verdict, exit_status, weakest

NAMED = {g.name: g for g in GUARANTEES}
SEEN = st.tuples(st.booleans(), st.integers(0, 2))
EVENTS = st.lists(
    st.tuples(st.integers(0, 1), st.booleans(), st.tuples(SEEN, SEEN, SEEN)),
    min_size=1,
    max_size=3,
)


def history(events, strays, *, rested):
    rows = tuple(
        Row(unit, accepted, tuple(EventOutcome(*one) for one in outcomes))
        for unit, accepted, outcomes in events
    )
    return History(("one", "two", "at rest"), rows, tuple(strays), rested)


def at_most_once(events, strays, rested):
    for moment in range(3):
        if strays[moment] or any(e[2][moment][1] > 1 for e in events):
            return moment
    return None


def at_least_once(events, strays, rested):
    lost = any(accepted and outcomes[2][1] == 0 for _, accepted, outcomes in events)
    return 2 if lost else None


def whole(events, strays, rested):
    for moment in range(3):
        for unit in {e[0] for e in events}:
            shown = {e[2][moment][1] > 0 for e in events if e[0] == unit}
            if len(shown) == 2:
                return moment
    return None


def durable(events, strays, rested):
    for moment in (1, 2):
        if any(f[moment - 1][1] > 0 and f[moment][1] == 0 for *_, f in events):
            return moment
    for moment in range(3):
        if any(f[moment][0] and f[moment][1] == 0 for *_, f in events):
            return moment
    return None


def recovered(events, strays, rested):
    return 2 if not rested or at_least_once(events, strays, rested) == 2 else None


def agree(events, strays, rested):
    for moment in range(3):
        for (u, _, f), (v, _, g) in itertools.product(events, repeat=2):
            given_up = g[moment][0] and g[moment][1] == 0
            if u == v and f[moment][1] > 0 and given_up:
                return moment
    return None


PLAIN = {
    "at-most-once": at_most_once,
    "at-least-once": at_least_once,
    "atomic-visibility": whole,
    "durable": durable,
    "recoverable": recovered,
    "agreement": agree,
}


@given(EVENTS, st.tuples(*[st.sampled_from((0, 0, 0, 1))] * 3), st.booleans())
def test_a_guarantee_is_broken_where_a_plain_reading_says_so(events, strays, rested):
    """Its first broken moment is that which a loop over the events finds."""
    result = history(events, strays, rested=rested)

    for name, plainly in PLAIN.items():
        found = broken(NAMED[name], result)
        assert (found and found[1]) == plainly(events, strays, rested), name


@given(EVENTS)
def test_effectively_once_is_at_most_and_at_least_once(events):
    """It is broken by what breaks either of them, and by nothing else."""
    found = history(events, (0, 0, 0), rested=True)

    either = any(broken(NAMED[n], found) for n in ("at-most-once", "at-least-once"))

    assert bool(broken(NAMED["effectively-once"], found)) == either
    assert set(PLAIN) | {"effectively-once"} == set(NAMED)


class Table(Protocol):
    """Two events of two units."""

    E = Sort("event", size=2)
    rows = state(0, per=E, high=2)
    done = state(False, per=E)

    @observe(per=E)
    def visible(self, e):
        """How often the event is there."""
        return self.rows[e]

    @observe(per=E)
    def promised(self, e):
        """Whether the engine is done with it."""
        return self.done[e]

    @observe(per=E)
    def unit(self, e):
        """Each event is a unit of its own."""
        return 0 if e == 0 else 1


@pytest.mark.parametrize("rows", list(itertools.product(range(3), repeat=2)))
@pytest.mark.parametrize("done", list(itertools.product((False, True), repeat=2)))
def test_a_protocols_ledger_says_what_its_observations_say(rows, done):
    """What is visible, promised, rejected and together is read event by event."""
    ledger = of_protocol(Interpreter(Table()).look((*rows, *done)))
    first, other = ledger.events()

    assert [ledger.visible(e) for e in (first, other)] == list(rows)
    assert [bool(ledger.shows(e)) for e in (first, other)] == [n > 0 for n in rows]
    assert [ledger.promised(e) for e in (first, other)] == list(done)
    assert [ledger.rejected(e) for e in (first, other)] == [
        d and n == 0 for d, n in zip(done, rows, strict=True)
    ]
    assert ledger.together(first, first)
    assert not ledger.together(first, other)
    assert ledger.accepted(first)
    assert ledger.unexplained() == 0


WEAK = ("refuted", "undecided", "vacuous", "held", "bounded", "exhausted", "proved")


@given(st.lists(st.sampled_from(WEAK), max_size=4))
def test_the_weakest_verdict_counts_and_the_exit_status_follows(reported):
    """Nothing is better than its weakest part, and nothing at all is vacuous."""
    verdicts = [Verdict(v) for v in reported]

    expected = min(reported, key=WEAK.index, default="vacuous")
    assert weakest(verdicts) == expected
    status = (
        1
        if "refuted" in reported
        else 2
        if {"undecided", "vacuous"} & {*reported}
        else 0
    )
    assert exit_status(verdicts) == (status if reported else 2)
    assert isinstance(NAMED["durable"], Property)
