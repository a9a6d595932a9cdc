"""Entries about replies, late messages and earlier attempts."""

from __future__ import annotations

from onceproof.model.protocols.barrier_snapshot import BarrierSnapshot
from onceproof.model.protocols.idempotent_producer import IdempotentProducer
from onceproof.model.protocols.output_commit import OutputCommit
from onceproof.model.protocols.transactions import Transactions
from tests.model.zoo.causes import LATE, UNKNOWN, ZOMBIE
from tests.model.zoo.entry import Made, ZooEntry, ZooFix, steps
from tests.model.zoo.flink import Flink22494
from tests.model.zoo.kafka import Kip890Hanging, Kip890Late, Redpanda3039
from tests.model.zoo.spark import Spark24589

BEGIN = "start()  resume()  process(0)  produce(0)"
COMMIT = "ask_to_commit()  write_commit_markers()"
_EPOCHS = ZooFix(
    "Each transaction has an epoch of its own, and the log asks the coordinator "
    "whether the transaction of a record is open.",
    Made(Transactions, {"faults": 2}),
)

MESSAGES = (
    ZooEntry(
        name="Redpanda #3039",
        tickets=("Redpanda #3039",),
        cause=UNKNOWN,
        text="The log appends a message, and its acknowledgement is lost or late. The "
        "log takes the retry for a message out of order, because it recognises only "
        "the next number. The producer begins a new epoch and sends the message as a "
        "new one.",
        made=Made(Redpanda3039, {"M": 1}),
        breaks=frozenset({"at-most-once", "effectively-once"}),
        shows="at-most-once",
        run=steps(
            """
            send(0)  accept(0)  send(0)  persist(0)  refuse(0)  hear_refusal(0)
            send(0)  accept_anew(0)  persist(0)  replicate()
            """
        ),
        reported=steps(
            """
            send(0)  accept(0)  persist(0)  replicate()  acknowledge(0)
            reply.lose(0)!  send(0)  refuse(0)  hear_refusal(0)  send(0)
            accept_anew(0)  persist(0)  replicate()
            """
        ),
        fixes=(
            ZooFix(
                "The log recognises a message that it has, and acknowledges it again.",
                Made(IdempotentProducer),
            ),
        ),
    ),
    ZooEntry(
        name="FLINK-22494",
        tickets=("FLINK-22494",),
        cause=UNKNOWN,
        text="The coordinator stores the pointer to a checkpoint, and the reply of the "
        "store is lost. The coordinator takes this for a failure and discards the "
        "state of the checkpoint. The pointer now names state that is gone, so no "
        "restart is possible.",
        made=Made(Flink22494),
        breaks=frozenset(
            {"at-least-once", "effectively-once", "durable", "recoverable"}
        ),
        shows="recoverable",
        run=steps(
            """
            trigger()  send_barrier(0)  send_barrier(1)  receive_barrier(0)
            snapshot(1, 0)  store_checkpoint(0)  lose_reply()!
            """
        ),
        fixes=(
            ZooFix(
                "The coordinator keeps the state until it knows what the pointer "
                "names.",
                Made(BarrierSnapshot),
            ),
        ),
    ),
    ZooEntry(
        name="KIP-890, a record without a transaction",
        tickets=("KIP-890",),
        cause=LATE,
        text="A record is delayed until its transaction is aborted. It has the epoch "
        "of the producer, so the log lets it in although no transaction is open. It "
        "becomes part of the next transaction, which also holds the record that was "
        "sent again. If there is no next transaction, it stays open, and readers of "
        "what is committed do not get past it.",
        made=Made(Kip890Hanging),
        breaks=frozenset({"at-most-once", "effectively-once", "leaves-nothing-open"}),
        shows="at-most-once",
        run=steps(
            f"""
            {BEGIN}  give_up()!  write_abort_markers()  append(0, 1)
            resume()  process(0)  produce(0)  append(0, 1)  {COMMIT}
            """
        ),
        fixes=(_EPOCHS,),
    ),
    ZooEntry(
        name="KIP-890, a record in the next transaction",
        tickets=("KIP-890",),
        cause=LATE,
        text="The log asks the coordinator whether a transaction is open, but the "
        "producer keeps its epoch. A record of the aborted transaction is delayed "
        "until the next one is open, and is let in.",
        made=Made(Kip890Late),
        breaks=frozenset({"at-most-once", "effectively-once"}),
        shows="at-most-once",
        run=steps(
            f"""
            {BEGIN}  give_up()!  write_abort_markers()
            resume()  process(0)  produce(0)  append(0, 1)  append(0, 1)  {COMMIT}
            """
        ),
        fixes=(_EPOCHS,),
    ),
    ZooEntry(
        name="SPARK-24589",
        tickets=("SPARK-24589",),
        cause=ZOMBIE,
        text="A fetch fails, and Spark starts a second attempt of the stage while a "
        "task of the first one still runs. The commit coordinator tells attempts "
        "apart by their number, which starts from 0 in each attempt of the stage. It "
        "lets both tasks commit the same partition.",
        made=Made(Spark24589, {"PARTITION": 1}),
        breaks=frozenset(
            {
                "at-most-once",
                "effectively-once",
                "grants-one-attempt",
                "has-what-is-committed",
                "committer.publishes-once",
            }
        ),
        shows="at-most-once",
        run=steps(
            """
            start_task(0, 0, 0)  write(0, 0, 0)  lose_input()!
            start_task(0, 1, 0)  write(0, 1, 0)  ask(0, 0, 0)  ask(0, 1, 0)
            commit_task(0, 0, 0)  commit_task(0, 1, 0)  commit_job()
            """
        ),
        fixes=(
            ZooFix(
                "The coordinator tells attempts apart by the attempt of the stage, "
                "too.",
                Made(OutputCommit),
            ),
        ),
    ),
)
