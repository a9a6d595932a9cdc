"""Violations of producers, transactions and their logs."""

from __future__ import annotations

from onceproof.model.language import Member, param, part
from onceproof.model.protocols.idempotent_producer import IdempotentProducer, Sequence
from onceproof.model.protocols.transactions import (
    OutputLog,
    Stage,
    Store,
    TransactionCoordinator,
    Transactions,
)
from tests.model.zoo.cases import case


class RecordedFirst(Sequence):
    """Records a number before the message is written."""

    def accept(self, m: Member, epoch: int) -> None:
        """Know the message already."""
        self.note(m, epoch)

    def persist(self, m: Member, epoch: int) -> None:
        """Know nothing new."""


class Pulsar5218(IdempotentProducer):
    """Pulsar #5218: the number is recorded, and the write fails.

    The retry is taken for a repeat, and acknowledged.
    """

    sequence = part(Sequence, default=RecordedFirst)


class KnowsTheNextAlone(Sequence):
    """Takes a message that it has for one out of order."""

    def repeats(self, m: Member, epoch: int) -> bool:
        """Recognise nothing but what is of an old epoch."""
        return epoch < self.known.epoch


class Redpanda3039(IdempotentProducer):
    """Redpanda #3039: the message is appended, and its acknowledgement is lost.

    The retry is out of order; the client begins a new epoch, and sends it as new.
    """

    sequence = part(Sequence, default=KnowsTheNextAlone)


class UnfencedExpiry(TransactionCoordinator):
    """Ends a transaction that takes too long under the same epoch."""

    def expire(self) -> None:
        """Tell nobody."""
        self.phase = Stage.ABORTING


class Kafka6119(Transactions):
    """KAFKA-6119: the coordinator expires the transaction of an unaware producer.

    Its next record begins another under the same epoch, and that is committed.
    """

    coordinator = part(TransactionCoordinator, default=UnfencedExpiry)


class EpochOfTheProducer(TransactionCoordinator):
    """Gives a new epoch to who starts and who is late, and to no transaction."""

    def abort(self) -> None:
        """Go on under the same epoch."""
        self.phase = Stage.ABORTING

    def end(self) -> None:
        """Go on under the same epoch."""
        self.phase = Stage.EMPTY


class Unverified(OutputLog):
    """Asks nobody whether a transaction goes on."""

    def admits(self, epoch: int, current: int, phase: Stage) -> bool:
        """Let in who is not fenced."""
        return epoch == current


class Kip890Hanging(Transactions):
    """KIP-890: a record is delayed past the abort of its transaction.

    It is let in under the same epoch, and becomes part of the next transaction.
    """

    coordinator = part(TransactionCoordinator, default=EpochOfTheProducer)
    log = part(OutputLog, default=Unverified)


class Kip890Late(Transactions):
    """KIP-890, with verification alone: the record comes when the next has begun."""

    coordinator = part(TransactionCoordinator, default=EpochOfTheProducer)


class KeptCheckpoint(Store):
    """Leaves the checkpoint file where it is."""

    def run(self) -> None:
        """Leave it there while the state moves on."""


class Kafka20685(Transactions):
    """KAFKA-20685: the checkpoint is left while the producer runs.

    Uncommitted state is on disk; after a crash the transaction is aborted, the
    checkpoint is trusted, and the input is counted again.
    """

    local = part(Store, default=KeptCheckpoint)


class Forgetful(TransactionCoordinator):
    """Removes what it knows of a transaction as soon as it is committed."""

    def remembers(self, epoch: int) -> bool:
        """Know of none."""
        return epoch < 0


class Pulsar19629(Transactions):
    """Pulsar #19629, PIP-254: committed, and the coordinator's record is removed.

    The answer is lost; the client asks again, is told that there is no such
    transaction, and sends all again in another.
    """

    coordinator = part(TransactionCoordinator, default=Forgetful)


class Kip890(Transactions):
    """KIP-890, a control: an epoch for each transaction, and verification."""

    faults = param(2, "how many faults may happen in all")


_BEGIN = "start()  resume()  process(0)  produce(0)"
_COMMIT = "ask_to_commit()  write_commit_markers()"

CASES = [
    case(
        "Pulsar #5218",
        Pulsar5218,
        "durable",
        """
        send(0)  accept(0)  fail_to_persist(0)!  send(0)  drop_repeat(0)
        acknowledge(0)  hear(0)
        """,
        fix=IdempotentProducer,
    ),
    case(
        "Redpanda #3039",
        Redpanda3039,
        "at-most-once",
        """
        send(0)  accept(0)  persist(0)  replicate()  acknowledge(0)  reply.lose(0)!
        send(0)  refuse(0)  hear_refusal(0)  send(0)  accept_anew(0)  persist(0)
        replicate()
        """,
        fix=IdempotentProducer,
    ),
    case(
        "KAFKA-6119",
        Kafka6119,
        "durable",
        f"""
        {_BEGIN}  append(0, 1)  expire()!  write_abort_markers()
        process(1)  produce(1)  append(1, 1)  {_COMMIT}
        """,
        fix=Transactions,
    ),
    case(
        "KIP-890, a record that hangs",
        Kip890Hanging,
        "at-most-once",
        f"""
        {_BEGIN}  give_up()!  write_abort_markers()  append(0, 1)
        resume()  process(0)  produce(0)  append(0, 1)  {_COMMIT}
        """,
        fix=Kip890,
    ),
    case(
        "KIP-890, a record that is late",
        Kip890Late,
        "at-most-once",
        f"""
        {_BEGIN}  give_up()!  write_abort_markers()
        resume()  process(0)  produce(0)  append(0, 1)  append(0, 1)  {_COMMIT}
        """,
        fix=Kip890,
    ),
    case(
        "KAFKA-20685",
        Kafka20685,
        "at-most-once",
        f"""
        {_BEGIN}  crash()!  start()  write_abort_markers()  resume()
        process(0)  produce(0)  append_double(0, 2)  {_COMMIT}
        """,
        fix=Transactions,
    ),
    case(
        "Pulsar #19629",
        Pulsar19629,
        "at-most-once",
        f"""
        {_BEGIN}  append(0, 1)  {_COMMIT}  lose_outcome()!  ask_in_vain()
        process(0)  produce(0)  append_double(0, 2)  {_COMMIT}
        """,
        fix=Transactions,
    ),
]

CONTROLS = [Kip890]
