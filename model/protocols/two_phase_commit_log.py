"""Two-phase commit with messages that can be lost, logs, crashes and presumed abort."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.presumed_abort import (
    RM,
    Alive,
    Coordinator,
    LogRecord,
    Phase,
    ToCoordinator,
    ToParticipant,
)


class TwoPhaseCommitLog(Protocol):
    """Atomic commit with logs and presumed abort. Mohan, Lindsay and Obermarck, 1986.

    Transaction Management in the R* Distributed Database Management System, ACM TODS
    11(4). A participant forces a record before it votes yes, and asks when in doubt;
    a coordinator that knows nothing answers abort.
    """

    RM = RM
    crashes = param(1, "crashes of the coordinator, and of participants")
    losses = param(1, "messages that are lost, each way")
    stops = param(0, "whether the coordinator may die for good")

    coordinator = part(Coordinator)
    rm = processes(RM, crashes=crashes)
    log = state(LogRecord.EMPTY, per=RM)
    work = state(True, per=RM, volatile=True)
    down = channels(ToParticipant.NOTHING, per=RM, length=1, losses=losses)
    up = channels(ToCoordinator.NOTHING, per=RM, length=1, losses=losses)

    @action(per=RM, fair=True, by="coordinator")
    def ask_to_prepare(self, r: Member) -> None:
        """The coordinator asks for a vote, again and again."""
        when(self.coordinator.in_phase(Phase.ASKING), not_(self.coordinator.voted[r]))
        self.down[r].send(ToParticipant.PREPARE)

    @action(per=RM, fair=True, by="coordinator")
    def send_commit(self, r: Member) -> None:
        """The coordinator sends its decision until it is acknowledged."""
        when(
            self.coordinator.in_phase(Phase.COMMITTING), not_(self.coordinator.done[r])
        )
        self.down[r].send(ToParticipant.COMMIT)

    @action(per=RM, fair=True, by="coordinator")
    def send_abort(self, r: Member) -> None:
        """The coordinator sends its decision until it is acknowledged."""
        when(self.coordinator.in_phase(Phase.ABORTING), not_(self.coordinator.done[r]))
        self.down[r].send(ToParticipant.ABORT)

    @action(per=RM, fair=True, by="coordinator")
    def count_yes(self, r: Member) -> None:
        """A vote arrives."""
        when(self._hears(r, ToCoordinator.YES))
        self.up[r].receive()
        self.coordinator.voted[r] = True

    @action(per=RM, fair=True, by="coordinator")
    def count_no(self, r: Member) -> None:
        """A vote against arrives."""
        when(self._hears(r, ToCoordinator.NO), self.coordinator.in_phase(Phase.ASKING))
        self.up[r].receive()
        self.coordinator.phase = Phase.ABORTING

    @action(per=RM, fair=True, by="coordinator")
    def count_late_no(self, r: Member) -> None:
        """A vote against arrives when it is decided."""
        when(self._hears(r, ToCoordinator.NO), self.coordinator.phase != Phase.ASKING)
        self.up[r].receive()

    @action(per=RM, fair=True, by="coordinator")
    def count_done(self, r: Member) -> None:
        """An acknowledgement arrives."""
        when(self._hears(r, ToCoordinator.DONE))
        self.up[r].receive()
        self.coordinator.done[r] = True

    @action(per=RM, fair=True, by="coordinator")
    def answer(self, r: Member) -> None:
        """The coordinator answers a participant in doubt; it presumes abort."""
        when(
            self._hears(r, ToCoordinator.ASK),
            self.coordinator.phase == Phase.NOTHING,
            not_(all_of(self.coordinator.committed, not_(self.coordinator.ended))),
        )
        self.up[r].receive()
        self.down[r].send(ToParticipant.ABORT)

    @action(per=RM, fair=True, by="coordinator")
    def ignore(self, r: Member) -> None:
        """A question is ignored while the coordinator sends its decision anyway."""
        when(
            self._hears(r, ToCoordinator.ASK),
            any_of(
                self.coordinator.phase != Phase.NOTHING,
                all_of(self.coordinator.committed, not_(self.coordinator.ended)),
                not_(self.down[r].empty),
            ),
        )
        self.up[r].receive()

    @fault(by="coordinator")
    def crash_coordinator(self) -> None:
        """The coordinator dies, and can restart."""
        when(self.coordinator.alive == Alive.UP)
        self.coordinator.alive = Alive.DOWN
        self.coordinator.lose_volatile()

    @fault(at_most=stops, by="coordinator")
    def stop_coordinator(self) -> None:
        """The coordinator dies for good."""
        when(self.coordinator.alive == Alive.UP)
        self.coordinator.alive = Alive.STOPPED
        self.coordinator.lose_volatile()

    @action(per=RM, fair=True)
    def vote_yes(self, r: Member) -> None:
        """A participant forces its work to the log, and votes; or votes again."""
        when(
            self._receives(r, ToParticipant.PREPARE),
            any_of(
                all_of(self.log[r] == LogRecord.EMPTY, self.work[r]),
                self.log[r] == LogRecord.PREPARED,
            ),
        )
        self.down[r].receive()
        self.log[r] = LogRecord.PREPARED
        self.up[r].send(ToCoordinator.YES)

    @action(per=RM)
    def vote_no(self, r: Member) -> None:
        """A participant may always refuse before it has voted."""
        when(self._receives(r, ToParticipant.PREPARE), self.log[r] == LogRecord.EMPTY)
        self.down[r].receive()
        self.log[r] = LogRecord.ABORTED
        self.up[r].send(ToCoordinator.NO)

    @action(per=RM, fair=True)
    def refuse(self, r: Member) -> None:
        """Without its work, or having refused before, a participant must refuse."""
        when(
            self._receives(r, ToParticipant.PREPARE),
            any_of(
                all_of(self.log[r] == LogRecord.EMPTY, not_(self.work[r])),
                self.log[r] == LogRecord.ABORTED,
            ),
        )
        self.down[r].receive()
        self.log[r] = LogRecord.ABORTED
        self.up[r].send(ToCoordinator.NO)

    @action(per=RM, fair=True)
    def learn_commit(self, r: Member) -> None:
        """The decision is logged, then acknowledged."""
        when(self._receives(r, ToParticipant.COMMIT))
        self.down[r].receive()
        self.log[r] = LogRecord.COMMITTED
        self.up[r].send(ToCoordinator.DONE)

    @action(per=RM, fair=True)
    def learn_abort(self, r: Member) -> None:
        """The decision is logged, then acknowledged."""
        when(self._receives(r, ToParticipant.ABORT), self.log[r] != LogRecord.COMMITTED)
        self.down[r].receive()
        self.log[r] = LogRecord.ABORTED
        self.up[r].send(ToCoordinator.DONE)

    @action(per=RM, fair=True)
    def drop(self, r: Member) -> None:
        """A participant that has committed drops what it knows."""
        when(
            self.rm.up(r),
            self.log[r] == LogRecord.COMMITTED,
            any_of(
                self.down[r].head == ToParticipant.ABORT,
                self.down[r].head == ToParticipant.PREPARE,
            ),
        )
        self.down[r].receive()

    @action(per=RM, fair=True)
    def ask(self, r: Member) -> None:
        """A participant in doubt that hears nothing asks."""
        when(self.rm.up(r), self.log[r] == LogRecord.PREPARED, self.down[r].empty)
        self.up[r].send(ToCoordinator.ASK)

    @action(per=RM, fair=True)
    def restart(self, r: Member) -> None:
        """A participant restarts with what its log holds, and without its work."""
        when(self.rm.down(r))
        self.rm.restart(r)
        self.work[r] = False

    def _hears(self, r: Member, what: ToCoordinator) -> bool:
        return all_of(self.coordinator.alive == Alive.UP, self.up[r].head == what)

    def _receives(self, r: Member, what: ToParticipant) -> bool:
        return all_of(self.rm.up(r), self.down[r].head == what)

    @observe(per=RM)
    def visible(self, r: Member) -> bool:
        """A participant's share takes effect when it commits."""
        return self.log[r] == LogRecord.COMMITTED

    @observe(per=RM)
    def rejected(self, r: Member) -> bool:
        """A participant's share is given up when it aborts."""
        return self.log[r] == LogRecord.ABORTED

    @always
    def valid(self) -> bool:
        """Nothing is committed unless every participant has voted for it."""
        return implies(
            any_of(self.log[r] == LogRecord.COMMITTED for r in self.RM),
            all_of(
                any_of(
                    self.log[r] == LogRecord.PREPARED,
                    self.log[r] == LogRecord.COMMITTED,
                )
                for r in self.RM
            ),
        )

    @step
    def keeps_its_decision(self, after: TwoPhaseCommitLog) -> bool:
        """A decision, once logged, stays."""
        return all_of(
            all_of(
                implies(
                    self.log[r] == LogRecord.COMMITTED,
                    after.log[r] == LogRecord.COMMITTED,
                ),
                implies(
                    self.log[r] == LogRecord.ABORTED, after.log[r] == LogRecord.ABORTED
                ),
            )
            for r in self.RM
        )

    @lemma
    def nothing_happens_before_it_begins(self) -> bool:
        """Before the transaction begins, nothing is sent, logged or decided."""
        return implies(
            not_(self.coordinator.begun),
            all_of(
                self.coordinator.phase == Phase.NOTHING,
                not_(self.coordinator.committed),
                not_(self.coordinator.ended),
                all_of(self._untouched(r) for r in self.RM),
            ),
        )

    def _untouched(self, r: Member) -> bool:
        return all_of(
            self.log[r] == LogRecord.EMPTY,
            self.down[r].head == ToParticipant.NOTHING,
            self.up[r].head == ToCoordinator.NOTHING,
            not_(self.coordinator.voted[r]),
        )

    @lemma
    def decides_nothing_while_it_asks(self) -> bool:
        """While the coordinator asks, it has neither decided nor sent a decision."""
        return implies(
            self.coordinator.phase == Phase.ASKING,
            all_of(
                self.coordinator.begun,
                not_(self.coordinator.committed),
                not_(self.coordinator.ended),
                all_of(
                    all_of(
                        self.down[r].head != ToParticipant.COMMIT,
                        self.down[r].head != ToParticipant.ABORT,
                    )
                    for r in self.RM
                ),
            ),
        )

    @lemma
    def who_votes_is_prepared(self) -> bool:
        """While the coordinator asks, whoever has voted for it is prepared."""
        return all_of(
            implies(
                all_of(
                    self.coordinator.phase == Phase.ASKING,
                    any_of(
                        self.coordinator.voted[r],
                        self.up[r].head == ToCoordinator.YES,
                    ),
                ),
                self.log[r] == LogRecord.PREPARED,
            )
            for r in self.RM
        )

    @lemma
    def who_refuses_has_aborted(self) -> bool:
        """A participant whose vote against is on its way has aborted."""
        return all_of(
            implies(
                self.up[r].head == ToCoordinator.NO, self.log[r] == LogRecord.ABORTED
            )
            for r in self.RM
        )

    @lemma
    def acknowledges_what_is_logged(self) -> bool:
        """A participant that acknowledges a decision has logged one."""
        return all_of(
            implies(
                any_of(self.coordinator.done[r], self.up[r].head == ToCoordinator.DONE),
                any_of(
                    self.log[r] == LogRecord.COMMITTED, self.log[r] == LogRecord.ABORTED
                ),
            )
            for r in self.RM
        )

    @lemma
    def commits_on_a_decision(self) -> bool:
        """A commit that is sent or logged follows the decision to commit."""
        return all_of(
            implies(
                any_of(
                    self.down[r].head == ToParticipant.COMMIT,
                    self.log[r] == LogRecord.COMMITTED,
                ),
                self.coordinator.committed,
            )
            for r in self.RM
        )

    @lemma
    def all_are_prepared_once_it_commits(self) -> bool:
        """Once commit is decided, all are prepared or have committed."""
        return implies(
            self.coordinator.committed,
            all_of(
                any_of(
                    self.log[r] == LogRecord.PREPARED,
                    self.log[r] == LogRecord.COMMITTED,
                )
                for r in self.RM
            ),
        )

    @lemma
    def commits_before_it_is_forgotten(self) -> bool:
        """A commit is logged everywhere before it ends or abort is presumed."""
        return all_of(
            implies(
                all_of(
                    self.coordinator.committed,
                    any_of(
                        self.coordinator.ended,
                        self.down[r].head == ToParticipant.ABORT,
                    ),
                ),
                self.log[r] == LogRecord.COMMITTED,
            )
            for r in self.RM
        )

    @leads_to(per=RM)
    def is_decided(self, r: Member) -> tuple[bool, bool]:
        """A participant that has voted yes eventually learns the decision."""
        return self.log[r] == LogRecord.PREPARED, self.log[r] != LogRecord.PREPARED

    @sometimes
    def commits(self) -> bool:
        """Everyone can commit."""
        return all_of(self.log[r] == LogRecord.COMMITTED for r in self.RM)

    @sometimes
    def commits_after_a_crash(self) -> bool:
        """The decision can outlive the coordinator's memory."""
        return all_of(
            self.coordinator.alive == Alive.DOWN,
            self.coordinator.committed,
            any_of(self.log[r] == LogRecord.PREPARED for r in self.RM),
        )


class TwoPhaseCommitLogBlocked(TwoPhaseCommitLog):
    """The same with a coordinator that may die for good. Skeen, 1981.

    Nonblocking Commit Protocols, SIGMOD. A participant in doubt then waits for ever.
    """

    breaks = ("is-decided",)

    stops = param(1, "whether the coordinator may die for good")
