"""An operator that logs the numbers of the records that it has applied."""

from __future__ import annotations

from typing import NamedTuple

from onceproof.model.language import *
from onceproof.model.protocols.parts.records.effects import Adds
from onceproof.model.protocols.parts.records.log_collection import CollectsAfterRetries
from onceproof.model.protocols.parts.records.number_logs import LogInOneWrite
from onceproof.model.protocols.parts.records.productions import (
    NUMBER,
    E,
    StrongProductions,
)


class NumberedRecord(NamedTuple):
    """A record on its way, or the acknowledgement of one."""

    event: int
    """The event that it is made from."""
    number: int
    """The number that its sender gave it."""


class DeduplicationLog(Protocol):
    """Records are repeated until acknowledged, and filtered by a log. MillWheel, 2013.

    Akidau et al., Fault-Tolerant Stream Processing at Internet Scale, VLDB. The
    receiver applies a record and logs its number in one write to its row, and then
    acknowledges it. It drops a record that its log has, and acknowledges it again. The
    log is collected, since it would grow forever.
    """

    role = "receiver"

    E = E
    NUMBER = NUMBER
    losses = param(1, "records that are lost, and acknowledgements")
    repeats = param(1, "records that arrive again")
    restarts = param(1, "how often the sender restarts")

    productions = part(StrongProductions)
    collection = part(CollectsAfterRetries)
    log = part(LogInOneWrite)
    effect = part(Adds)

    delivery = network(
        NumberedRecord(0, 0),
        high={"event": E, "number": NUMBER},
        losses=losses,
        repeats=repeats,
        copies=2,
    )
    reply = network(
        NumberedRecord(0, 0), high={"event": E, "number": NUMBER}, losses=losses
    )
    unanswered = state(False, per=(E, NUMBER), volatile=True)
    acknowledged = state(False, per=E)
    counted = state(0, high=2, per=E)

    @action(per=E, by="sender")
    def produce(self, e: Member) -> None:
        """The sender makes its record from an event."""
        when(not_(self.productions.ready[e]), not_(self.acknowledged[e]))
        self.productions.ready[e] = True

    @action(per=E, by="sender")
    def send(self, e: Member) -> None:
        """The sender sends a record that is not acknowledged, or sends it again."""
        record = NumberedRecord(e, self.productions.number[e])
        when(
            self.productions.ready[e],
            not_(self.acknowledged[e]),
            not_(self.delivery.only.holds(record)),
        )
        self.delivery.only.send(record)

    @action(per=(E, NUMBER))
    def apply(self, e: Member, n: Member) -> None:
        """The receiver applies a record, and is about to acknowledge it."""
        when(self.delivery.only.holds(NumberedRecord(e, n)), not_(self.log.has[e, n]))
        self.delivery.only.receive(NumberedRecord(e, n))
        self.log.add(e, n)
        self.counted[e] = self.effect.applied(self.counted[e])
        self.unanswered[e, n] = True

    @action(per=(E, NUMBER))
    def acknowledge(self, e: Member, n: Member) -> None:
        """The receiver acknowledges a record that it has."""
        when(self.unanswered[e, n])
        self.unanswered[e, n] = False
        self.reply.only.send(NumberedRecord(e, n))

    @action(per=(E, NUMBER))
    def drop(self, e: Member, n: Member) -> None:
        """The receiver drops a record that its log has, to acknowledge it again."""
        when(self.delivery.only.holds(NumberedRecord(e, n)), self.log.has[e, n])
        self.delivery.only.receive(NumberedRecord(e, n))
        self.unanswered[e, n] = True

    @action(per=(E, NUMBER), by="sender")
    def hear(self, e: Member, n: Member) -> None:
        """The sender hears of a record, and sends it no more."""
        when(self.reply.only.holds(NumberedRecord(e, n)))
        self.reply.only.receive(NumberedRecord(e, n))
        self.acknowledged[e] = any_of(
            self.acknowledged[e], self.productions.number[e] == n
        )

    @action(per=(E, NUMBER))
    def collect(self, e: Member, n: Member) -> None:
        """The receiver forgets that it has seen a record."""
        when(
            self.log.has[e, n],
            self.collection.may_forget(
                self.acknowledged[e], self.delivery.only.holds(NumberedRecord(e, n))
            ),
        )
        self.log.has[e, n] = False

    @fault(at_most=restarts, by="sender")
    def sender_restarts(self) -> None:
        """The sender goes on with what it saved."""
        when(any_of(self.productions.ready[e] for e in self.E))
        self.productions.restart()

    @fault
    def receiver_dies(self) -> None:
        """The receiver goes on with its row, and forgets what it had to acknowledge."""
        when(any_of(self.unanswered[e, n] for e in self.E for n in self.NUMBER))
        self.lose_volatile()

    @step
    def recovers_locally(self, after: DeduplicationLog) -> bool:
        """Nobody goes back when another fails: what is applied or heard stays so."""
        return all_of(
            all_of(
                implies(self.acknowledged[e], after.acknowledged[e]),
                self.counted[e] <= after.counted[e],
            )
            for e in self.E
        )

    @observe(per=E)
    def visible(self, e: Member) -> int:
        """Readers see the state of the receiver."""
        return self.counted[e]

    @observe(per=E)
    def accepted(self, e: Member) -> bool:
        """The sender owes every event."""
        return True

    @observe(per=E)
    def promised(self, e: Member) -> bool:
        """The sender has the acknowledgement."""
        return self.acknowledged[e]

    @sometimes
    def filters(self) -> bool:
        """A record can come again to a receiver that has applied it."""
        return any_of(
            all_of(self.log.has[e, n], self.delivery.only.holds(NumberedRecord(e, n)))
            for e in self.E
            for n in self.NUMBER
        )

    @sometimes
    def collects_all(self) -> bool:
        """Every record can be acknowledged, with nothing left in the log."""
        return all_of(
            all_of(self.acknowledged[e] for e in self.E),
            all_of(not_(self.log.has[e, n]) for e in self.E for n in self.NUMBER),
        )
