"""z3 and the search, of protocols composed of parts, against plain Python."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from onceproof.model.language import (
    Member,
    Part,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    at_rest,
    channels,
    epochs,
    fault,
    implies,
    network,
    not_,
    one_of,
    param,
    part,
    processes,
    sometimes,
    state,
    step,
    timers,
    when,
)
from onceproof.model.language.tracing.trace import trace
from onceproof.properties.judges.by_proof import confirm, prove
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.properties.plain import settled


class Note(NamedTuple):
    """What is sent."""

    urgent: bool


class Log(Part):
    """A log that its owner writes to, and that loses its tail."""

    most = param(2)

    written = state(0, high=most)
    synced = state(0, high=most)

    def append(self) -> None:
        """Write one more."""
        when(self.written < self.most)
        self.written = self.written + 1

    @action
    def sync(self) -> None:
        """What is written endures."""
        self.synced = self.written

    @fault
    def tear(self) -> None:
        """What was not synced is lost."""
        self.written = self.synced

    @always
    def ahead(self) -> bool:
        """The log is never behind what endures."""
        return self.synced <= self.written

    @step
    def grows(self, after: Log) -> bool:
        """Nothing that was written is lost, which is false."""
        return self.written <= after.written

    @step
    def endures(self, after: Log) -> bool:
        """Nothing that was synced is lost."""
        return self.synced <= after.synced


class EagerLog(Log):
    """A log that syncs as it writes."""

    def append(self) -> None:
        """Write one more, which endures at once."""
        when(self.written < self.most)
        self.written = self.written + 1
        self.synced = self.written


class Writers(Protocol):
    """Writers that share a log."""

    W = Sort("writer")

    log = part(Log)
    wrote = state(False, per=W)
    told = state(one_of(False, True))

    @action(per=W)
    def write(self, w: Member) -> None:
        """A writer writes once."""
        when(not_(self.wrote[w]))
        self.log.append()
        self.wrote[w] = True

    @always
    def nothing_unwritten(self) -> bool:
        """What is in the log someone wrote."""
        return implies(self.log.written > 0, any_of(self.wrote[w] for w in self.W))

    @at_rest
    def all_written(self) -> bool:
        """At rest all have written, unless the log is full."""
        return any_of(self.log.written == 2, all_of(self.wrote[w] for w in self.W))

    @at_rest
    def told_at_rest(self) -> bool:
        """At rest it is told, which is false where it never was."""
        return self.told


class Gossip(Protocol):
    """News through channels that lose, and a network that repeats."""

    P = Sort("peer")

    knows = state(False, per=P)
    heard = state(False, per=P)
    link = channels(Note(urgent=False), per=P, length=2, losses=1, overtakings=1)
    air = network(Note(urgent=False), per=P, copies=2, repeats=1)

    @action(per=(P, P))
    def send(self, p: Member, q: Member) -> None:
        """Whoever does not know it yet is told."""
        when(not_(p == q), not_(self.knows[q]))
        self.link[q].send(Note(urgent=self.knows[p]))
        self.knows[q] = True

    @action(per=P)
    def receive(self, p: Member) -> None:
        """A note is read, and passed on if it is urgent."""
        note = self.link[p].receive()
        self.heard[p] = any_of(note.urgent, self.heard[p])

    @action(per=P)
    def shout(self, p: Member) -> None:
        """Who has heard says so."""
        when(self.heard[p])
        self.air[p].send(Note(urgent=True))
        self.heard[p] = False

    @always
    def heard_by_those_who_know(self) -> bool:
        """Only who knows has heard."""
        return all_of(implies(self.heard[p], self.knows[p]) for p in self.P)

    @always
    def nothing_calm(self) -> bool:
        """Nothing in the air is calm."""
        return all_of(not_(self.air[p].holds(Note(urgent=False))) for p in self.P)

    @always
    def never_shouted(self) -> bool:
        """Nobody ever shouts, which is false for some sizes."""
        return all_of(not_(self.air[p].holds(Note(urgent=True))) for p in self.P)

    @sometimes
    def all_know(self) -> bool:
        """All can know it."""
        return all_of(self.knows[p] for p in self.P)


class Leases(Protocol):
    """Holders of a lease that runs out, with epochs and crashes."""

    H = Sort("holder")

    run = processes(H, crashes=1)
    lease = timers(H)
    term = epochs(H, high=2)
    holds = state(False, per=H, volatile=True)

    @action(per=H)
    def take(self, h: Member) -> None:
        """A lease is taken where none runs."""
        when(self.run.up(h), all_of(not_(self.lease.running(x)) for x in self.H))
        self.term.next(h)
        self.lease.start(h)
        self.holds[h] = True

    @action(per=H)
    def expire(self, h: Member) -> None:
        """A lease runs out, whoever thinks it holds it."""
        self.lease.fire(h)

    @action(per=H)
    def wake(self, h: Member) -> None:
        """A holder that crashed is back."""
        self.run.restart(h)

    @always
    def one_lease(self) -> bool:
        """One lease runs at a time."""
        return all_of(
            implies(all_of(self.lease.running(g), self.lease.running(h)), g == h)
            for g in self.H
            for h in self.H
        )

    @always
    def one_holder(self) -> bool:
        """One thinks that it holds the lease, which is false: it may have run out."""
        return all_of(
            implies(all_of(self.holds[g], self.holds[h]), g == h)
            for g in self.H
            for h in self.H
        )

    @step
    def terms_rise(self, after: Any) -> bool:
        """No term falls."""
        return all_of(self.term.current(h) <= after.term.current(h) for h in self.H)


CASES = (
    (Writers(), {"log.grows", "told-at-rest"}),
    (Writers(log=EagerLog), {"told-at-rest"}),
    (Gossip(), set()),
    (Leases(), {"one-holder"}),
)


@pytest.mark.parametrize(
    ("protocol", "refuted"), CASES, ids=["log", "eager-log", "gossip", "leases"]
)
def test_parts_are_judged_as_plain_python_judges_them(
    protocol: Any, refuted: set[str]
) -> None:
    """Of logs, channels, networks, processes, timers and epochs the same holds."""
    known = settled(protocol, most=20_000)
    assert known is not None

    proved, searched = prove(protocol, depth=3), check(protocol)

    for one, other in zip(proved.findings, searched.findings, strict=True):
        name = one.property.name
        expected = {"holds": "exhausted"}.get(known[name], known[name])
        assert str(other.verdict) == expected, name
        if one.verdict is not Verdict.UNDECIDED:
            assert one.verdict.holds == (known[name] == "holds"), (name, one.note)
            assert (one.verdict is Verdict.REFUTED) == (known[name] == "refuted"), name
    named = {name for name, what in known.items() if what == "refuted"}
    assert refuted <= named


def test_a_proof_is_confirmed_with_the_parts_and_numbers_that_it_is_of() -> None:
    """At other sizes the protocol is the same: its parts, their numbers, its faults."""
    protocol = Writers(log=EagerLog(most=1), faults=2, W=2)

    found = list(confirm._resized(trace(protocol)))

    assert [p.sizes[Writers.W] for p in found] == [1, 3]
    assert {type(p.parts["log"]) for p in found} == {EagerLog}
    assert {p.parts["log"].argument(Log.most) for p in found} == {1}
    assert {p.faults for p in found} == {2}


class Fussy(Protocol):
    """A protocol that cannot be made anew from its parameters."""

    T = Sort("thing")

    lit = state(False, per=T)

    def __init__(self, things: int, *, safe: bool) -> None:
        """Take the number by position, and a word besides."""
        super().__init__(T=things if safe else 1)

    @action(per=T)
    def light(self, t: Member) -> None:
        """A thing is lit."""
        when(not_(self.lit[t]))
        self.lit[t] = True

    @step
    def stays_lit(self, after: Any) -> bool:
        """What is lit stays lit."""
        return all_of(implies(self.lit[t], after.lit[t]) for t in self.T)


def test_what_cannot_be_made_at_other_sizes_is_confirmed_at_its_own() -> None:
    """What it does as it is made may depend on sizes, so it is proved for these."""
    found = prove(Fussy(2, safe=True)).findings[0]

    assert found.verdict is Verdict.EXHAUSTED
    assert "not for every size" in found.note
    assert found.confirmed == "confirmed by search at T=2 (4 states)"


class Quorum(Protocol):
    """In clusters of seven or more, two may lead."""

    N = Sort("node", size=3)

    leads = state(False, per=N)

    @property
    def large(self) -> bool:
        """Whether there are seven nodes or more."""
        return self.size_of(self.N.sort) > 6

    @action(per=N)
    def elect(self, n: Member) -> None:
        """A node begins to lead, if none does or the cluster is large."""
        nobody = all_of(not_(self.leads[m]) for m in self.N)
        when(True if self.large else nobody)
        self.leads[n] = True

    @always
    def one_leads(self) -> bool:
        """Never do two lead."""
        both = (
            implies(all_of([self.leads[a], self.leads[b]]), a == b)
            for a in self.N
            for b in self.N
        )
        return all_of(both)


class Counted(Quorum):
    """Finds out its size as it is made."""

    def __init__(self, **given: Any) -> None:
        """Keep whether the cluster is large."""
        super().__init__(**given)
        self.is_large = self.sizes[Quorum.N] > 6

    @property
    def large(self) -> bool:
        """Whether there are seven nodes or more."""
        return self.is_large


@pytest.mark.parametrize("kind", [Quorum, Counted])
def test_what_depends_on_a_size_far_away_is_not_proved_for_every_size(
    kind: type[Protocol],
) -> None:
    """Whether it asks as it runs, or kept the answer when it was made."""
    [small] = prove(kind()).findings
    [large] = check(kind(N=7)).findings

    assert small.verdict is Verdict.EXHAUSTED
    assert large.verdict is Verdict.REFUTED
