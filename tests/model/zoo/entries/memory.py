"""Entries about timers, memory that is deleted, and identities."""

from __future__ import annotations

from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.micro_batch_new_checkpoint import (
    MicroBatchNewCheckpoint,
)
from onceproof.model.protocols.parts.barriers.transactional_sinks import (
    TransactionTimeout,
)
from onceproof.model.protocols.parts.sinks.batch_ledger import BatchLedger
from onceproof.model.protocols.parts.sinks.recut import UpsertRecut
from onceproof.model.protocols.parts.table_logs import (
    CatalogLock,
    CatalogSwap,
    LockTableExpiring,
    LockTableExpiringLooked,
)
from onceproof.model.protocols.table_commit import TableCommit
from onceproof.model.protocols.transactions import Transactions
from onceproof.model.protocols.two_phase_commit_sink import TwoPhaseCommitSink
from tests.model.zoo.causes import FORGOTTEN, IDENTITY, TIMER
from tests.model.zoo.delta import DeltaNewId, DeltaOldId
from tests.model.zoo.entries.messages import BEGIN, COMMIT
from tests.model.zoo.entry import Made, ZooEntry, ZooFix, steps
from tests.model.zoo.kafka import (
    Kafka6119,
    NumbersOutliveTheirTransaction,
    Pulsar19629,
    Redpanda5026,
)
from tests.model.zoo.spark import Paimon9666

_LOSES = frozenset({"at-least-once", "effectively-once", "durable", "recoverable"})
_REPEATS = frozenset({"at-most-once", "effectively-once"})
_BY_KEY = ZooFix(
    "Rows are written by the key of the event, which no checkpoint changes.",
    Made(MicroBatchNewCheckpoint, {"sink": UpsertRecut}),
)
_FIRST_BATCH = """
    restart()  log_offsets(0)  start_batch(0)  start_task(0, 0)  write(0, 0, 0)
    commit_task(0, 0)  start_commit(0)  sink.commit_batch(0)  new_checkpoint()!
    restart()  log_offsets(0)  start_batch(0)  start_task(0, 0)  write(0, 0, 0)
    commit_task(0, 0)  start_commit(0)
"""

MEMORY = (
    ZooEntry(
        name="KAFKA-6119",
        tickets=("KAFKA-6119",),
        cause=TIMER,
        text="The coordinator ends a transaction that takes too long, and leaves the "
        "epoch as it is. The producer does not notice: its next record begins another "
        "transaction. That one is committed, and the first record is lost.",
        made=Made(Kafka6119),
        breaks=_LOSES,
        shows="durable",
        run=steps(
            f"""
            {BEGIN}  append(0, 1)  expire()!  write_abort_markers()
            process(1)  produce(1)  append(1, 1)  {COMMIT}
            """
        ),
        fixes=(
            ZooFix(
                "The coordinator raises the epoch, so that the producer is refused and "
                "starts again.",
                Made(Transactions),
            ),
        ),
    ),
    ZooEntry(
        name="FLINK-7784",
        tickets=("FLINK-7784",),
        cause=TIMER,
        text="A sink prepares its transaction, and the checkpoint is complete. Before "
        "the sink commits, the timeout of the log aborts the transaction: the job may "
        "have been down for too long. The commit fails, the sink ignores the error, "
        "and the events are lost.",
        made=Made(TwoPhaseCommitSink, {"output": TransactionTimeout, "faults": 2}),
        breaks=_LOSES,
        shows="durable",
        same_faults=True,
        run=steps(
            """
            emit(0, 0)  process(0, 0)  trigger()  send_barrier(0)  send_barrier(1)
            receive_barrier(0)  snapshot(1, 0)  store_checkpoint(0)  fail()!
            output.time_out(0)!  restore()  output.recommit(0)
            """
        ),
        fixes=(
            ZooFix(
                "The log never aborts a prepared transaction: its timeout is longer "
                "than any time without a commit.",
                Made(TwoPhaseCommitSink, {"faults": 2}),
            ),
        ),
    ),
    ZooEntry(
        name="Iceberg #15446",
        tickets=("Iceberg #15446",),
        cause=TIMER,
        text="A writer has the lock of Hive's catalog, has seen that the table is as "
        "it read it, and pauses. The lock expires, and another writer takes it and "
        "commits. The first goes on without a look at the lock, and the catalog names "
        "its metadata: the commit of the second is gone.",
        made=Made(TableCommit, {"log": CatalogLock}),
        breaks=_LOSES,
        shows="durable",
        run=steps(
            """
            read(0, 0)  read(1, 0)  prepare(0, 0)  log.time_out()!  prepare(1, 0)
            put(1, 0)  put(0, 0)
            """
        ),
        fixes=(
            ZooFix(
                "The catalog compares and swaps in one step, and no writer uses the "
                "lock (`iceberg.engine.hive.lock-enabled` is false for all of them).",
                Made(TableCommit, {"log": CatalogSwap}),
            ),
        ),
    ),
    ZooEntry(
        name="Pulsar #19629",
        tickets=("Pulsar #19629", "PIP-254"),
        cause=FORGOTTEN,
        text="A transaction is committed, and the coordinator removes its record of "
        "it. The reply is lost, and the client asks again. The coordinator answers "
        "that there is no such transaction, so the client sends everything again in "
        "another one.",
        made=Made(Pulsar19629),
        breaks=_REPEATS,
        shows="at-most-once",
        run=steps(
            f"""
            {BEGIN}  append(0, 1)  {COMMIT}  lose_outcome()!  ask_in_vain()
            process(0)  produce(0)  append_double(0, 2)  {COMMIT}
            """
        ),
        fixes=(
            ZooFix(
                "The coordinator remembers the decision as long as a client may ask.",
                Made(Transactions),
            ),
        ),
    ),
    ZooEntry(
        name="Delta #1410",
        tickets=("Delta #1410",),
        cause=FORGOTTEN,
        text="Two writers read a table on S3 at the same version. One of them commits "
        "the next version, with a row in DynamoDB that protects it, and the time to "
        "live of the row ends. The other writer finds no row and overwrites the "
        "version.",
        made=Made(TableCommit, {"log": LockTableExpiring}),
        breaks=_LOSES,
        shows="durable",
        run=steps(
            """
            read(0, 0)  read(1, 0)  prepare(0, 0)  put(0, 0)  log.mark_complete(0, 0)
            log.expire(0)!  prepare(1, 0)  put(1, 0)
            """
        ),
        fixes=(
            ZooFix(
                "A writer also checks whether the version is in S3, and a row lives "
                "longer than this takes.",
                Made(TableCommit, {"log": LockTableExpiringLooked}),
            ),
            ZooFix(
                "The store puts a version only if there is none of that number.",
                Made(TableCommit),
            ),
        ),
    ),
    ZooEntry(
        name="Redpanda #5026",
        tickets=("Redpanda #5026",),
        cause=IDENTITY,
        text="A record is written in a transaction that is aborted; in the report, "
        "because the reply to the record was an error. The producer keeps its epoch, "
        "and its next transaction sends the record under the same number. The log "
        "knows the number, takes the record for a repeat, and answers that it is "
        "there. The transaction is committed without it.",
        made=Made(Redpanda5026),
        breaks=_LOSES,
        shows="durable",
        run=steps(
            f"""
            {BEGIN}  append(0, 1)  process(1)  give_up()!  write_abort_markers()
            resume()  process(0)  produce(0)  append(0, 1)  {COMMIT}
            """
        ),
        fixes=(
            ZooFix(
                "Each transaction has an epoch of its own, so that a number is that of "
                "its transaction. Redpanda made the log forget the numbers instead; a "
                "record that is delayed is then let in by the next transaction, as in "
                "the second entry of KIP-890.",
                Made(Transactions, {"log": NumbersOutliveTheirTransaction}),
            ),
        ),
    ),
    ZooEntry(
        name="Paimon #9666",
        tickets=("Paimon #9666",),
        cause=IDENTITY,
        text="The sink commits a batch under a user name that it makes up when it "
        "starts. The driver dies before the batch is in the commit log, and the batch "
        "runs again. The sink has another user name by then, so it does not recognise "
        "the batch and commits it again.",
        made=Made(Paimon9666, {"PARTITION": 1}),
        breaks=_REPEATS,
        shows="at-most-once",
        run=steps(
            """
            restart()  sink.draw_user()  log_offsets(0)  start_batch(0)
            start_task(0, 0)  write(0, 0, 0)  commit_task(0, 0)  start_commit(0)
            sink.add_batch(0)  crash()!  restart()  sink.draw_user()  start_batch(0)
            start_task(0, 0)  write(0, 0, 0)  commit_task(0, 0)  start_commit(0)
            sink.add_batch(0)
            """
        ),
        fixes=(
            ZooFix(
                "The sink knows a batch by its number, whoever commits it.",
                Made(MicroBatch, {"sink": BatchLedger}),
            ),
        ),
    ),
    ZooEntry(
        name="Delta Lake's txnAppId, kept",
        tickets=("Delta Lake's txnAppId",),
        cause=IDENTITY,
        text="Delta Lake skips a batch whose number is not beyond the last one of the "
        "same txnAppId. The checkpoint of the query is deleted, and batches are "
        "numbered from 0 again. The sink skips the new batch 0, which holds events "
        "that were never written.",
        made=Made(DeltaOldId, {"PARTITION": 1}),
        breaks=_LOSES,
        shows="durable",
        run=steps(f"{_FIRST_BATCH}  log_commit(0)"),
        fixes=(_BY_KEY,),
    ),
    ZooEntry(
        name="Delta Lake's txnAppId, renewed",
        tickets=("Delta Lake's txnAppId",),
        cause=IDENTITY,
        text="This is the opposite error. The query takes another txnAppId with its "
        "new checkpoint, as the documentation demands. The new batch 0 is not "
        "skipped, and it also holds the events that the old query has written.",
        made=Made(DeltaNewId, {"PARTITION": 1}),
        breaks=_REPEATS,
        shows="at-most-once",
        run=steps(f"{_FIRST_BATCH}  sink.commit_batch(0)"),
        fixes=(_BY_KEY,),
    ),
)
