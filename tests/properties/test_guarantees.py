"""Each guarantee is broken by the histories that break it, and by no others."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from onceproof.properties.guarantees import GUARANTEES
from onceproof.properties.judges.by_history import broken
from onceproof.properties.ledger import EventOutcome, History, Row

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


def as_a_batch_run(events, strays, rested):
    wrong = any(outcomes[2][1] != int(accepted) for _, accepted, outcomes in events)
    return 2 if wrong or strays[2] else None


PLAIN = {
    "at-most-once": at_most_once,
    "at-least-once": at_least_once,
    "atomic-visibility": whole,
    "durable": durable,
    "recoverable": recovered,
    "agreement": agree,
    "batch-equivalence": as_a_batch_run,
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
