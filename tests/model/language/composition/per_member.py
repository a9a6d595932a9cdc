"""Protocols with a part per member, and the same with every index written by hand."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

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
    fault,
    if_else,
    min_of,
    not_,
    observe,
    part,
    state,
    when,
)

FILES = 2


class Phase(Enum):
    """What a driver does with a batch."""

    IDLE = "idle"
    LISTED = "listed"
    LOGGED = "logged"
    STOPPED = "stopped"


class Driver(Part):
    """The driver of a streaming query, and what it knows of its input."""

    BATCH = Sort("batch", size=2, ordered=True)

    phase = state(Phase.IDLE)
    batch = state(0, high=BATCH)
    start = state(0, high=FILES)
    end = state(0, high=FILES)

    def list_files(self, arrived: int) -> None:
        """List the files that have arrived: those that are new make a batch."""
        when(self.phase == Phase.IDLE, self.end < arrived)
        self.end = arrived
        self.phase = Phase.LISTED

    def finish(self) -> None:
        """Go on with the next batch, from where this one ends."""
        when(self.batch < 2)
        self.batch = self.batch + 1
        self.start = self.end
        self.phase = Phase.IDLE

    @fault(at_most=1)
    def die(self) -> None:
        """The driver dies, and is not started again."""
        when(self.phase != Phase.STOPPED)
        self.phase = Phase.STOPPED

    @always
    def starts_before_its_end(self) -> bool:
        """A batch begins before it ends."""
        return self.start <= self.end


class SharedCheckpoint(Protocol):
    """Two drivers of one query run on one checkpoint. SPARK-26425.

    Who finds a batch in the log that is not its own goes on all the same, with files
    of its own.
    """

    D = Sort("driver", size=2)
    BATCH = Driver.BATCH
    FILE = Sort("file", size=FILES, ordered=True)

    drivers = part(Driver, per=D)
    arrived = state(0, high=FILES)
    log = state(0, per=BATCH, high=FILES)
    done = state(False, per=BATCH)
    rows = state(0, per=FILE, high=2)

    @action
    def arrive(self) -> None:
        """A file arrives."""
        when(self.arrived < FILES)
        self.arrived = self.arrived + 1

    @action(per=D)
    def plan(self, d: Member) -> None:
        """A driver lists the files."""
        self.drivers[d].list_files(self.arrived)

    @action(per=(D, BATCH))
    def write_log(self, d: Member, b: Member) -> None:
        """A driver writes the batch into the log, unless it is there."""
        driver = self.drivers[d]
        when(driver.phase == Phase.LISTED, driver.batch == b)
        self.log[b] = if_else(self.log[b] == 0, driver.end, self.log[b])
        driver.phase = Phase.LOGGED

    @action(per=(D, BATCH))
    def run_batch(self, d: Member, b: Member) -> None:
        """A driver runs the batch into a sink that takes each batch once."""
        driver = self.drivers[d]
        when(driver.phase == Phase.LOGGED, driver.batch == b)
        self.rows.where(
            lambda f: all_of(not_(self.done[b]), driver.start <= f, f < driver.end)
        ).set(lambda f: min_of(self.rows[f] + 1, 2))
        self.done[b] = True
        driver.finish()

    @observe(per=FILE)
    def visible(self, f: Member) -> int:
        """Readers see the rows of a file."""
        return self.rows[f]

    @observe(per=FILE)
    def accepted(self, f: Member) -> bool:
        """A file is owed once it has arrived."""
        return self.arrived > f


class OneOfThemStops(SharedCheckpoint):
    """Who finds a batch in the log that is not its own stops: the fix."""

    @action(per=(SharedCheckpoint.D, SharedCheckpoint.BATCH))
    def write_log(self, d: Member, b: Member) -> None:
        """A driver writes the batch into the log, or stops."""
        driver = self.drivers[d]
        when(driver.phase == Phase.LISTED, driver.batch == b)
        driver.phase = if_else(self.log[b] == 0, Phase.LOGGED, Phase.STOPPED)
        self.log[b] = if_else(self.log[b] == 0, driver.end, self.log[b])


class SharedByHand(Protocol):
    """The same with every index written by hand."""

    D = Sort("driver", size=2)
    BATCH = Driver.BATCH
    FILE = Sort("file", size=FILES, ordered=True)

    phase = state(Phase.IDLE, per=D)
    batch = state(0, high=BATCH, per=D)
    start = state(0, high=FILES, per=D)
    end = state(0, high=FILES, per=D)
    arrived = state(0, high=FILES)
    log = state(0, per=BATCH, high=FILES)
    done = state(False, per=BATCH)
    rows = state(0, per=FILE, high=2)

    @action
    def arrive(self) -> None:
        """A file arrives."""
        when(self.arrived < FILES)
        self.arrived = self.arrived + 1

    @action(per=D)
    def plan(self, d: Member) -> None:
        """A driver lists the files."""
        when(self.phase[d] == Phase.IDLE, self.end[d] < self.arrived)
        self.end[d] = self.arrived
        self.phase[d] = Phase.LISTED

    @action(per=(D, BATCH))
    def write_log(self, d: Member, b: Member) -> None:
        """A driver writes the batch into the log, unless it is there."""
        when(self.phase[d] == Phase.LISTED, self.batch[d] == b)
        self.log[b] = if_else(self.log[b] == 0, self.end[d], self.log[b])
        self.phase[d] = Phase.LOGGED

    @action(per=(D, BATCH))
    def run_batch(self, d: Member, b: Member) -> None:
        """A driver runs the batch into a sink that takes each batch once."""
        when(self.phase[d] == Phase.LOGGED, self.batch[d] == b, self.batch[d] < 2)
        self.rows.where(
            lambda f: all_of(not_(self.done[b]), self.start[d] <= f, f < self.end[d])
        ).set(lambda f: min_of(self.rows[f] + 1, 2))
        self.done[b] = True
        self.batch[d] = self.batch[d] + 1
        self.start[d] = self.end[d]
        self.phase[d] = Phase.IDLE

    @fault(per=D, at_most=1)
    def die(self, d: Member) -> None:
        """The driver dies, and is not started again."""
        when(self.phase[d] != Phase.STOPPED)
        self.phase[d] = Phase.STOPPED

    @observe(per=FILE)
    def visible(self, f: Member) -> int:
        """Readers see the rows of a file."""
        return self.rows[f]

    @observe(per=FILE)
    def accepted(self, f: Member) -> bool:
        """A file is owed once it has arrived."""
        return self.arrived > f


class Reply(NamedTuple):
    """What the coordinator answers."""

    granted: bool
    turn: int


class Client(Part):
    """A client asks, and waits for an answer, which may be lost."""

    inbox = channels(Reply(granted=False, turn=0), length=1, high=2, losses=1)
    waits = state(False, volatile=True)
    has = state(False)

    def ask(self) -> None:
        """Ask the coordinator."""
        when(not_(self.waits), not_(self.has))
        self.waits = True

    @action
    def take(self) -> None:
        """Take the answer."""
        reply = self.inbox.only.receive()
        self.has = reply.granted
        self.waits = False

    @fault(at_most=1)
    def crash(self) -> None:
        """The client forgets that it waits."""
        self.lose_volatile()


class Clients(Protocol):
    """Clients ask one coordinator for a lock, which it grants to one at a time."""

    C = Sort("client", size=2)

    clients = part(Client, per=C)
    asked = state(False, per=C)
    granted = state(False, per=C)
    turn = state(0, high=2)

    @action(per=C)
    def ask(self, c: Member) -> None:
        """A client asks."""
        self.clients[c].ask()
        self.asked[c] = True

    @action(per=C)
    def grant(self, c: Member) -> None:
        """The coordinator grants the lock if nobody has it, and answers anyhow."""
        when(self.asked[c])
        free = not_(any_of(self.granted[o] for o in self.C))
        turn = if_else(free, min_of(self.turn + 1, 2), self.turn)
        self.asked[c] = False
        self.granted[c] = any_of(self.granted[c], free)
        self.turn = turn
        self.clients[c].inbox.only.send(Reply(free, turn))

    @action(per=C)
    def give_back(self, c: Member) -> None:
        """A client gives the lock back."""
        when(self.clients[c].has)
        self.clients[c].has = False
        self.granted[c] = False

    @always(per=(C, C))
    def one_has_it(self, c: Member, o: Member) -> bool:
        """No two clients have the lock."""
        both = all_of(self.clients[c].has, self.clients[o].has)
        return any_of(c == o, not_(both))

    @at_rest
    def nobody_has_it(self) -> bool:
        """Whoever had it has given it back, unless the answer was lost."""
        return all_of(not_(self.granted[c]) for c in self.C)


class ClientsByHand(Protocol):
    """The same with every index written by hand."""

    C = Sort("client", size=2)

    inbox = channels(Reply(granted=False, turn=0), per=C, length=1, high=2, losses=1)
    waits = state(False, per=C)
    has = state(False, per=C)
    asked = state(False, per=C)
    granted = state(False, per=C)
    turn = state(0, high=2)

    @action(per=C)
    def ask(self, c: Member) -> None:
        """A client asks."""
        when(not_(self.waits[c]), not_(self.has[c]))
        self.waits[c] = True
        self.asked[c] = True

    @action(per=C)
    def grant(self, c: Member) -> None:
        """The coordinator grants the lock if nobody has it, and answers anyhow."""
        when(self.asked[c])
        free = not_(any_of(self.granted[o] for o in self.C))
        turn = if_else(free, min_of(self.turn + 1, 2), self.turn)
        self.asked[c] = False
        self.granted[c] = any_of(self.granted[c], free)
        self.turn = turn
        self.inbox[c].send(Reply(free, turn))

    @action(per=C)
    def give_back(self, c: Member) -> None:
        """A client gives the lock back."""
        when(self.has[c])
        self.has[c] = False
        self.granted[c] = False

    @action(per=C)
    def take(self, c: Member) -> None:
        """Take the answer."""
        reply = self.inbox[c].receive()
        self.has[c] = reply.granted
        self.waits[c] = False

    @fault(per=C, at_most=1)
    def crash(self, c: Member) -> None:
        """The client forgets that it waits."""
        self.waits[c] = False

    @always(per=(C, C))
    def one_has_it(self, c: Member, o: Member) -> bool:
        """No two clients have the lock."""
        both = all_of(self.has[c], self.has[o])
        return any_of(c == o, not_(both))

    @at_rest
    def nobody_has_it(self) -> bool:
        """Whoever had it has given it back, unless the answer was lost."""
        return all_of(not_(self.granted[c]) for c in self.C)
