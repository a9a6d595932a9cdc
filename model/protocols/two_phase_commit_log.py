"""Two-phase commit with messages that can be lost, logs, crashes and presumed abort."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import *


class Phase(Enum):
    """What the coordinator remembers of the transaction."""

    NOTHING = "nothing"
    ASKING = "asking"
    COMMITTING = "committing"
    ABORTING = "aborting"


class Alive(Enum):
    """Whether the coordinator runs."""

    UP = "up"
    DOWN = "down"
    STOPPED = "stopped"


class ToParticipant(Enum):
    """What the coordinator sends."""

    NOTHING = "nothing"
    PREPARE = "prepare"
    COMMIT = "commit"
    ABORT = "abort"


class ToCoordinator(Enum):
    """What a participant sends."""

    NOTHING = "nothing"
    YES = "yes"
    NO = "no"
    DONE = "done"
    ASK = "ask"


class LogRecord(Enum):
    """The last record in a participant's log."""

    EMPTY = "empty"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


RM = Sort("participant", size=2)


class Coordinator(Part):
    """The process that decides. Its log holds the decision to commit, and no other."""

    RM = RM
    alive = state(Alive.UP)
    begun = state(False)
    committed = state(False)
    ended = state(False)
    phase = state(Phase.NOTHING, volatile=True)
    voted = state(False, per=RM, volatile=True)
    done = state(False, per=RM, volatile=True)

    def in_phase(self, phase: Phase) -> bool:
        """Whether it runs, and is in a phase."""
        return all_of(self.alive == Alive.UP, self.phase == phase)

    @action(fair=True)
    def begin(self) -> None:
        """A transaction begins; nothing is logged."""
        when(self.alive == Alive.UP, not_(self.begun))
        self.begun = True
        self.phase = Phase.ASKING

    @action(fair=True)
    def commit(self) -> None:
        """With every vote the decision to commit is forced to the log."""
        when(self.in_phase(Phase.ASKING), all_of(self.voted[r] for r in self.RM))
        self.phase = Phase.COMMITTING
        self.committed = True

    @action(fair=True)
    def time_out(self) -> None:
        """A vote is missing for too long: the coordinator aborts, and logs nothing."""
        when(self.in_phase(Phase.ASKING))
        self.phase = Phase.ABORTING

    @action(fair=True)
    def end(self) -> None:
        """Every participant has logged the decision: it can be forgotten."""
        when(
            any_of(self.in_phase(Phase.COMMITTING), self.in_phase(Phase.ABORTING)),
            all_of(self.done[r] for r in self.RM),
        )
        self.phase = Phase.NOTHING
        self.ended = True

    @action(fair=True)
    def recover(self) -> None:
        """A logged commit that has not ended goes on; nothing else is known."""
        when(self.alive == Alive.DOWN)
        self.alive = Alive.UP

    @action(fair=True)
    def resume(self) -> None:
        """What the log holds is sent again."""
        when(
            self.in_phase(Phase.NOTHING),
            self.committed,
            not_(self.ended),
        )
        self.phase = Phase.COMMITTING


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
