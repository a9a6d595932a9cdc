"""Atomic commitment by a simple broadcast, which can block."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from onceproof.model.language import *


class Heard(Enum):
    """What the coordinator has heard of a vote."""

    WAITING = "waiting"
    YES = "yes"
    NO = "no"


class Decision(Enum):
    """What is decided, or has been sent."""

    NONE = "none"
    COMMIT = "commit"
    ABORT = "abort"


class SimpleBroadcastCommit(Protocol):
    """Atomic commitment by a simple broadcast. Babaoglu and Toueg, 1993.

    Non-Blocking Atomic Commitment, in Distributed Systems, ACM Press; the steps are
    those of Charpentier's specification ACP-SB. A broadcast is a series of messages,
    and a crash may fall in between. Who has crashed is known to all, and never comes
    back. A participant in doubt then waits for ever.
    """

    breaks: ClassVar[tuple[str, ...]] = ("terminates",)

    P = Sort("participant", size=2)
    faults = param(3, "how many of the processes may crash")

    votes_yes = state(one_of(False, True), per=P)
    voted = state(False, per=P)
    alive = state(True, per=P)
    decision = state(Decision.NONE, per=P)

    requested = state(False, per=P)
    heard = state(Heard.WAITING, per=P)
    sent = state(Decision.NONE, per=P)
    coordinator = state(True)
    decided = state(Decision.NONE)

    @action(per=P, fair=True, by="coordinator")
    def request(self, i: Member) -> None:
        """The coordinator asks for a vote."""
        when(self.coordinator, not_(self.requested[i]))
        self.requested[i] = True

    @action(per=P, fair=True, by="coordinator")
    def get_vote(self, i: Member) -> None:
        """The coordinator hears a vote."""
        when(self._collects(i), self.voted[i])
        self.heard[i] = if_else(self.votes_yes[i], Heard.YES, Heard.NO)

    @action(per=P, fair=True, by="coordinator")
    def detect_fault(self, i: Member) -> None:
        """A participant died before it voted: the coordinator aborts."""
        when(self._collects(i), not_(self.alive[i]), not_(self.voted[i]))
        self.decided = Decision.ABORT

    def _collects(self, i: Member) -> bool:
        return all_of(
            self.coordinator,
            self.decided == Decision.NONE,
            all_of(self.requested[j] for j in self.P),
            self.heard[i] == Heard.WAITING,
        )

    @action(fair=True, by="coordinator")
    def decide_commit(self) -> None:
        """Everyone votes for it."""
        when(
            self.coordinator,
            self.decided == Decision.NONE,
            all_of(self.heard[j] == Heard.YES for j in self.P),
        )
        self.decided = Decision.COMMIT

    @action(fair=True, by="coordinator")
    def decide_abort(self) -> None:
        """Everyone has voted, and someone against."""
        when(
            self.coordinator,
            self.decided == Decision.NONE,
            all_of(self.heard[j] != Heard.WAITING for j in self.P),
            any_of(self.heard[j] == Heard.NO for j in self.P),
        )
        self.decided = Decision.ABORT

    @action(per=P, fair=True, by="coordinator")
    def broadcast(self, i: Member) -> None:
        """The coordinator sends its decision to one participant."""
        when(
            self.coordinator,
            self.decided != Decision.NONE,
            self.sent[i] == Decision.NONE,
        )
        self.sent[i] = self.decided

    @action(per=P, fair=True)
    def vote(self, i: Member) -> None:
        """A participant sends its vote, or sends it again."""
        when(self.alive[i], self.requested[i])
        self.voted[i] = True

    @action(per=P, fair=True)
    def abort_on_vote(self, i: Member) -> None:
        """A participant that votes no need not wait."""
        when(
            self.alive[i],
            self.decision[i] == Decision.NONE,
            self.voted[i],
            not_(self.votes_yes[i]),
        )
        self.decision[i] = Decision.ABORT

    @action(per=P, fair=True)
    def abort_unasked(self, i: Member) -> None:
        """The coordinator died before it asked."""
        when(
            self.alive[i],
            self.decision[i] == Decision.NONE,
            not_(self.coordinator),
            not_(self.requested[i]),
        )
        self.decision[i] = Decision.ABORT

    @action(per=P, fair=True)
    def decide(self, i: Member) -> None:
        """A participant takes over the decision that it receives."""
        when(
            self.alive[i],
            self.decision[i] == Decision.NONE,
            self.sent[i] != Decision.NONE,
        )
        self.decision[i] = self.sent[i]

    @fault(by="coordinator")
    def coordinator_crashes(self) -> None:
        """The coordinator dies for good."""
        when(self.coordinator)
        self.coordinator = False

    @fault(per=P)
    def crash(self, i: Member) -> None:
        """A participant dies for good."""
        when(self.alive[i])
        self.alive[i] = False

    @observe(per=P)
    def visible(self, i: Member) -> bool:
        """A participant's share takes effect when it commits."""
        return self.decision[i] == Decision.COMMIT

    @observe(per=P)
    def rejected(self, i: Member) -> bool:
        """A participant's share is given up when it aborts."""
        return self.decision[i] == Decision.ABORT

    @always
    def is_valid(self) -> bool:
        """Nobody commits unless all vote for it."""
        return implies(
            any_of(self.decision[i] == Decision.COMMIT for i in self.P),
            all_of(self.votes_yes[i] for i in self.P),
        )

    @always
    def aborts_for_cause(self) -> bool:
        """Nobody aborts unless someone votes against, or has died."""
        return implies(
            any_of(self.decision[i] == Decision.ABORT for i in self.P),
            any_of(
                not_(self.coordinator),
                any_of(
                    any_of(not_(self.votes_yes[i]), not_(self.alive[i])) for i in self.P
                ),
            ),
        )

    @lemma
    def sends_what_is_decided(self) -> bool:
        """The coordinator sends its decision, and no other."""
        return all_of(
            any_of(self.sent[i] == Decision.NONE, self.sent[i] == self.decided)
            for i in self.P
        )

    @lemma
    def commits_on_all_votes(self) -> bool:
        """The coordinator commits when it has heard every vote, all for it."""
        return implies(
            self.decided == Decision.COMMIT,
            all_of(self.heard[i] == Heard.YES for i in self.P),
        )

    @lemma
    def hears_what_is_voted(self) -> bool:
        """What the coordinator heard of a vote is true, and it asked for that vote."""
        return all_of(
            all_of(
                implies(self.heard[i] == Heard.YES, self.votes_yes[i]),
                implies(self.heard[i] == Heard.NO, not_(self.votes_yes[i])),
                implies(self.heard[i] != Heard.WAITING, self.requested[i]),
            )
            for i in self.P
        )

    @lemma
    def aborts_for_want_of_a_participant(self) -> bool:
        """The coordinator aborts for a vote against it, or since someone died."""
        return implies(
            self.decided == Decision.ABORT,
            any_of(
                any_of(not_(self.votes_yes[i]), not_(self.alive[i])) for i in self.P
            ),
        )

    @lemma
    def decides_as_received(self) -> bool:
        """A commit follows the coordinator's decision; an abort may be a timeout."""
        return all_of(
            all_of(
                implies(
                    self.decision[i] == Decision.COMMIT,
                    self.decided == Decision.COMMIT,
                ),
                implies(
                    self.decision[i] == Decision.ABORT,
                    any_of(
                        not_(self.votes_yes[i]),
                        self.decided == Decision.ABORT,
                        self.may_give_up(i),
                    ),
                ),
            )
            for i in self.P
        )

    def may_give_up(self, i: Member) -> bool:
        """Return whether a participant may abort without a decision to abort."""
        return all_of(not_(self.coordinator), not_(self.requested[i]))

    @step
    def keeps_its_decision(self, after: SimpleBroadcastCommit) -> bool:
        """A participant that has decided does not change its mind."""
        return all_of(
            implies(
                self.decision[i] != Decision.NONE,
                after.decision[i] == self.decision[i],
            )
            for i in self.P
        )

    @leads_to(per=P)
    def terminates(self, i: Member) -> tuple[bool, bool]:
        """Every participant eventually decides, or dies."""
        return (
            self.decision[i] == Decision.NONE,
            any_of(self.decision[i] != Decision.NONE, not_(self.alive[i])),
        )

    @sometimes
    def commits(self) -> bool:
        """All can commit."""
        return all_of(self.decision[i] == Decision.COMMIT for i in self.P)

    @sometimes
    def commits_without_a_coordinator(self) -> bool:
        """All can commit after the coordinator has died."""
        return all_of(self.commits(), not_(self.coordinator))
