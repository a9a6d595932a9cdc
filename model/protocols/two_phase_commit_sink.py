"""A sink that commits its transactions when a checkpoint is complete."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.barrier_snapshot import BarrierSnapshot
from onceproof.model.protocols.parts.barriers.alignment import S
from onceproof.model.protocols.parts.barriers.checkpoint_stores import C
from onceproof.model.protocols.parts.barriers.outputs import Output
from onceproof.model.protocols.parts.barriers.sources import E
from onceproof.model.protocols.parts.barriers.transactional_sinks import (
    ForgetfulNotices,
    TransactionalSink,
)


class TwoPhaseCommitSink(BarrierSnapshot):
    """Pre-commit at the snapshot, commit at its completion. Nowojski and Winters, 2018.

    An Overview of End-to-End Exactly-Once Processing in Apache Flink; the steps are
    those of TwoPhaseCommitSinkFunction. Assumed: the log keeps a prepared transaction
    for longer than any recovery takes, and notices of completion arrive.
    """

    S = S
    E = E
    C = C
    output = part(Output, default=TransactionalSink)


class TwoPhaseCommitSinkLostNotice(TwoPhaseCommitSink):
    """The same where a notice of completion may be lost. Apache Flink, FLIP-147, 2021.

    A later notice makes up for it, and so does a restart; after the last checkpoint
    there is neither.
    """

    output = part(Output, default=ForgetfulNotices)
