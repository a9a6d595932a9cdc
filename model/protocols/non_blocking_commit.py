"""Atomic commitment by a reliable broadcast, which never blocks."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.broadcasts import DecidesFirst, ForwardsFirst
from onceproof.model.protocols.simple_broadcast_commit import (
    Decision,
    SimpleBroadcastCommit,
)


class NonBlockingCommit(SimpleBroadcastCommit):
    """Atomic commitment by a reliable broadcast. Babaoglu and Toueg, 1993.

    The steps are those of Charpentier's specification ACP-NB. A participant
    forwards the decision to all others before it decides: so if anyone has decided,
    everyone alive learns it. A timeout is an abort only if nobody can have received a
    decision. ``forwarded[i, i]`` is what a participant has received, and
    ``forwarded[i, j]`` what it has forwarded to another.
    """

    breaks: ClassVar[tuple[str, ...]] = ()

    P = SimpleBroadcastCommit.P

    forwarding = part(ForwardsFirst)

    forwarded = state(Decision.NONE, per=(P, P))

    @action(per=(P, P), fair=True)
    def forward(self, i: Member, j: Member) -> None:
        """A participant forwards what it has received."""
        when(
            i != j,
            self.alive[i],
            self.forwarded[i, i] != Decision.NONE,
            self.forwarded[i, j] == Decision.NONE,
        )
        self.forwarded[i, j] = self.forwarded[i, i]

    @action(per=(P, P), fair=True)
    def learn(self, i: Member, j: Member) -> None:
        """A participant receives the decision from another."""
        when(
            i != j,
            self.alive[i],
            self.forwarded[i, i] == Decision.NONE,
            self.forwarded[j, i] != Decision.NONE,
        )
        self.forwarded[i, i] = self.forwarded[j, i]

    @action(per=P, fair=True)
    def learn_first(self, i: Member) -> None:
        """A participant receives the decision from the coordinator."""
        when(
            self.alive[i],
            self.forwarded[i, i] == Decision.NONE,
            self.sent[i] != Decision.NONE,
        )
        self.forwarded[i, i] = self.sent[i]

    @action(per=P, fair=True)
    def decide(self, i: Member) -> None:
        """A participant decides when it has forwarded the decision to all others."""
        undecided = self.decision[i] == Decision.NONE
        received = self.forwarded[i, i] != Decision.NONE
        forwarded = all_of(self.forwarded[i, j] != Decision.NONE for j in self.P)
        when(self.alive[i], self.forwarding.may_decide(undecided, received, forwarded))
        self.decision[i] = self.forwarded[i, i]

    def may_give_up(self, i: Member) -> bool:
        """Return whether a participant may abort without a decision to abort."""
        return not_(self.coordinator)

    @action(per=P, fair=True)
    def abort_on_timeout(self, i: Member) -> None:
        """The coordinator died, and nobody alive can receive its decision any more."""
        when(
            self.alive[i],
            self.decision[i] == Decision.NONE,
            not_(self.coordinator),
            all_of(
                implies(self.alive[j], self.sent[j] == Decision.NONE) for j in self.P
            ),
            all_of(
                implies(
                    all_of(not_(self.alive[j]), self.alive[k]),
                    self.forwarded[j, k] == Decision.NONE,
                )
                for j in self.P
                for k in self.P
            ),
        )
        self.decision[i] = Decision.ABORT

    @lemma
    def forwards_what_is_decided(self) -> bool:
        """A participant receives and forwards what is decided, and nothing else."""
        return all_of(
            any_of(
                self.forwarded[i, j] == Decision.NONE,
                self.forwarded[i, j] == self.decided,
            )
            for i in self.P
            for j in self.P
        )


class NonBlockingCommitHasty(NonBlockingCommit):
    """The same, deciding before it forwards. Babaoglu and Toueg, 1993.

    The mistake of Charpentier's specification ACP-NB-WRONG: a participant that has
    decided may die before anyone else hears of it, and the others then abort.
    """

    breaks: ClassVar[tuple[str, ...]] = ("agreement",)

    forwarding = part(ForwardsFirst, default=DecidesFirst)
