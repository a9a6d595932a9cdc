"""What channels, timers, epochs and processes do, step by step, worked out by hand."""

from __future__ import annotations

from enum import Enum

import pytest

from onceproof.model.language import (
    Protocol,
    Sort,
    action,
    channels,
    epochs,
    processes,
    state,
    timers,
    when,
)
from onceproof.model.language.interpreter import Interpreter


class Word(Enum):
    """What a message says."""

    NONE = "none"
    FIRST = "first"
    SECOND = "second"


class Parts(Protocol):
    """One of each part, and an action for each thing that it can do."""

    P = Sort("process", size=2)

    proc = processes(P, crashes=1, stops=1)
    kept = state(False, per=P)
    lost = state(False, per=P, volatile=True)
    timer = timers(P, volatile=False)
    epoch = epochs(P, high=2)
    link = channels(Word.NONE, per=P, length=2, overtakings=1)
    equal = state(0, per=P, high=2)

    @action(per=P)
    def note(self, p):
        """Note a step, durably and not."""
        when(self.proc.up(p))
        self.kept[p] = True
        self.lost[p] = True

    @action(per=P)
    def restart(self, p):
        """Run again."""
        self.proc.restart(p)

    @action(per=P)
    def start(self, p):
        """Let the timer run."""
        self.timer.start(p)

    @action(per=P)
    def fire(self, p):
        """Let the timer fire."""
        self.timer.fire(p)

    @action(per=P)
    def renew(self, p):
        """Begin an epoch."""
        self.epoch.next(p)

    @action(per=(P, P))
    def see(self, p, q):
        """Learn of another's epoch."""
        self.epoch.see(p, self.epoch.current(q))

    @action(per=(P, P))
    def admit(self, p, q):
        """Happen where the epoch of one is not out of date for the other."""
        when(self.epoch.admits(p, self.epoch.current(q)))
        self.kept[p] = True

    @action(per=P)
    def first(self, p):
        """Send a word."""
        self.link[p].send(Word.FIRST)

    @action(per=P)
    def second(self, p):
        """Send another."""
        self.link[p].send(Word.SECOND)

    @action
    def to_all(self):
        """Send a word to all at once."""
        self.link.send_where(lambda _: True, Word.FIRST)

    @action(per=P)
    def compare(self, p):
        """Count the first words, and the places that hold none."""
        self.equal[p] = self.link[p].holds(Word.NONE)


class Played:
    """A protocol in plain Python, after some steps."""

    def __init__(self, *steps):
        protocol = Parts(faults=2)
        self.plain = Interpreter(protocol)
        self.state = next(self.plain.initial_states())
        for name, *members in steps:
            self.do(name, *members)

    def event(self, name, *members):
        wanted = (name, members)
        events = ((e.name, e.members) for e in self.plain.events())
        assert wanted in events, f"{wanted} is no event"
        return next(e for e in self.plain.events() if (e.name, e.members) == wanted)

    def can(self, name, *members):
        return self.plain.after(self.state, self.event(name, *members)) is not None

    def do(self, name, *members):
        after = self.plain.after(self.state, self.event(name, *members))
        assert after is not None, f"{name}{members} cannot happen"
        self.state = after
        return self

    def __getattr__(self, name):
        return getattr(self.plain.look(self.state), name)


def words(played, p):
    return [m.value for there, m in played.link[p].messages() if there]


def test_a_crash_loses_what_is_volatile_of_one_process():
    """What is durable stays, and the other process keeps all."""
    played = Played(("note", 0), ("note", 1), ("proc.crash", 0))

    assert (played.kept[0], played.lost[0]) == (True, False)
    assert (played.kept[1], played.lost[1]) == (True, True)


@pytest.mark.parametrize(("fall", "restarts"), [("crash", True), ("stop", False)])
def test_a_process_that_crashed_restarts_and_one_that_stopped_does_not(fall, restarts):
    """Neither acts while it is down."""
    played = Played((f"proc.{fall}", 0))

    assert not played.can("note", 0)
    assert played.can("restart", 0) is restarts
    assert not played.can("restart", 1)


def test_a_timer_fires_once_and_only_while_it_runs():
    """It is started again to fire again."""
    played = Played()
    assert not played.can("fire", 0)

    played.do("start", 0)
    assert played.can("fire", 0)
    assert not played.can("fire", 1)

    assert not played.do("fire", 0).can("fire", 0)


def test_an_epoch_grows_and_fences_off_who_is_behind():
    """Who holds the current one is admitted; an older one is not taken over."""
    played = Played(("renew", 0))
    assert [played.epoch.current(p) for p in (0, 1)] == [1, 0]

    assert played.can("admit", 0, 0)
    assert not played.can("admit", 0, 1)
    assert played.can("admit", 1, 0)

    assert played.do("see", 0, 1).epoch.current(0) == 1
    assert played.do("see", 1, 0).epoch.current(1) == 1
    assert not played.do("renew", 0).can("renew", 0)


def test_a_channel_gives_the_words_in_the_order_of_sending():
    """One that overtakes changes places with the one before it."""
    played = Played(("first", 0), ("second", 0))
    assert words(played, 0) == ["first", "second"]

    overtaken = next(
        e
        for e in played.plain.events()
        if e.fault
        and e.name.startswith("link.")
        and e.members[0] == 0
        and played.can(e.name, *e.members)
    )
    played.do(overtaken.name, *overtaken.members)

    assert words(played, 0) == ["second", "first"]


def test_who_sends_into_a_full_channel_waits():
    """Who sends to all waits for each of them."""
    played = Played(("first", 0), ("first", 0))

    assert not played.can("second", 0)
    assert played.can("second", 1)
    assert not played.can("to_all")
    assert Played(("first", 0)).can("to_all")


def test_an_empty_place_holds_no_message():
    """Not even one that is equal to what stands in empty places."""
    assert Played(("first", 0), ("compare", 0)).equal[0] == 0
