"""A service that writes what it owes to others beside its own rows."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import *
from onceproof.model.protocols.parts.outbox.deduplication_tables import (
    DeduplicationTable,
    E,
)
from onceproof.model.protocols.parts.outbox.outbox_writes import OutboxInTransaction
from onceproof.model.protocols.parts.outbox.relays import PublishesFirst, Relay

MOST = 2


class Handling(Enum):
    """How far the consumer is with a message that it reads."""

    IDLE = "idle"
    NOTED = "noted"
    DONE = "done"
    AFTERWARDS = "afterwards"


class TransactionalOutbox(Protocol):
    """Messages leave by an outbox, and a table drops repeats. Richardson, 2018.

    Microservices Patterns, chapter 3: transactional outbox and idempotent consumer. A
    relay publishes what is in the outbox, and removes it. If it publishes first and
    dies between the two, it publishes again. The consumer notes the key of each message
    that it has handled, has the effect, and then acknowledges the message; an
    unacknowledged one comes again.
    """

    role = "consumer"

    E = E

    outbox = part(OutboxInTransaction)
    relay = part(Relay, default=PublishesFirst)
    table = part(DeduplicationTable)

    row = state(False, per=E)
    queue = state(0, high=MOST, per=E)
    handling = state(Handling.IDLE, per=E, volatile=True)
    effect = state(0, high=MOST, per=E)

    @action(per=E, by="service")
    def write_row(self, e: Member) -> None:
        """The service commits a row."""
        when(not_(self.row[e]))
        self.row[e] = True
        self.outbox.write(e)

    @action(per=E, by="relay")
    def publish(self, e: Member) -> None:
        """The relay publishes a message that is, or was, in the outbox."""
        when(self.relay.may_publish(e, self.outbox.waiting[e]), self.queue[e] < MOST)
        self.relay.publish(e)
        self.queue[e] = self.queue[e] + 1

    @action(per=E, by="relay")
    def remove(self, e: Member) -> None:
        """The relay removes the message from the outbox."""
        when(self.relay.may_remove(e, self.outbox.waiting[e]))
        self.relay.remove(e)
        self.outbox.waiting[e] = False

    @action(per=E)
    def read(self, e: Member) -> None:
        """The consumer reads a message that it does not know."""
        when(self.queue[e] > 0, not_(self.table.knows(e)), self._idle(e))
        self.table.before(e)
        self.handling[e] = Handling.NOTED

    @action(per=E)
    def skip(self, e: Member) -> None:
        """The consumer acknowledges a message that it has handled before."""
        when(self.queue[e] > 0, self.table.knows(e), self._idle(e))
        self.queue[e] = self.queue[e] - 1

    @action(per=E)
    def commit(self, e: Member) -> None:
        """The consumer's transaction commits."""
        when(self.handling[e] == Handling.NOTED)
        self.table.within(e)
        self.effect[e] = min_of(self.effect[e] + 1, MOST)
        self.handling[e] = Handling.DONE

    @action(per=E)
    def finish(self, e: Member) -> None:
        """The consumer does what is left after its transaction."""
        when(self.handling[e] == Handling.DONE)
        self.table.after(e)
        self.handling[e] = Handling.AFTERWARDS

    @action(per=E)
    def acknowledge(self, e: Member) -> None:
        """The consumer acknowledges the message."""
        when(self.handling[e] == Handling.AFTERWARDS, self.queue[e] > 0)
        self.handling[e] = Handling.IDLE
        self.queue[e] = self.queue[e] - 1

    @fault(by="relay")
    def relay_dies(self) -> None:
        """The relay forgets what it was about to do."""
        when(any_of(self.relay.held[e] for e in self.E))
        self.relay.held.fill(value=False)

    @fault
    def consumer_dies(self) -> None:
        """Messages that are not acknowledged come again."""
        when(any_of(not_(self._idle(e)) for e in self.E))
        self.handling.fill(Handling.IDLE)

    def _idle(self, e: Member) -> bool:
        return self.handling[e] == Handling.IDLE

    @observe(per=E)
    def visible(self, e: Member) -> int:
        """Readers see the effects of the consumer."""
        return self.effect[e]

    @observe(per=E)
    def accepted(self, e: Member) -> bool:
        """The service has committed the row."""
        return self.row[e]

    @observe(per=E)
    def promised(self, e: Member) -> bool:
        """The consumer has noted and acknowledged the message."""
        return all_of(
            self.row[e],
            self.table.seen[e],
            self.queue[e] == 0,
        )

    @sometimes
    def comes_again(self) -> bool:
        """A message can come again that the consumer has noted."""
        return any_of(
            all_of(self.table.seen[e], self.queue[e] > 0, self._idle(e)) for e in self.E
        )

    @sometimes
    def handles_all(self) -> bool:
        """Every row can have its effect, with nothing left to publish."""
        return all_of(
            all_of(self.effect[e] > 0, not_(self.outbox.waiting[e]), self.queue[e] == 0)
            for e in self.E
        )

    @lemma
    def knows_what_has_its_effect(self) -> bool:
        """The table has the key of each effect, and of no other message."""
        return all_of(
            all_of(
                implies(self.effect[e] > 0, self.table.seen[e]),
                implies(self.table.seen[e], self.effect[e] == 1),
            )
            for e in self.E
        )

    @lemma
    def handles_what_it_does_not_know(self) -> bool:
        """A message whose transaction is to commit is not in the table, until then."""
        return all_of(
            all_of(
                implies(self.handling[e] == Handling.NOTED, not_(self.table.seen[e])),
                any_of(
                    self._idle(e),
                    self.handling[e] == Handling.NOTED,
                    self.table.seen[e],
                ),
            )
            for e in self.E
        )

    @lemma
    def has_each_message_somewhere(self) -> bool:
        """A message is in the outbox, or on its way, until its key is in the table."""
        return all_of(
            implies(
                all_of(self.queue[e] == 0, any_of(self.row[e], self.relay.held[e])),
                any_of(
                    self.table.seen[e],
                    all_of(self.outbox.waiting[e], not_(self.relay.held[e])),
                ),
            )
            for e in self.E
        )
