"""Entries about snapshots, replays, the end of the input, and watermarks."""

from __future__ import annotations

from onceproof.model.protocols.barrier_snapshot import BarrierSnapshotUnaligned
from onceproof.model.protocols.chained_windows import ChainedWindows
from onceproof.model.protocols.parts.event_time.delayed_watermarks import (
    SharedWatermark,
)
from onceproof.model.protocols.parts.jobs.shuffles import AllReducers, ArrivalOrder
from onceproof.model.protocols.stage_retry import StageRetry
from onceproof.model.protocols.two_phase_commit_sink import TwoPhaseCommitSink
from tests.model.zoo.causes import CUT, END, REPLAY, WATERMARK
from tests.model.zoo.entry import Made, ZooEntry, ZooFix, steps
from tests.model.zoo.flink import Flink18139, Flip147Duplicate, Flip147Tail

_LAST_CHECKPOINT = ZooFix(
    "The job takes a last checkpoint when its input has ended, and finishes after that "
    "one is committed.",
    Made(TwoPhaseCommitSink),
)
_ALL_EVENTS = """
    emit(0, 0)  process(0, 0)  emit(0, 1)  process(0, 1)
    emit(1, 0)  process(1, 0)  emit(1, 1)  process(1, 1)
"""

ORDER = (
    ZooEntry(
        name="FLINK-18139",
        tickets=("FLINK-18139",),
        cause=CUT,
        text="An unaligned checkpoint records the events that barriers overtake. An "
        "operator with two input gates looks at the channels of the first gate only. "
        "An event on its way from the second gate is then neither in the state nor in "
        "the recorded channels.",
        made=Made(Flink18139),
        breaks=frozenset(
            {"at-least-once", "effectively-once", "durable", "recoverable"}
        ),
        shows="durable",
        run=steps(
            """
            emit(1, 0)  trigger()  send_barrier(0)  send_barrier(1)
            snapshot(0, 0)  receive_barrier(1)  store_checkpoint(0)
            """
        ),
        fixes=(
            ZooFix(
                "The operator records the channels of all gates.",
                Made(BarrierSnapshotUnaligned),
            ),
        ),
    ),
    ZooEntry(
        name="SPARK-23207",
        tickets=("SPARK-23207", "SPARK-23243"),
        cause=REPLAY,
        text="A task deals its rows out to reducers in turn, in the order in which "
        "they arrive. Its executor is lost after one reducer is done. The task runs "
        "again, its rows arrive in another order, and the other reducer gets the rows "
        "that the first one has: one row is there twice, another one is lost.",
        made=Made(StageRetry, {"order": ArrivalOrder}),
        breaks=frozenset(
            {
                "at-most-once",
                "at-least-once",
                "effectively-once",
                "atomic-visibility",
                "durable",
                "recoverable",
            }
        ),
        shows="at-most-once",
        run=steps(
            """
            deal(0, 0)  deal(1, 1)  reduce(0)  lose_executor()!  deal(1, 0)  deal(0, 1)
            reduce(1)  finish()
            """
        ),
        fixes=(
            ZooFix(
                "The rows are sorted first, so that each run deals them out alike.",
                Made(StageRetry),
            ),
            ZooFix(
                "All reducers run again, as SPARK-23243 does it.",
                Made(StageRetry, {"order": ArrivalOrder, "retry": AllReducers}),
            ),
        ),
    ),
    ZooEntry(
        name="FLIP-147, the last events are lost",
        tickets=("FLIP-147",),
        cause=END,
        text="A bounded input ends after the last checkpoint, and the job finishes. "
        "The transaction with the last events is never committed.",
        made=Made(Flip147Tail),
        breaks=frozenset({"at-least-once", "effectively-once", "recoverable"}),
        unmet=frozenset({"completes"}),
        shows="at-least-once",
        run=steps(
            f"""
            trigger()  send_barrier(0)  send_barrier(1)  receive_barrier(0)
            snapshot(1, 0)  store_checkpoint(0)  announce(0)  confirm(0)  confirm(1)
            output.hear(0)  {_ALL_EVENTS}
            """
        ),
        fixes=(_LAST_CHECKPOINT,),
    ),
    ZooEntry(
        name="FLIP-147, the last events are there twice",
        tickets=("FLIP-147",),
        cause=END,
        text="This is the opposite error. The sink commits when the input ends, "
        "without a checkpoint. Another task fails after that, and the job goes back "
        "to the last checkpoint. It reads, writes and commits the last events again.",
        made=Made(Flip147Duplicate),
        breaks=frozenset({"at-most-once", "effectively-once"}),
        unmet=frozenset({"completes"}),
        shows="at-most-once",
        run=steps(
            f"""
            {_ALL_EVENTS}  finish()  fail()!  restore()  output.begin()
            {_ALL_EVENTS}  finish()
            """
        ),
        fixes=(_LAST_CHECKPOINT,),
    ),
    ZooEntry(
        name="SPARK-40925",
        tickets=("SPARK-40925", "SPARK-28074"),
        cause=WATERMARK,
        text="A first operator puts out a window when the watermark passes its end. "
        "The row has a time before the watermark. The second operator has the same "
        "watermark, takes the row for late, and drops it.",
        made=Made(ChainedWindows, {"second": SharedWatermark, "EVENT": 2}),
        breaks=frozenset(
            {"at-least-once", "effectively-once", "batch-equivalence", "recoverable"}
        ),
        shows="at-least-once",
        run=steps(
            """
            log_offsets(0)  write()  commit()  log_offsets(1)  write()  commit()
            end()  log_no_data()  write()  commit()
            """
        ),
        fixes=(
            ZooFix(
                "The second operator takes rows for late by the watermark of the batch "
                "before.",
                Made(ChainedWindows),
            ),
        ),
    ),
)
