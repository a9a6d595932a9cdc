"""A trace conforms exactly where some behaviour of the model explains it."""

from __future__ import annotations

import itertools
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onceproof.model.conformance.check import Conformer
from onceproof.model.conformance.observed import (
    Condition,
    ObservedEvent,
    ObservedKind,
    ObservedTrace,
    Silence,
)
from onceproof.model.errors import UsageError
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.library import make, protocols
from onceproof.model.protocols.micro_batch import Driver
from onceproof.model.protocols.two_phase_commit import TwoPhaseCommit

QUICK = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SMALL = (
    "two-phase-commit",
    "transaction-commit",
    "transactions",
    "idempotent-producer",
    "micro-batch",
)
LONG, SHORT, WALK = 3, 8, 12
ALL = settings(QUICK, max_examples=5)


@cache
def conformer(name):
    return Conformer(make(name, {}))


@cache
def interpreter(name):
    return Interpreter(make(name, {}))


@cache
def following(name, state):
    """Return the steps from a state that change it."""
    return [(e, s) for e, s in interpreter(name).successors(state) if s != state]


def walk(data, name, most=WALK):
    """Draw a behaviour: the events, and the states after them."""
    state = data.draw(st.sampled_from(list(interpreter(name).initial_states())))
    steps = []
    for _ in range(data.draw(st.integers(1, most))):
        options = following(name, state)
        if not options:
            break
        event, state = data.draw(st.sampled_from(options))
        steps.append((event, state))
    return steps


def step(event, holds=()):
    return ObservedEvent(ObservedKind.STEP, str(event), (event,), holds)


def silent(name, data):
    """Draw which steps leave no event."""
    names = sorted(interpreter(name).steps)
    return frozenset(data.draw(st.sets(st.sampled_from(names), max_size=len(names))))


def traced(observations, quiet=frozenset()):
    return ObservedTrace(tuple(observations), (Silence(quiet),) if quiet else ())


def words(name, quiet, length):
    """Enumerate what every behaviour shows of its first events."""
    found, seen = {()}, set()
    stack = [(state, ()) for state in interpreter(name).initial_states()]
    while stack:
        state, word = stack.pop()
        if (state, word) in seen:
            continue
        seen.add((state, word))
        found.add(word)
        for event, after in interpreter(name).successors(state):
            if event.name in quiet:
                stack.append((after, word))
            elif len(word) < length:
                stack.append((after, (*word, event)))
    return found


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.grid] * name.startswith("event-time"))
        for name in sorted(protocols())
    ],
)
@ALL
@given(data=st.data())
def test_every_behaviour_of_the_library_conforms(name, data):
    """Whatever its projection leaves out, if that is declared silent."""
    steps, quiet = walk(data, name, SHORT), silent(name, data)
    shown = [(e, s) for e, s in steps if e.name not in quiet]
    if not shown:
        return
    places = interpreter(name).places
    observations = []
    for event, state in shown:
        at = data.draw(st.integers(0, len(places) - 1))
        field, place = places[at]
        observations.append(step(event, (Condition(field.path, place, state[at]),)))

    found = conformer(name).check(traced(observations, quiet))

    assert found.conforms is True, found
    assert found.explained == len(observations)
    shown_again = [
        event
        for event, observed in zip(
            found.behaviour.trace.events, found.behaviour.observed, strict=True
        )
        if observed is not None
    ]
    assert shown_again == [event for event, _ in shown]


@pytest.mark.parametrize("name", SMALL)
@QUICK
@given(data=st.data())
def test_what_no_behaviour_shows_is_rejected_where_enumeration_ends(name, data):
    """A mutated trace is judged as by plain enumeration, and at the same event."""
    quiet = data.draw(st.sampled_from(quiet_sets(name)))
    known = enumerated(name, quiet)
    events = [e for e, _ in walk(data, name) if e.name not in quiet]
    every = [e for e in interpreter(name).events() if e.name not in quiet]
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(events)))
        events[at : at + data.draw(st.integers(0, 1))] = [
            data.draw(st.sampled_from(every))
        ]
    word = tuple(events[:LONG])
    if not word:
        return

    found = conformer(name).check(traced(map(step, word), quiet))

    longest = max(n for n in range(len(word) + 1) if word[:n] in known)
    assert found.conforms is (longest == len(word))
    assert found.explained == longest
    if found.divergence is not None:
        assert found.divergence.position == longest
        assert found.divergence.nearest
        assert all(miss.failed for miss in found.divergence.nearest)


@cache
def quiet_sets(name):
    names = sorted(interpreter(name).steps)
    return [frozenset(), frozenset(names[::2]), frozenset(names[1::2])]


@cache
def enumerated(name, quiet):
    return words(name, quiet, LONG)


@pytest.mark.parametrize("name", ["two-phase-commit", "transactions"])
@QUICK
@given(data=st.data())
def test_overlapping_calls_conform_as_some_order_of_them_does(name, data):
    """A call takes effect once before its return; without one, it may or may not."""
    known = enumerated(name, frozenset())
    every = list(interpreter(name).events())
    events = [e for e, _ in walk(data, name, LONG)][:LONG]
    if events and data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(events) - 1))
        events[at] = data.draw(st.sampled_from(every))
    if not events:
        return
    marks = [(n, end) for n in range(len(events)) for end in ("call", "return")]
    order = data.draw(st.permutations(marks))
    kept, called = [], set()
    for number, end in order:
        if end == "call":
            called.add(number)
            kept.append((number, end))
        elif number in called:
            kept.append((number, end))

    found = conformer(name).check(traced(map(observation(events), kept)))

    assert found.conforms is any(
        explains(kept, taken) and tuple(events[n] for n in taken) in known
        for size in range(len(events) + 1)
        for taken in itertools.permutations(range(len(events)), size)
    )


def observation(events):
    kinds = {"call": ObservedKind.CALL, "return": ObservedKind.RETURN}

    def made(mark):
        number, end = mark
        of = (events[number],) if end == "call" else ()
        return ObservedEvent(kinds[end], str(mark), of, (), str(number))

    return made


def explains(kept, taken):
    """Return whether some order of effects lies within the calls and their returns."""
    at = {mark: place for place, mark in enumerate(kept)}
    never = len(kept)
    calls = {n for n, end in kept if end == "call"}
    returned = {n for n, end in kept if end == "return"}
    if not returned <= set(taken) <= calls:
        return False
    earliest = -1
    for number in taken:
        earliest = max(earliest, at[number, "call"])
        if earliest > at.get((number, "return"), never):
            return False
    return True


def test_a_silent_step_is_taken_only_where_it_is_declared_silent():
    name = "two-phase-commit"
    learned = step(Event("rm_rcv_abort", (0,)))

    strict = conformer(name).check(traced([learned]))
    loose = conformer(name).check(traced([learned], frozenset({"tm_abort"})))

    assert strict.conforms is False
    assert strict.divergence.missing == (Event("tm_abort"),)
    assert loose.conforms is True


def test_the_failing_conjunct_is_named_with_what_the_state_holds():
    commit = Event("tm_commit")

    found = conformer("two-phase-commit").check(traced([step(commit)]))

    [miss] = found.divergence.nearest
    assert [str(part) for part in miss.failed] == [
        "prepared_seen[0], but prepared_seen[0] is False"
    ]
    assert all(part.of_guard for part in miss.failed)
    assert "two_phase_commit.py:" in miss.where


def test_an_effect_that_was_not_observed_is_named():
    name = "micro-batch"
    held = interpreter(name).places
    field, place = next((f, p) for f, p in held if f.path == "offsets")
    restart = Event("restart")
    log = step(Event("log_offsets", (0,)), (Condition(field.path, place, 2),))

    found = conformer(name).check(traced([step(restart), log]))

    [miss] = found.divergence.nearest
    assert found.divergence.position == 1
    assert [str(part) for part in miss.failed] == ["offsets == 2, but offsets is 1"]
    assert not miss.failed[0].of_guard


def test_one_event_too_many_is_said_to_be_the_only_one():
    restart, again = Event("restart"), Event("log_offsets", (0,))
    events = [restart, restart, again]

    found = conformer("micro-batch").check(traced(map(step, events)))

    assert found.divergence.position == 1
    assert found.divergence.rest


def test_a_check_that_ends_early_is_undecided():
    """It never says that a trace conforms, or does not."""
    protocol = make("micro-batch", {})
    quiet = frozenset(Interpreter(protocol).steps)
    seen = ObservedEvent(ObservedKind.STATE, "", (), (Condition("commits", (), 2),))

    found = Conformer(protocol, most_states=50).check(traced([seen], quiet))

    assert found.conforms is None
    assert found.divergence is None
    assert "more than 50 states" in found.undecided


def test_a_call_that_is_gone_takes_no_effect_any_more():
    restart = Event("restart")
    call = ObservedEvent(ObservedKind.CALL, "", (restart,), (), "r")
    gone = ObservedEvent(ObservedKind.GONE, "", (), (), "r")
    after = step(Event("log_offsets", (0,)))
    before = ObservedEvent(ObservedKind.STATE, "", (), (Condition("offsets", (), 0),))

    assert conformer("micro-batch").check(traced([call, after])).conforms
    assert conformer("micro-batch").check(traced([call, gone, after])).conforms
    down = Condition("driver", (), Driver.DOWN)
    at_first = ObservedEvent(ObservedKind.STATE, "", (), (down,))
    late = conformer("micro-batch").check(traced([call, gone, at_first, before, after]))
    assert late.conforms is False


def test_a_trace_without_events_is_refused():
    with pytest.raises(UsageError, match="holds no event"):
        conformer("micro-batch").check(traced([]))


def test_only_the_steps_that_are_missing_are_said_to_be():
    """Those of the trace before it are not among them."""
    everyone = range(
        interpreter("two-phase-commit").protocol.size_of(TwoPhaseCommit.RM)
    )
    *first, last = [Event("tm_rcv_prepared", (r,)) for r in everyone]
    votes = [Event("rm_prepare", (r,)) for r in everyone]

    found = conformer("two-phase-commit").check(
        traced(map(step, [*votes, *first, Event("tm_commit")]))
    )

    assert found.divergence.missing == (last,)
