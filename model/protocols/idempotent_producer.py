"""A producer that numbers what it sends, and a replicated log that drops repeats."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from onceproof.model.language import *
from onceproof.model.protocols.parts.transactions.sequences import (
    EPOCHS,
    M,
    Sequence,
)

MOST = 2


class Answer(Enum):
    """What the leader answers."""

    TAKEN = "taken"
    REFUSED = "refused"


class Request(NamedTuple):
    """A message under the epoch of its producer."""

    number: int
    """The number of the message."""
    epoch: int
    """The epoch of the producer that sent it."""


class Reply(NamedTuple):
    """An answer to a message."""

    answer: Answer
    """What the broker answers."""
    number: int
    """The number of the message that it answers."""


def one_more(times: int) -> int:
    """Count on, as far as it matters."""
    return min_of(times + 1, MOST)


class IdempotentProducer(Protocol):
    """Retries without duplicates, by numbers in the log. Kafka, KIP-98, 2017.

    Exactly Once Delivery and Transactional Messaging, idempotent producer. One message
    is under way at a time; it is sent again until it is acknowledged, which it is once
    a follower has it. Who is refused begins a new epoch, and numbers anew.
    """

    role = "leader"

    M = M
    losses = param(1, "requests that are lost, and replies")
    repeats = param(1, "requests that arrive again")
    restarts = param(0, "how often the producer forgets who it was")

    sequence = part(Sequence)

    request = network(
        Request(0, 0),
        high={"number": M, "epoch": EPOCHS},
        losses=losses,
        repeats=repeats,
        copies=2,
    )
    reply = network(Reply(Answer.TAKEN, 0), high={"number": M}, losses=losses)
    epoch = state(0, high=EPOCHS)
    acknowledged = state(False, per=M)

    pending = state(False, per=M, volatile=True)
    pending_epoch = state(0, high=EPOCHS, volatile=True)
    owed = state(False, per=M, volatile=True)
    log = state(0, high=MOST, per=M)
    copied = state(0, high=MOST, per=M)

    @action(per=M, by="producer")
    def send(self, m: Member) -> None:
        """The producer sends its first message that is not acknowledged, or again."""
        message = Request(m, self.epoch)
        when(
            not_(self.acknowledged[m]),
            all_of(implies(x < m, self.acknowledged[x]) for x in self.M),
            not_(self.request.only.holds(message)),
        )
        self.request.only.send(message)

    @action(per=M)
    def accept(self, m: Member) -> None:
        """The leader takes a message that is the next, and is about to write it."""
        self._accept(m, 0)

    @action(per=M)
    def accept_anew(self, m: Member) -> None:
        """The leader takes a message of a new epoch."""
        self._accept(m, 1)

    def _accept(self, m: Member, epoch: int) -> None:
        when(
            self.request.only.holds(Request(m, epoch)),
            self.sequence.follows(m, epoch),
            all_of(not_(self.pending[x]) for x in self.M),
        )
        self.request.only.receive(Request(m, epoch))
        self.pending[m] = True
        self.pending_epoch = epoch
        self.sequence.accept(m, epoch)

    @action(per=M)
    def persist(self, m: Member) -> None:
        """The message is written, and an answer is owed."""
        when(self.pending[m])
        self.pending[m] = False
        self.log[m] = one_more(self.log[m])
        self.sequence.persist(m, self.pending_epoch)
        self.owed[m] = True

    @fault(per=M)
    def fail_to_persist(self, m: Member) -> None:
        """The write fails, and no answer is given."""
        when(self.pending[m])
        self.pending[m] = False

    @action(per=M)
    def drop_repeat(self, m: Member) -> None:
        """The leader has the message, and answers once more."""
        self._answer_at_once(m, 0)

    @action(per=M)
    def drop_late_repeat(self, m: Member) -> None:
        """The leader has the message under the new epoch."""
        self._answer_at_once(m, 1)

    def _answer_at_once(self, m: Member, epoch: int) -> None:
        when(
            self.request.only.holds(Request(m, epoch)),
            self.sequence.repeats(m, epoch),
        )
        self.request.only.receive(Request(m, epoch))
        self.owed[m] = True

    @action(per=M)
    def refuse(self, m: Member) -> None:
        """The leader sees a gap in the numbers."""
        when(
            self.request.only.holds(Request(m, 0)),
            not_(self.sequence.follows(m, 0)),
            not_(self.sequence.repeats(m, 0)),
        )
        self.request.only.receive(Request(m, 0))
        self.reply.only.send(Reply(Answer.REFUSED, m))

    @action
    def replicate(self) -> None:
        """A follower copies the log."""
        self.copied.set(lambda m: self.log[m])
        self.sequence.replicate()

    @action(per=M)
    def acknowledge(self, m: Member) -> None:
        """What a follower has is answered for."""
        when(self.owed[m], self.copied[m] == self.log[m])
        self.owed[m] = False
        self.reply.only.send(Reply(Answer.TAKEN, m))

    @action(per=M, by="producer")
    def hear(self, m: Member) -> None:
        """The producer hears that a message is taken."""
        when(self.reply.only.holds(Reply(Answer.TAKEN, m)))
        self.reply.only.receive(Reply(Answer.TAKEN, m))
        self.acknowledged[m] = True

    @action(per=M, by="producer")
    def hear_refusal(self, m: Member) -> None:
        """The producer begins a new epoch."""
        when(self.reply.only.holds(Reply(Answer.REFUSED, m)))
        self.reply.only.receive(Reply(Answer.REFUSED, m))
        self.epoch = EPOCHS

    @fault
    def leader_dies(self) -> None:
        """The follower leads, with what it has copied."""
        self.lose_volatile()
        self.log.set(lambda m: self.copied[m])
        self.sequence.fail_over()

    @fault(at_most=restarts, by="producer")
    def producer_restarts(self) -> None:
        """The producer starts under a new identity, and sends what it knows unheard."""
        when(self.epoch == 0)
        self.epoch = EPOCHS

    @observe(per=M)
    def visible(self, m: Member) -> int:
        """Readers see what is replicated."""
        return self.copied[m]

    @observe(per=M)
    def accepted(self, m: Member) -> bool:
        """The producer is to deliver every message."""
        return True

    @observe(per=M)
    def promised(self, m: Member) -> bool:
        """The producer has received the acknowledgement of the message."""
        return self.acknowledged[m]

    @sometimes
    def sends_again_what_the_log_has(self) -> bool:
        """A message can come again to a leader that has it."""
        return any_of(
            all_of(self.log[m] > 0, self.request.only.holds(Request(m, self.epoch)))
            for m in self.M
        )

    @sometimes
    def delivers_all(self) -> bool:
        """Every message can be acknowledged."""
        return all_of(self.acknowledged[m] for m in self.M)


class IdempotentProducerRestarting(IdempotentProducer):
    """The same with a producer that restarts. Kafka, KIP-98, 2017.

    The guarantee is of one session: under a new identity what was sent and not heard
    of is sent again, and nobody can know.
    """

    breaks = ("at-most-once", "effectively-once")

    restarts = param(1, "how often the producer forgets who it was")
