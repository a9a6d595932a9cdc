"""Election in a ring: Chang and Roberts, 1979."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    implies,
    not_,
    one_of,
    state,
    when,
)


class Standing(Enum):
    """How a node stands; of an initiator and of others, who have lost from the start.

    The specification has a variable for each; a node that is no initiator never
    leaves the state in which it begins.
    """

    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LOST = "lost"
    WON = "won"


class ChangRoberts(Protocol):
    """The node with the least identity is elected. Chang and Roberts, CACM, 1979.

    An improved algorithm for decentralized extrema-finding in circular configurations
    of processes. Node and identity are one number; a set of messages is a truth value
    for each. ``begun`` is the label of the first step.
    """

    N = Sort("node", size=3, ordered=True)

    standing = state(one_of(Standing.FOLLOWER, Standing.CANDIDATE), per=N)
    begun = state(False, per=N)
    waits = state(False, per=(N, N))

    @action(per=(N, N))
    def begin(self, n: Member, after: Member) -> None:
        """An initiator sends its identity to its neighbour."""
        when(self.follows(after, n), not_(self.begun[n]))
        self.begun[n] = True
        self.waits[after, n] = any_of(
            self.waits[after, n], self.standing[n] == Standing.CANDIDATE
        )

    @action(per=(N, N, N))
    def forward(self, n: Member, after: Member, id_: Member) -> None:
        """Who has lost passes a message on; who sees a lesser identity has lost."""
        lost = any_of(
            self.standing[n] == Standing.FOLLOWER, self.standing[n] == Standing.LOST
        )
        when(
            self.follows(after, n),
            self.begun[n],
            self.waits[n, id_],
            any_of(lost, id_ < n),
        )
        self.waits[n, id_] = False
        self.waits[after, id_] = True
        self.standing[n] = self.after_loss(n)

    def after_loss(self, n: Member) -> Standing:
        """Give how a node stands once it has seen a lesser identity."""
        from onceproof.model.language import if_else

        return if_else(
            self.standing[n] == Standing.FOLLOWER, Standing.FOLLOWER, Standing.LOST
        )

    @action(per=(N, N))
    def keep(self, n: Member, id_: Member) -> None:
        """A candidate keeps a greater identity to itself."""
        when(self.begun[n], self.waits[n, id_], self.stands(n), n < id_)
        self.waits[n, id_] = False

    @action(per=N)
    def win(self, n: Member) -> None:
        """A candidate whose own identity has come round has won."""
        when(self.begun[n], self.waits[n, n], self.stands(n))
        self.waits[n, n] = False
        self.standing[n] = Standing.WON

    def stands(self, n: Member) -> bool:
        """Whether a node has not lost."""
        return any_of(
            self.standing[n] == Standing.CANDIDATE, self.standing[n] == Standing.WON
        )

    def follows(self, after: Member, n: Member) -> bool:
        """Whether a node is the next in the ring."""
        return any_of(after == n + 1, all_of(n == self.N.last, after == self.N.first))

    @always
    def is_correct(self) -> bool:
        """Who wins is the initiator of the least identity, and all others have lost."""
        return all_of(
            implies(
                all_of(self.standing[n] == Standing.WON, m != n),
                any_of(
                    self.standing[m] == Standing.FOLLOWER,
                    all_of(self.standing[m] == Standing.LOST, n < m),
                ),
            )
            for n in self.N
            for m in self.N
        )
