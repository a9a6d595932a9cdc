"""Consume, transform and produce in transactions of a replicated log."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from onceproof.model.language import *
from onceproof.model.protocols.parts.transactions.coordinators import (
    EPOCH,
    Stage,
    TransactionCoordinator,
)
from onceproof.model.protocols.parts.transactions.local_stores import Store
from onceproof.model.protocols.parts.transactions.output_logs import E, OutputLog, plus
from onceproof.model.protocols.parts.transactions.readers import ReadCommitted


class Producer(Enum):
    """What the producer is doing."""

    DOWN = "down"
    RUNNING = "running"
    ASKING = "asking"
    ABORTING = "aborting"


class Write(NamedTuple):
    """A record of an ``event`` under an ``epoch``: ``twice`` if it was counted."""

    event: int
    epoch: int
    twice: bool


class Transactions(Protocol):
    """Input offsets, state and output commit as one. Kafka, KIP-98 and KIP-890.

    Exactly Once Delivery and Transactional Messaging, 2017; Transactions Server-Side
    Defense, 2023. Records carry what the local state counts. Readers see what is
    committed. A request may be delayed for as long as it likes.
    """

    role = "producer"

    E = E
    EPOCH = EPOCH
    expiries = param(1, "transactions that the coordinator ends for being too long")
    lost_outcomes = param(1, "answers to a commit that are lost")

    coordinator = part(TransactionCoordinator)
    log = part(OutputLog)
    local = part(Store)
    reader = part(ReadCommitted)

    request = network(
        Write(0, 0, twice=False), high={"event": E, "epoch": EPOCH}, copies=2
    )
    offset = state(0, high=E)
    ending_at = state(0, high=E)

    producer = state(Producer.DOWN, volatile=True)
    epoch = state(0, high=EPOCH, volatile=True)
    first = state(0, high=E, volatile=True)
    position = state(0, high=E, volatile=True)
    sent = state(False, per=E, volatile=True)
    heard = state(False, per=E, volatile=True)
    deaf = state(False, volatile=True)

    @action
    def start(self) -> None:
        """The producer starts: what was going on is aborted, and it is fenced."""
        when(
            self.producer == Producer.DOWN,
            self.offset <= self.E.last,
            self.coordinator.epoch < self.EPOCH.last,
            any_of(self._is(Stage.EMPTY), self._is(Stage.ONGOING)),
        )
        self.coordinator.phase = if_else(
            self._is(Stage.ONGOING), Stage.ABORTING, Stage.EMPTY
        )
        self.coordinator.fence()
        self.producer = Producer.ABORTING
        trusted = self.local.checkpoint
        self.local.count.where(lambda _: not_(trusted)).set(
            lambda e: self.log.committed[e]
        )

    @action
    def resume(self) -> None:
        """With nothing going on, it goes on from the committed offset."""
        when(self.producer == Producer.ABORTING, self._is(Stage.EMPTY))
        self.producer = Producer.RUNNING
        self.local.run()
        self._begin(self.offset)

    @action(per=E)
    def process(self, e: Member) -> None:
        """An event is counted in the local state."""
        when(self.producer == Producer.RUNNING, self.position == e, self._all_heard())
        self.local.count[e] = plus(self.local.count[e], 1)
        self.position = e + 1

    @action(per=E)
    def produce(self, e: Member) -> None:
        """The partition is added to the transaction, and the record is sent."""
        when(
            self.producer == Producer.RUNNING,
            self.first <= e,
            self.position == e + 1,
            not_(self.sent[e]),
            self.coordinator.epoch == self.epoch,
            any_of(self._is(Stage.EMPTY), self._is(Stage.ONGOING)),
        )
        self.coordinator.phase = Stage.ONGOING
        self.sent[e] = True
        self.request.only.send(Write(e, self.epoch, self.local.count[e] > 1))

    @action(per=(E, EPOCH), by="broker")
    def append(self, e: Member, p: Member) -> None:
        """A record arrives, and is let in."""
        self._append(e, p, twice=False)

    @action(per=(E, EPOCH), by="broker")
    def append_double(self, e: Member, p: Member) -> None:
        """A record arrives whose event has been counted twice, and is let in."""
        self._append(e, p, twice=True)

    def _append(self, e: Member, p: Member, *, twice: bool) -> None:
        record = Write(e, p, twice)
        when(self.request.only.holds(record), self._lets_in(p))
        self.request.only.receive(record)
        self.log.write(e, p, if_else(twice, 2, 1))
        mine = all_of(self.epoch == p, self.sent[e])
        self.heard[e] = any_of(self.heard[e], mine)

    @action(per=(E, EPOCH), by="broker")
    def turn_away(self, e: Member, p: Member) -> None:
        """A record arrives that is out of date."""
        when(
            any_of(
                self.request.only.holds(Write(e, p, twice=False)),
                self.request.only.holds(Write(e, p, twice=True)),
            ),
            not_(self._lets_in(p)),
        )
        self.request.only.clear(Write(e, p, twice=False))
        self.request.only.clear(Write(e, p, twice=True))

    @action
    def learn_it_is_fenced(self) -> None:
        """A producer whose epoch is out of date stops, and starts anew."""
        when(
            self.producer == Producer.RUNNING,
            not_(self.coordinator.epoch == self.epoch),
        )
        self._stop()

    @action
    def ask_to_commit(self) -> None:
        """The producer asks to commit; the coordinator writes down that it will."""
        when(
            self.producer == Producer.RUNNING,
            self.position > self.first,
            self._all_heard(),
            self.coordinator.epoch == self.epoch,
            self._is(Stage.ONGOING),
        )
        self.producer = Producer.ASKING
        self.coordinator.phase = Stage.COMMITTING
        self.coordinator.decided = self.epoch
        self.ending_at = self.position

    @action(by="transaction coordinator")
    def write_commit_markers(self) -> None:
        """Output and offsets become visible as one."""
        when(self._is(Stage.COMMITTING))
        self.log.committed.set(lambda e: plus(self.log.committed[e], self.log.open[e]))
        self.log.open.fill(0)
        self.offset = self.ending_at
        self.coordinator.end()

    @action(by="transaction coordinator")
    def write_abort_markers(self) -> None:
        """Readers pass over what was written."""
        when(self._is(Stage.ABORTING))
        self.reader.pass_over(lambda e: self.log.open[e])
        self.log.open.fill(0)
        self.coordinator.phase = Stage.EMPTY

    @action
    def hear_outcome(self) -> None:
        """The producer hears that the transaction is committed."""
        when(self.producer == Producer.ASKING, self._is(Stage.EMPTY), not_(self.deaf))
        self._go_on()

    @fault(at_most=lost_outcomes)
    def lose_outcome(self) -> None:
        """The answer is lost."""
        when(self.producer == Producer.ASKING, self._is(Stage.EMPTY), not_(self.deaf))
        self.deaf = True

    @action
    def ask_again(self) -> None:
        """The producer asks again, and the coordinator knows the transaction."""
        when(self.deaf, self._is(Stage.EMPTY), self.coordinator.remembers(self.epoch))
        self.deaf = False
        self._go_on()

    @action
    def ask_in_vain(self) -> None:
        """The coordinator knows of no such transaction: all is sent once more."""
        when(
            self.deaf,
            self._is(Stage.EMPTY),
            not_(self.coordinator.remembers(self.epoch)),
        )
        self.deaf = False
        self.producer = Producer.RUNNING
        self._begin(self.first)

    def _go_on(self) -> None:
        done = self.position > self.E.last
        self.producer = if_else(done, Producer.DOWN, Producer.RUNNING)
        self.local.checkpoint = any_of(self.local.checkpoint, done)
        self._begin(self.position)

    @fault
    def give_up(self) -> None:
        """A record takes too long: the producer aborts, and goes back."""
        when(
            self.producer == Producer.RUNNING,
            not_(self._all_heard()),
            self.coordinator.epoch == self.epoch,
            self._is(Stage.ONGOING),
        )
        self.coordinator.abort()
        self.producer = Producer.ABORTING
        self.local.count.set(lambda e: self.log.committed[e])

    @fault(at_most=expiries, by="transaction coordinator")
    def expire(self) -> None:
        """The coordinator ends a transaction that takes too long."""
        when(self._is(Stage.ONGOING), self.producer != Producer.ASKING)
        self.coordinator.expire()

    @fault
    def crash(self) -> None:
        """The producer dies; its local state stays on disk."""
        when(self.producer != Producer.DOWN)
        self._stop()

    def _stop(self) -> None:
        self.lose_volatile()

    def _begin(self, at: int) -> None:
        self.epoch = self.coordinator.epoch
        self.first = at
        self.position = at
        self.sent.fill(False)
        self.heard.fill(False)

    def _is(self, phase: Stage) -> bool:
        return self.coordinator.phase == phase

    def _lets_in(self, epoch: int) -> bool:
        return self.log.admits(epoch, self.coordinator.epoch, self.coordinator.phase)

    def _all_heard(self) -> bool:
        return all_of(
            implies(all_of(self.first <= e, e < self.position), self.heard[e])
            for e in self.E
        )

    @observe(per=E)
    def visible(self, e: Member) -> int:
        """Readers see the event counted so often."""
        return self.reader.shown(e, self.log.committed[e], self.log.open[e])

    @observe(per=E)
    def accepted(self, e: Member) -> bool:
        """The input holds every event."""
        return True

    @observe(per=E)
    def promised(self, e: Member) -> bool:
        """The committed offset has passed the event."""
        return self.offset > e

    @at_rest
    def leaves_nothing_open(self) -> bool:
        """At rest no record is in a transaction: readers can go on past all of them."""
        return all_of(self.log.open[e] == 0 for e in self.E)

    @sometimes
    def fences_a_record(self) -> bool:
        """A record can arrive under an epoch that is out of date."""
        return any_of(
            all_of(
                self.request.only.holds(Write(e, p, twice=False)),
                p < self.coordinator.epoch,
            )
            for e in self.E
            for p in self.EPOCH
        )

    @sometimes
    def commits_all(self) -> bool:
        """Every event can be committed."""
        return self.offset > self.E.last
