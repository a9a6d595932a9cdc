"""The echo algorithm, which finds a spanning tree: Chang, 1982."""

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
    by_member,
    implies,
    not_,
    state,
    when,
)


class At(Enum):
    """Where a node is in its program."""

    BEGIN = "begin"
    RECEIVE = "receive"
    ANSWER = "answer"
    DONE = "done"


class Echo(Protocol):
    """A tree over a graph in which all are neighbours. Chang, IEEE TSE, 1982.

    Echo Algorithms: Depth Parallel Operations on General Graphs. Sets of messages, of
    children and the parent are truth values for each neighbour.
    """

    N = Sort("node", size=3)

    initiator = state(by_member(lambda n: n == 0), per=N)
    at = state(At.BEGIN, per=N)
    asked = state(False, per=(N, N))
    answered = state(False, per=(N, N))
    parent = state(False, per=(N, N))
    child = state(False, per=(N, N))
    received = state(0, high=2, per=N)

    @action(per=N)
    def begin(self, n: Member) -> None:
        """The initiator asks all its neighbours."""
        when(self.at[n] == At.BEGIN)
        self.at[n] = At.RECEIVE
        self.asked.set(
            lambda x, y: any_of(
                self.asked[x, y], all_of(y == n, x != n, self.initiator[n])
            )
        )

    @action(per=(N, N))
    def receive_first(self, n: Member, m: Member) -> None:
        """The first who asks is the parent; all others are asked in turn."""
        when(
            self.at[n] == At.RECEIVE,
            self.asked[n, m],
            not_(self.initiator[n]),
            self.received[n] == 0,
        )
        self.received[n] = 1
        self.parent[n, m] = True
        self.asked.set(
            lambda x, y: any_of(
                all_of(self.asked[x, y], not_(all_of(x == n, y == m))),
                all_of(y == n, x != n, x != m),
            )
        )

    @action(per=(N, N))
    def receive_more(self, n: Member, m: Member) -> None:
        """Others who ask are counted."""
        when(self.at[n] == At.RECEIVE, self.asked[n, m], self._counts(n))
        self.asked[n, m] = False
        self.received[n] = self.received[n] + 1

    @action(per=(N, N))
    def receive_answer(self, n: Member, m: Member) -> None:
        """Who answers is a child."""
        when(self.at[n] == At.RECEIVE, self.answered[n, m], self._counts(n))
        self.answered[n, m] = False
        self.received[n] = self.received[n] + 1
        self.child[n, m] = True

    def _counts(self, n: Member) -> bool:
        return all_of(
            self.received[n] < 2, any_of(self.initiator[n], self.received[n] > 0)
        )

    @action(per=N)
    def hear_all(self, n: Member) -> None:
        """Every neighbour has been heard."""
        when(self.at[n] == At.RECEIVE, self.received[n] == 2)
        self.at[n] = At.ANSWER

    @action(per=N)
    def answer(self, n: Member) -> None:
        """A node answers its parent."""
        when(self.at[n] == At.ANSWER)
        self.at[n] = At.DONE
        self.answered.set(
            lambda x, y: any_of(
                self.answered[x, y],
                all_of(y == n, self.parent[n, x], not_(self.initiator[n])),
            )
        )

    @always
    def parents_have_their_children(self) -> bool:
        """A child has its parent, and a parent that is done has its child."""
        return all_of(
            all_of(
                implies(self.child[m, n], self.parent[n, m]),
                implies(
                    all_of(self.parent[n, m], self.at[m] == At.DONE), self.child[m, n]
                ),
            )
            for m in self.N
            for n in self.N
        )

    @always
    def no_first_message_is_an_answer(self) -> bool:
        """Who has heard nobody is asked, and never answered."""
        return all_of(
            implies(
                all_of(self.answered[n, m], not_(self.initiator[n])),
                self.received[n] > 0,
            )
            for n in self.N
            for m in self.N
        )
