"""Interleavings: one of each class, sound and counted."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceproof.model.errors import ModelError, UsageError
from onceproof.model.interleavings.canonical_form import normal
from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.language import (
    Member,
    Part,
    Protocol,
    Sort,
    action,
    fault,
    if_else,
    not_,
    observe,
    one_of,
    part,
    state,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.model.protocols.parts.sinks.staged import Staged
from onceproof.model.traces import Trace, follow

if TYPE_CHECKING:
    from onceproof.model.interleavings.interleaving import Interleavings


class Writers(Protocol):
    """Each of some writers writes once; one crash may hit in between."""

    W = Sort("writer", size=3)
    done = state(False, per=W)

    @action(per=W)
    def write(self, w: Member) -> None:
        """Write."""
        when(not_(self.done[w]))
        self.done[w] = True

    @fault
    def crash(self) -> None:
        """Change nothing but the budget."""


class Chooser(Protocol):
    """Chooses in memory what it then writes; starts from either of two."""

    old = state(one_of(0, 1), high=1)
    choice = state(0, high=2, volatile=True)
    kept = state(0, high=2)

    @action
    def choose_one(self) -> None:
        """Choose."""
        when(self.choice == 0)
        self.choice = 1

    @action
    def choose_two(self) -> None:
        """Choose otherwise."""
        when(self.choice == 0)
        self.choice = 2

    @action
    def write(self) -> None:
        """Write what was chosen."""
        when(self.choice > 0, self.kept == 0)
        self.kept = self.choice

    @fault
    def crash(self) -> None:
        """Forget the choice."""
        self.lose_volatile()


class Lamp(Protocol):
    """Is switched on and off for ever."""

    on = state(False)

    @action
    def switch(self) -> None:
        """Change."""
        self.on = not_(self.on)


def test_steps_that_commute_make_one_class():
    """A fault that commutes with every write has no place among them."""
    found = interleavings(Writers())

    sizes = [one.size for one in found.classes]

    assert sizes == [24]


@given(
    st.lists(st.integers(0, 5), max_size=9),
    st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5))),
)
def test_words_that_differ_by_what_commutes_have_one_normal_form(word, dependent):
    """It takes, at each step, the least event that nothing left must precede."""
    apart = dependent | {(b, a) for a, b in dependent}
    left, first = list(word), []
    while left:
        free = [
            i
            for i, e in enumerate(left)
            if not any((f, e) in apart or f == e for f in left[:i])
        ]
        first.append(left.pop(min(free, key=lambda i: left[i])))

    made = normal(tuple(word), apart)

    assert made == tuple(first)
    for i, (a, b) in enumerate(itertools.pairwise(word)):
        if a != b and (a, b) not in apart:
            other = (*word[:i], b, a, *word[i + 2 :])
            assert normal(other, apart) == made


def test_every_representative_runs_in_plain_python():
    """A representative is a run of the reference, from start to rest."""
    protocol = MicroBatch(sink=Append)
    reference = Interpreter(protocol)

    found = interleavings(protocol)

    for one in found.classes:
        again = follow(reference, one.trace.start, one.trace.events)
        assert again == one.trace
        assert reference.resting(again.states[-1])
        assert one.faults


def test_each_durable_state_is_struck_by_some_class():
    """The classes cover every durable state that a fault can hit."""
    found = interleavings(MicroBatch(sink=Append))

    covered = found.covered({one.number for one in found.classes})

    assert covered == len(found.durable_states) == 9


def test_more_faults_make_more_classes():
    """Two faults hit pairs of durable states."""
    one = interleavings(MicroBatch(sink=Append, faults=1))
    two = interleavings(MicroBatch(sink=Append, faults=2))

    numbers = (len(one.classes), len(two.classes))

    assert numbers[1] > 3 * numbers[0]


def test_a_protocol_that_never_rests_is_refused():
    """Runs without end cannot be listed."""
    with pytest.raises(UsageError, match="go round for ever"):
        interleavings(Lamp())


def test_what_was_chosen_in_memory_and_where_it_began_tell_classes_apart():
    """One word of durable steps can hit, and leave, several durable states."""
    found = interleavings(Chooser())

    ends = [
        (
            one.trace.start[0],
            str(one.trace.events[one.word[0]]),
            one.trace.states[-1][2],
        )
        for one in found.classes
    ]

    writes_first = [(old, "write()", kept) for old in (0, 1) for kept in (1, 2)]
    crashes_first = [(old, "crash()", kept) for old in (0, 1) for kept in (1, 2)]
    assert sorted(ends) == sorted(writes_first + crashes_first)


class Flusher(Protocol):
    """Its crash flushes what was in memory, and it then writes over that."""

    asked = state(False, volatile=True)
    file = state(0, high=2)

    @action
    def ask(self) -> None:
        """Have something in memory."""
        self.asked = True

    @action
    def write(self) -> None:
        """Write over what is there."""
        when(self.asked)
        self.file = 2

    @fault
    def crash(self) -> None:
        """Leave half of what was in memory, if there was something."""
        self.file = if_else(self.asked, 1, self.file)
        self.lose_volatile()


def test_what_a_crash_leaves_tells_classes_apart():
    """That a crash left half a file is seen, though the file is whole at last."""
    found = interleavings(Flusher())

    looks = {
        (one.trace.states[at][1], one.trace.states[at + 1][1])
        for one in found.classes
        for at in one.faults
    }

    assert looks == {(0, 0), (0, 1), (2, 1)}
    assert all(one.trace.states[-1][1] == 2 for one in found.classes)


class Eraser(Chooser):
    """Starts from one; its crash erases what was chosen and written."""

    old = state(0, high=1)

    @fault
    def crash(self) -> None:
        """Lose the file, too."""
        when(self.kept > 0)
        self.kept = 0
        self.lose_volatile()


def test_what_a_crash_finds_tells_classes_apart():
    """It leaves the same, and the runs end alike: who looked before saw one or two."""
    found = interleavings(Eraser())

    hits = sorted(one.trace.states[one.faults[0]][2] for one in found.classes)

    assert hits == [1, 1, 2, 2]


class Forgetful(Protocol):
    """Writes once what it remembers; a crash makes it forget."""

    knows = state(False, volatile=True)
    done = state(False)

    @action
    def learn(self) -> None:
        """Learn what there is to write."""
        self.knows = True

    @action
    def write(self) -> None:
        """Write it."""
        when(self.knows)
        self.done = True

    @fault
    def crash(self) -> None:
        """Forget."""
        self.lose_volatile()


def test_how_many_faults_are_left_is_no_part_of_a_durable_state():
    """A crash finds it done, or not: before another crash or after it."""
    found = interleavings(Forgetful(faults=2))

    assert len(found.durable_states) == 2


@pytest.mark.parametrize("sink", [Append, Staged])
def test_crashes_of_one_class_strike_the_same_durable_states(sink):
    """Random runs and the runs that stand for them are hit at the same states."""
    protocol = MicroBatch(sink=sink, faults=2, BATCH=1)
    found = interleavings(protocol)
    reference = Interpreter(protocol)
    known = {hit(found, one.trace) for one in found.classes}
    dice = random.Random(5)

    walks = [walk(reference, dice) for _ in range(200)]

    assert len({hit(found, w) for w in walks}) > 10
    assert {hit(found, w) for w in walks if any(e.fault for e in w.events)} <= known


def walk(reference: Interpreter, dice: random.Random) -> Trace:
    """Take steps at random until rest."""
    now = start = next(iter(reference.initial_states()))
    steps = []
    while not reference.resting(now):
        event, now = dice.choice(list(reference.successors(now)))
        steps.append((event, now))
    return Trace(start, tuple(steps))


def hit(found: Interleavings, trace: Trace) -> tuple[tuple[int, ...], ...]:
    """List what each crash of a run hit and where it came to rest, under all names.

    Together, since a renaming is of a run as a whole.
    """
    states = [
        state
        for state, event in zip(trace.states, trace.events, strict=False)
        if event.name in found.crashes
    ]
    alike = [
        found.durable.alike(found.durable.of(s)) for s in (*states, trace.states[-1])
    ]
    return min(zip(*alike, strict=True))


class Watched(Part):
    """Has memory that an observation of its own reads."""

    lost = state(False, volatile=True)

    @observe
    def seen(self) -> object:
        """Show what is in memory."""
        return self.lost


class OfParts(Protocol):
    """Has such a part."""

    inside = part(Watched)

    @action
    def show(self) -> None:
        """Show it."""
        self.inside.lost = True

    @fault
    def crash(self) -> None:
        """Forget it."""
        self.lose_volatile()


def test_an_observation_of_a_part_is_refused():
    """It would be read by nobody, and what it reads would not count as durable."""
    with pytest.raises(ModelError, match=r"inside\.seen is an observation of a part"):
        interleavings(OfParts())
