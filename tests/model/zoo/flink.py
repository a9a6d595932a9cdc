"""Violations of stream processors that snapshot by barriers."""

from __future__ import annotations

from onceproof.model.language import (
    Member,
    action,
    all_of,
    by_member,
    not_,
    param,
    part,
    state,
    when,
)
from onceproof.model.protocols.barrier_snapshot import (
    BarrierSnapshot,
    BarrierSnapshotUnaligned,
    CheckpointStore,
    Output,
    Source,
)
from onceproof.model.protocols.parts.alignment import Alignment, S, Unaligned
from onceproof.model.protocols.two_phase_commit_sink import (
    TransactionalSink,
    TwoPhaseCommitSink,
)
from tests.model.zoo.cases import case


class FirstGateAlone(Unaligned):
    """Records what is on its way from the first input only."""

    gate = state(by_member(lambda s: s == 0), per=S)

    def records(self, s: Member) -> bool:
        """Look at the channels of the first gate, and of no other."""
        return all_of(super().records(s), self.gate[s])


class Flink18139(BarrierSnapshot):
    """FLINK-18139: unaligned, two gates, and one of them is looked at.

    An event is on its way from the second; the barrier of the first takes the
    snapshot; the event is processed, and is neither in the state nor in the channel.
    """

    alignment = part(Alignment, default=FirstGateAlone)


class ImpatientLog(TransactionalSink):
    """The log gives up a prepared transaction, and its commit then does nothing."""

    timeouts = param(1, "how often the log gives a transaction up")


class Flink7784(TwoPhaseCommitSink):
    """FLINK-7784: the transaction's timeout is shorter than what comes before commit.

    Prepared with the snapshot; the checkpoint completes; the log gives up the
    transaction; the commit fails, and that is swallowed.
    """

    output = part(Output, default=ImpatientLog)


class Flip147Tail(TwoPhaseCommitSink):
    """FLIP-147: the input ends and the job finishes with no further checkpoint.

    What was written since the last one is never committed.
    """

    def ends(self) -> bool:
        """No checkpoint is taken because the input has ended."""
        return self.C.last < 0


class CommittingAtEnd(TransactionalSink):
    """Commits what is open when the input ends."""

    finished = state(False, volatile=True)

    def ready(self) -> bool:
        """Do nothing more once finished."""
        return all_of(super().ready(), not_(self.finished))

    def finish(self) -> None:
        """Commit the current transaction, whatever the checkpoints say."""
        self.finished = True
        self.publish(lambda s, e: self.current[s, e])
        self.current.fill(0)


class Flip147Duplicate(Flip147Tail):
    """FLIP-147, the other half: the sink commits as it finishes, with no checkpoint.

    Then another task fails: all goes back to the last checkpoint, and what was
    committed is read, written and committed again.
    """

    output = part(Output, default=CommittingAtEnd)

    @action
    def finish(self) -> None:
        """The input has ended and is processed: the sink commits."""
        when(self.up, self.output.ready(), self.processed(), not_(self.running))
        self.output.finish()


class Discarding(CheckpointStore):
    """Takes a reply that never came for a refusal."""

    def lose_track(self) -> None:
        """Discard the state that the pointer may already name."""
        self.discarded = True


class Flink22494(BarrierSnapshot):
    """FLINK-22494: the pointer is stored, and the reply is lost.

    The checkpoint's state is discarded; the pointer names it, and nothing restarts.
    """

    checkpoints = part(CheckpointStore, default=Discarding)


class ConfirmingPosition(Source):
    """Confirms what it has read, and not what the checkpoint holds."""

    def confirm(self, s: Member) -> None:
        """Let the log be trimmed up to the reader's position."""
        self.trimmed[s] = self.offset[s]


class FlinkCdc2538(BarrierSnapshot):
    """flink-cdc #2538: the snapshot holds one offset, the reader is at the next.

    The notice of completion confirms the reader's; after a failure the log has been
    trimmed beyond the offset that is restored.
    """

    source = part(Source, default=ConfirmingPosition)


class DisorderedNotices(TransactionalSink):
    """Notices of completion may overtake each other."""

    overtaken_notices = param(1, "completion notices that come out of order")


class Flink10377(TwoPhaseCommitSink):
    """FLINK-10377, a control: a later notice comes first, and subsumes the earlier."""

    output = part(Output, default=DisorderedNotices)


CASES = [
    case(
        "FLINK-18139",
        Flink18139,
        "durable",
        """
        emit(1, 0)  trigger()  send_barrier(0)  send_barrier(1)
        snapshot(0, 0)  process(1, 0)  receive_barrier(1)  store_checkpoint(0)
        """,
        fix=BarrierSnapshotUnaligned,
    ),
    case(
        "FLINK-7784",
        Flink7784,
        "durable",
        """
        emit(0, 0)  process(0, 0)  trigger()  send_barrier(0)  send_barrier(1)
        receive_barrier(0)  snapshot(1, 0)  store_checkpoint(0)  fail()!
        output.time_out(0)!  restore()  output.recommit(0)
        """,
        parameters={"faults": 2},
        fix=TwoPhaseCommitSink,
        fixed={"faults": 2},
    ),
    case(
        "FLIP-147, the tail is lost",
        Flip147Tail,
        "at-least-once",
        """
        trigger()  send_barrier(0)  send_barrier(1)  receive_barrier(0)  snapshot(1, 0)
        store_checkpoint(0)  announce(0)  confirm(0)  confirm(1)  output.hear(0)
        emit(0, 0)  process(0, 0)  emit(0, 1)  process(0, 1)
        emit(1, 0)  process(1, 0)  emit(1, 1)  process(1, 1)
        """,
        fix=TwoPhaseCommitSink,
    ),
    case(
        "FLIP-147, the tail is there twice",
        Flip147Duplicate,
        "at-most-once",
        """
        emit(0, 0)  process(0, 0)  emit(0, 1)  process(0, 1)
        emit(1, 0)  process(1, 0)  emit(1, 1)  process(1, 1)
        finish()  fail()!  restore()  output.begin()
        emit(0, 0)  process(0, 0)  emit(0, 1)  process(0, 1)
        emit(1, 0)  process(1, 0)  emit(1, 1)  process(1, 1)  finish()
        """,
        fix=TwoPhaseCommitSink,
    ),
    case(
        "FLINK-22494",
        Flink22494,
        "recoverable",
        """
        trigger()  send_barrier(0)  send_barrier(1)  receive_barrier(0)  snapshot(1, 0)
        store_checkpoint(0)  lose_reply()!
        """,
        fix=BarrierSnapshot,
    ),
    case(
        "flink-cdc #2538",
        FlinkCdc2538,
        "recoverable",
        """
        trigger()  send_barrier(0)  send_barrier(1)  receive_barrier(0)  snapshot(1, 0)
        emit(0, 0)  store_checkpoint(0)  announce(0)  confirm(0)  fail()!
        """,
        fix=BarrierSnapshot,
    ),
]

CONTROLS = [Flink10377]
