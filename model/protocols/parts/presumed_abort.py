"""The coordinator of a commit with presumed abort, and what is sent and logged."""

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

    @lemma
    def acts_on_its_log(self) -> bool:
        """The coordinator commits or aborts as its log says."""
        return all_of(
            implies(self.phase == Phase.COMMITTING, self.committed),
            implies(self.phase == Phase.ABORTING, not_(self.committed)),
        )


class SentBeforeLogged(Coordinator):
    """The decision to commit is sent, and forced to the log later.

    A crash between the two leaves a participant that has committed, and a coordinator
    that knows nothing and presumes abort.
    """

    breaks = ("agreement", "valid", "commits-on-a-decision", "acts-on-its-log")

    @action(fair=True)
    def commit(self) -> None:
        """With every vote the decision to commit is sent."""
        when(self.in_phase(Phase.ASKING), all_of(self.voted[r] for r in self.RM))
        self.phase = Phase.COMMITTING

    @action(fair=True)
    def force(self) -> None:
        """The decision to commit is forced to the log."""
        when(self.in_phase(Phase.COMMITTING), not_(self.committed))
        self.committed = True
