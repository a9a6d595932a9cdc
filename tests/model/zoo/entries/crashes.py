"""Entries about crashes between two writes, and about what readers then see."""

from __future__ import annotations

from onceproof.model.protocols.barrier_snapshot import BarrierSnapshot
from onceproof.model.protocols.idempotent_producer import IdempotentProducer
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.output_commit import OutputCommit
from onceproof.model.protocols.parts.jobs.committers import FileCommitterV2
from onceproof.model.protocols.parts.sinks.manifest import Manifest
from onceproof.model.protocols.transactions import Transactions
from tests.model.zoo.causes import BETWEEN, ISOLATION
from tests.model.zoo.entries.messages import BEGIN, COMMIT
from tests.model.zoo.entry import Made, ZooEntry, ZooFix, steps
from tests.model.zoo.flink import FlinkCdc2538
from tests.model.zoo.kafka import Kafka20685, Pulsar5218
from tests.model.zoo.spark import Spark25331

CRASHES = (
    ZooEntry(
        name="Pulsar #5218",
        tickets=("Pulsar #5218",),
        cause=BETWEEN,
        text="The broker records the number of a message before it writes the message, "
        "and the write fails. The retry has a number that is known, so the broker "
        "drops it as a repeat and acknowledges it. The message is nowhere.",
        made=Made(Pulsar5218, {"M": 1}),
        breaks=frozenset(
            {"at-least-once", "effectively-once", "durable", "recoverable"}
        ),
        shows="at-least-once",
        run=steps(
            """
            send(0)  accept(0)  fail_to_persist(0)!  send(0)  drop_repeat(0)
            acknowledge(0)  hear(0)  replicate()
            """
        ),
        same_faults=True,
        fixes=(
            ZooFix(
                "The number is recorded with the message, in one write.",
                Made(IdempotentProducer),
            ),
        ),
    ),
    ZooEntry(
        name="flink-cdc #2538",
        tickets=("flink-cdc #2538",),
        cause=BETWEEN,
        text="A checkpoint holds one offset, and the reader goes on to the next. When "
        "the checkpoint is complete, the reader confirms its own offset to the "
        "database, which deletes its log up to there. After a crash the job restarts "
        "from the checkpoint, and the log that it needs is gone.",
        made=Made(FlinkCdc2538),
        breaks=frozenset(
            {"at-least-once", "effectively-once", "durable", "recoverable"}
        ),
        shows="recoverable",
        run=steps(
            """
            trigger()  send_barrier(0)  send_barrier(1)  receive_barrier(0)
            snapshot(1, 0)  emit(0, 0)  store_checkpoint(0)  announce(0)  confirm(0)
            fail()!
            """
        ),
        fixes=(
            ZooFix(
                "The reader confirms the offset that the checkpoint holds.",
                Made(BarrierSnapshot),
            ),
        ),
    ),
    ZooEntry(
        name="KAFKA-20685",
        tickets=("KAFKA-20685",),
        cause=BETWEEN,
        text="Kafka Streams leaves the checkpoint file of a local store in place while "
        "it runs, and writes of an open transaction reach the disk. After a crash the "
        "transaction is aborted, but the checkpoint file says that the store is right. "
        "The input is read again, and counted twice.",
        made=Made(Kafka20685),
        breaks=frozenset({"at-most-once", "effectively-once"}),
        shows="at-most-once",
        run=steps(
            f"""
            start()  resume()  process(0)  crash()!  start()  resume()
            process(0)  produce(0)  append_double(0, 2)  {COMMIT}
            """
        ),
        reported=steps(
            f"""
            {BEGIN}  crash()!  start()  write_abort_markers()  resume()
            process(0)  produce(0)  append_double(0, 2)  {COMMIT}
            """
        ),
        fixes=(
            ZooFix(
                "The checkpoint file is deleted when processing starts, so that the "
                "store is restored from the log after a crash.",
                Made(Transactions),
            ),
        ),
    ),
    ZooEntry(
        name="SPARK-25331",
        tickets=("SPARK-25331",),
        cause=ISOLATION,
        text="Tasks write their files, and the driver dies before it writes the "
        "manifest that names them. The batch runs again and writes files with new "
        "names. A reader that lists the folder sees both.",
        made=Made(Spark25331, {"PARTITION": 1, "ATTEMPT": 1}),
        breaks=frozenset({"at-most-once", "effectively-once", "durable"}),
        shows="at-most-once",
        run=steps(
            """
            restart()  log_offsets(0)  start_batch(0)  start_task(0, 0)
            write(0, 0, 0)  crash()!  restart()  start_batch(0)  start_task(0, 0)
            write(0, 0, 0)
            """
        ),
        reported=steps(
            """
            restart()  log_offsets(0)  start_batch(0)  start_task(0, 0)
            write(0, 0, 0)  commit_task(0, 0)  start_commit(0)  crash()!  restart()
            start_batch(0)  start_task(0, 0)  write(0, 0, 0)
            """
        ),
        unmet=frozenset({"tried-again"}),
        fixes=(
            ZooFix(
                "Readers read the files that the manifest names.",
                Made(MicroBatch, {"sink": Manifest}),
            ),
        ),
    ),
    ZooEntry(
        name="FileOutputCommitter v2",
        tickets=("MAPREDUCE-7282", "SPARK-33019"),
        cause=ISOLATION,
        text="Each task moves its files into the output folder as it commits. The job "
        "dies with some of its tasks committed, and readers see a part of it. The job "
        "runs again and adds its files to those that are there.",
        made=Made(OutputCommit, {"committer": FileCommitterV2}),
        breaks=frozenset(
            {
                "at-most-once",
                "effectively-once",
                "atomic-visibility",
                "nothing-is-early",
            }
        ),
        shows="at-most-once",
        run=steps(
            """
            start_task(0, 0, 0)  write(0, 0, 0)  ask(0, 0, 0)  commit_task(0, 0, 0)
            crash()!  run_again()  start_task(0, 0, 0)  write(0, 0, 0)  ask(0, 0, 0)
            commit_task(0, 0, 0)
            """
        ),
        fixes=(
            ZooFix(
                "The files of all tasks become visible in one atomic step, as in a "
                "table format.",
                Made(OutputCommit),
            ),
        ),
    ),
)
