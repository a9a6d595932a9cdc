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
from onceproof.model.protocols.barrier_snapshot import BarrierSnapshot
from onceproof.model.protocols.parts.barriers.alignment import Alignment, S, Unaligned
from onceproof.model.protocols.parts.barriers.checkpoint_stores import (
    CheckpointStore,
    DiscardsUnanswered,
)
from onceproof.model.protocols.parts.barriers.outputs import Output
from onceproof.model.protocols.parts.barriers.sources import ConfirmingPosition, Source
from onceproof.model.protocols.parts.barriers.transactional_sinks import (
    TransactionalSink,
)
from onceproof.model.protocols.two_phase_commit_sink import TwoPhaseCommitSink


class FirstGateAlone(Unaligned):
    """Records what is on its way from the first input only."""

    gate = state(by_member(lambda s: s == 0), per=S)

    def keeps(self, s: Member) -> bool:
        """Look at the channels of the first gate, and of no other."""
        return self.gate[s]


class Flink18139(BarrierSnapshot):
    """An operator looks at one of its two gates."""

    alignment = part(Alignment, default=FirstGateAlone)


class Flip147Tail(TwoPhaseCommitSink):
    """The job finishes without a checkpoint after the last event."""

    def ends(self) -> bool:
        """No checkpoint is taken because the input has ended."""
        return self.C.last < 0


class CommittingAtEnd(TransactionalSink):
    """Commits the open transaction when the input ends."""

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
    """The sink commits at the end of the input without a checkpoint."""

    output = part(Output, default=CommittingAtEnd)

    @action
    def finish(self) -> None:
        """The input has ended and is processed: the sink commits."""
        when(self.up, self.output.ready(), self.processed(), not_(self.running))
        self.output.finish()


class Flink22494(BarrierSnapshot):
    """A checkpoint is discarded whose pointer may be stored."""

    checkpoints = part(CheckpointStore, default=DiscardsUnanswered)


class FlinkCdc2538(BarrierSnapshot):
    """The log is trimmed beyond the offset of the checkpoint."""

    source = part(Source, default=ConfirmingPosition)


class DisorderedNotices(TransactionalSink):
    """Notices of completion may overtake each other."""

    overtaken_notices = param(1, "completion notices that come out of order")


class Flink10377(TwoPhaseCommitSink):
    """A notice of a later checkpoint comes before that of an earlier one."""

    output = part(Output, default=DisorderedNotices)
