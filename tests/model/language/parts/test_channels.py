"""Channels keep their order, and crashes lose what is volatile."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import pytest

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    channels,
    implies,
    not_,
    param,
    processes,
    state,
    step,
    when,
)
from onceproof.properties.judges.by_proof.judge import prove
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.verdicts import Verdict
from tests.model.test_readers_agree import compare_successors


class Kind(Enum):
    """What a message says."""

    BLANK = "blank"
    DATA = "data"


class Message(NamedTuple):
    """A numbered message."""

    kind: Kind
    number: int


class Numbers(Protocol):
    """Processes send each other the numbers 1 and 2, in order."""

    P = Sort("process")
    losses = param(0)
    repeats = param(0)
    overtakings = param(0)

    sent = state(0, per=(P, P), high=2)
    got = state(0, per=(P, P), high=2)
    link = channels(
        Message(Kind.BLANK, 0),
        per=(P, P),
        length=3,
        high={"number": 2},
        losses=losses,
        repeats=repeats,
        overtakings=overtakings,
    )

    @action(per=(P, P))
    def send(self, p: Member, q: Member) -> None:
        """Send the next number."""
        when(p != q, self.sent[p, q] < 2)
        self.sent[p, q] = self.sent[p, q] + 1
        self.link[p, q].send(Message(Kind.DATA, self.sent[p, q]))

    @action(per=(P, P))
    def receive(self, p: Member, q: Member) -> None:
        """Note the number that came."""
        self.got[p, q] = self.link[p, q].receive().number

    @step
    def in_order(self, after: Numbers) -> bool:
        """Numbers come one after the other."""
        return all_of(
            next_or_same(self.got[p, q], after.got[p, q])
            for p in self.P
            for q in self.P
        )

    @always
    def blank_behind(self) -> bool:
        """Places without a message are blank."""
        return all_of(
            implies(self.link[p, q].used <= i, message.kind == Kind.BLANK)
            for p in self.P
            for q in self.P
            for i, (_, message) in enumerate(self.link[p, q].messages())
        )


def next_or_same(before: int, after: int) -> bool:
    """Hold where a number stays as it is or grows by one."""
    return (before == after) | (before + 1 == after)


@pytest.mark.parametrize(
    ("faults", "verdict"),
    [
        ({}, Verdict.EXHAUSTED),
        ({"losses": 1}, Verdict.REFUTED),
        ({"repeats": 1}, Verdict.REFUTED),
        ({"overtakings": 1}, Verdict.REFUTED),
    ],
)
def test_order_is_kept_unless_a_fault_breaks_it(faults, verdict):
    """Search and z3 find the same, from the same trace length."""
    protocol = Numbers(**faults)

    found = check(protocol)
    bounded = prove(protocol, claims_of(protocol), depth=6)

    broken = {f.property.name: f for f in bounded.findings}["in-order"]
    assert found.verdicts["in-order"] is verdict
    assert found.verdicts["blank-behind"] is Verdict.EXHAUSTED
    assert (broken.verdict is Verdict.REFUTED) == (verdict is Verdict.REFUTED)


@pytest.mark.parametrize("faults", [{}, {"losses": 1}, {"overtakings": 1}])
def test_native_code_moves_messages_as_python_does(faults):
    """Every reachable state has the same successors in both."""
    compare_successors(Numbers(faults=2, **faults))


class Memory(Protocol):
    """Each process notes a step twice: once durably, once not."""

    P = Sort("process")
    crashes = param(1)

    proc = processes(P, crashes=crashes)
    durable = state(0, per=P, high=1)
    volatile = state(0, per=P, high=1, volatile=True)
    inbox = channels(Kind.BLANK, per=P, length=1, volatile=True)

    @action(per=P)
    def note(self, p: Member) -> None:
        """Note, and send to oneself."""
        when(self.proc.up(p), self.durable[p] == 0)
        self.durable[p] = 1
        self.volatile[p] = 1
        self.inbox[p].send(Kind.DATA)

    @action(per=P)
    def recover(self, p: Member) -> None:
        """Run again."""
        when(self.proc.down(p))
        self.proc.restart(p)

    @always
    def a_crash_loses_only_what_is_volatile(self) -> bool:
        """Of a process that is down, nothing volatile is left."""
        return all_of(
            implies(
                self.proc.down(p), all_of(self.volatile[p] == 0, self.inbox[p].empty)
            )
            for p in self.P
        )

    @always
    def others_keep_theirs(self) -> bool:
        """With one crash in all, one of two that noted still knows it."""
        return implies(
            all_of(self.durable[p] == 1 for p in self.P),
            any_known(self),
        )


def any_known(memory: Memory) -> bool:
    """Hold where some process knows its note."""
    return not_(all_of(memory.volatile[p] == 0 for p in memory.P))


def test_a_crash_clears_the_volatile_state_of_its_process():
    """Nothing is written by hand for it, and other processes keep theirs."""
    protocol = Memory()

    found = check(protocol)

    assert set(found.verdicts.values()) == {Verdict.EXHAUSTED}
    compare_successors(protocol)
