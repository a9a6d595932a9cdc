"""A sink that commits its transactions when a checkpoint is complete."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from onceproof.model.language import *
from onceproof.model.protocols.parts.barriers.alignment import S
from onceproof.model.protocols.parts.barriers.checkpoint_stores import C
from onceproof.model.protocols.parts.barriers.outputs import MOST, Output, one_more
from onceproof.model.protocols.parts.barriers.sources import E

if TYPE_CHECKING:
    from collections.abc import Callable


class Transaction(Enum):
    """What the transactional log knows of a transaction."""

    OPEN = "open"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


class TransactionalSink(Output):
    """Events are written in a transaction for each checkpoint; readers see commits.

    The log that is written to keeps what the ``current`` transaction holds, what was
    ``written`` in the ``transaction`` of each checkpoint, and what is ``published``;
    all of it outlives the job. A restored job commits again what its checkpoint holds
    as prepared, and aborts what lingers, before it goes on. ``acknowledged`` notes
    what the sink takes for committed, for the ledger alone. Events can be written and
    published however many checkpoints are left. Who prepares also commits, so no
    barrier overtakes what is prepared on its way to the committer.
    """

    in_checkpoints = False

    S = S
    E = E
    C = C
    timeouts = param(0, "how often the log gives a transaction up")
    lost_notices = param(0, "completion notices that are lost")
    overtaken_notices = param(0, "completion notices that come out of order")

    transaction = state(Transaction.OPEN, per=C)
    written = state(0, per=(C, S, E), high=MOST)
    current = state(0, per=(S, E), high=MOST)
    published = state(0, per=(S, E), high=MOST)
    acknowledged = state(False, per=C)
    settled = state(False, per=C, volatile=True)
    restoring = state(False, volatile=True)
    held = state(0, high=C, volatile=True)
    notice = channels(
        0,
        length=2,
        high=C,
        volatile=True,
        losses=lost_notices,
        overtakings=overtaken_notices,
    )

    def ready(self) -> bool:
        """Events are processed once transactions of old are settled."""
        return not_(self.restoring)

    def process(self, s: Member, e: Member) -> None:
        """Write an event in the current transaction."""
        self.current[s, e] = one_more(self.current[s, e])

    def snapshot(self, c: Member) -> None:
        """Flush and prepare; what comes next belongs to another transaction."""
        self.written.where(lambda x, _, __: x == c).set(
            lambda _, s, e: self.current[s, e]
        )
        self.transaction[c] = Transaction.PREPARED
        self.current.fill(0)

    def complete(self, c: Member) -> None:
        """The checkpoint that holds the prepared transaction is complete."""

    def announce(self, c: Member) -> None:
        """A completion notice is sent to the sink."""
        self.notice.only.send(c)

    @action(per=C)
    def hear(self, c: Member) -> None:
        """A notice commits its transaction, and all before it that are prepared."""
        when(not_(self.notice.only.empty), self.notice.only.head == c)
        self.notice.only.receive()
        self._commit(lambda x: self.commits_with(c, x))

    def commits_with(self, c: Member, x: Member) -> bool:
        """Return whether a notice of ``c`` commits the transaction of ``x``."""
        return x <= c

    def restore(self, complete: int) -> None:
        """Transactions of old are settled before anything else."""
        self.restoring = True
        self.held = complete

    @action(per=C)
    def recommit(self, c: Member) -> None:
        """What the checkpoint holds as prepared is committed, maybe again."""
        when(self.restoring, c < self.held, not_(self.settled[c]))
        self.settled[c] = True
        self._commit(lambda x: x == c)

    @action(per=C)
    def abort_lingering(self, c: Member) -> None:
        """A transaction of a failed attempt is aborted, and its events are gone."""
        when(self.restoring, self._lingers(c))
        self.transaction[c] = Transaction.OPEN
        self.written.where(lambda x, _, __: x == c).fill(0)

    @action
    def begin(self) -> None:
        """With all settled, what was open is aborted, and a new transaction begins."""
        when(
            self.restoring,
            all_of(implies(c < self.held, self.settled[c]) for c in self.C),
            all_of(not_(self._lingers(c)) for c in self.C),
        )
        self.restoring = False
        self.current.fill(0)

    @fault(per=C, at_most=timeouts)
    def time_out(self, c: Member) -> None:
        """The log gives up a transaction that has been prepared for too long."""
        when(self.transaction[c] == Transaction.PREPARED)
        self.transaction[c] = Transaction.ABORTED

    @sometimes
    def commits_again(self) -> bool:
        """A restored job can meet a transaction that it has committed before."""
        return any_of(
            all_of(
                self.restoring,
                c < self.held,
                not_(self.settled[c]),
                self.transaction[c] == Transaction.COMMITTED,
            )
            for c in self.C
        )

    @sometimes
    def commits_late(self) -> bool:
        """A restored job can commit what a failed one had prepared."""
        return any_of(
            all_of(
                self.restoring,
                c < self.held,
                self.transaction[c] == Transaction.PREPARED,
            )
            for c in self.C
        )

    def _lingers(self, c: Member) -> bool:
        return all_of(
            c >= self.held,
            self.transaction[c] != Transaction.COMMITTED,
            any_of(
                self.transaction[c] == Transaction.PREPARED,
                any_of(self.written[c, s, e] > 0 for s in self.S for e in self.E),
            ),
        )

    def _commit(self, chosen: Callable[[Member], bool]) -> None:
        """Commit transactions; one that the log has given up is passed over."""
        self.acknowledged.where(
            lambda c: all_of(chosen(c), self.transaction[c] != Transaction.OPEN)
        ).fill(value=True)
        self.publish(
            lambda s, e: total(
                if_else(
                    all_of(chosen(c), self.transaction[c] == Transaction.PREPARED),
                    self.written[c, s, e],
                    0,
                )
                for c in self.C
            )
        )
        self.transaction.where(
            lambda c: all_of(chosen(c), self.transaction[c] == Transaction.PREPARED)
        ).fill(Transaction.COMMITTED)

    def publish(self, rows: Callable[[Member, Member], int]) -> None:
        """Let readers see events, each so often as ``rows`` answers."""
        self.published.set(lambda s, e: min_of(self.published[s, e] + rows(s, e), MOST))

    def visible(self, s: Member, e: Member, flying: bool) -> int:  # noqa: FBT001 - a modelled value
        """Readers of what is committed see the event so often."""
        return self.published[s, e]

    def promised(self, s: Member, e: Member, passed: bool, flying: bool) -> bool:  # noqa: FBT001 - modelled values
        """The sink takes the event's transaction for committed.

        What the checkpoint has passed is due, too, once the log has nothing prepared
        that the sink has not taken for committed.
        """
        return any_of(
            any_of(
                all_of(self.acknowledged[c], self.written[c, s, e] > 0) for c in self.C
            ),
            all_of(
                passed,
                not_(flying),
                all_of(
                    self.acknowledged[c] | (self.transaction[c] == Transaction.OPEN)
                    for c in self.C
                ),
            ),
        )


class TransactionTimeout(TransactionalSink):
    """The log gives up a prepared transaction whose commit takes too long.

    FLINK-7784: the timeout of a transaction is shorter than a recovery takes, or a
    pause. Its commit is refused, and the sink passes over that.
    """

    breaks = ("at-least-once", "effectively-once", "durable", "recoverable")

    timeouts = param(1, "how often the log gives a transaction up")


class ForgetfulNotices(TransactionalSink):
    """A notice may be lost, and nobody repeats it."""

    breaks = ("at-least-once", "effectively-once", "recoverable")

    lost_notices = param(1, "completion notices that are lost")


class OvertakenCommittable(TransactionalSink):
    """A committer of its own, and a barrier overtakes what it is to commit.

    FLINK-36287: the writer sends what it has prepared through a channel that is not
    aligned. The notice of the last checkpoint can come before that, and none comes
    after it. Flink has since aligned this channel.
    """

    breaks = ("at-least-once", "effectively-once", "recoverable")

    arrived = state(False, per=C, volatile=True)

    @action(per=C)
    def arrive(self, c: Member) -> None:
        """What is prepared comes to the committer."""
        when(
            self.transaction[c] == Transaction.PREPARED,
            not_(self.arrived[c]),
            not_(self.restoring),
        )
        self.arrived[c] = True

    def commits_with(self, c: Member, x: Member) -> bool:
        """What has not come is not committed."""
        return all_of(x <= c, self.arrived[x])
