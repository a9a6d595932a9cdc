"""Termination detection in a ring: Dijkstra, Feijen and van Gasteren, EWD840, 1983."""

from __future__ import annotations

from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    implies,
    leads_to,
    not_,
    one_of,
    state,
    when,
)


class Ewd840(Protocol):
    """A token goes round, and is stained by who woke another. EWD840, 1983.

    Every activity, colour and place of the token is a start. True stands for orange.
    """

    N = Sort("node", size=3, ordered=True)

    active = state(one_of(False, True), per=N)
    orange = state(one_of(False, True), per=N)
    token = state(one_of(0, 1, 2), high=2)
    token_orange = state(True)

    @action(fair=True)
    def initiate_probe(self) -> None:
        """The first node sends the token round once more."""
        first, last = self.N.first, self.N.last
        when(self.token == 0, any_of(self.token_orange, self.orange[first]))
        self.token = last
        self.token_orange = False
        self.orange[first] = False

    @action(per=N, fair=True)
    def pass_token(self, i: Member) -> None:
        """A node passes the token on, and stains it if it is stained itself."""
        when(
            i > 0,
            self.token == i,
            any_of(not_(self.active[i]), self.orange[i], self.token_orange),
        )
        self.token_orange = any_of(self.orange[i], self.token_orange)
        self.token = i - 1
        self.orange[i] = False

    @action(per=(N, N))
    def send(self, i: Member, j: Member) -> None:
        """An active node wakes another; one behind the token stains the sender."""
        when(i != j, self.active[i])
        self.active[j] = True
        self.orange[i] = any_of(self.orange[i], i < j)

    @action(per=N)
    def deactivate(self, i: Member) -> None:
        """An active node becomes passive."""
        when(self.active[i])
        self.active[i] = False

    def detected(self) -> bool:
        """Whether the first node may conclude that all have terminated."""
        first = self.N.first
        return all_of(
            self.token == 0,
            not_(self.token_orange),
            not_(self.orange[first]),
            not_(self.active[first]),
        )

    def terminated(self) -> bool:
        """Whether every node is passive."""
        return all_of(not_(self.active[i]) for i in self.N)

    @always
    def detects_only_termination(self) -> bool:
        """What is detected is so."""
        return implies(self.detected(), self.terminated())

    @leads_to
    def detects_termination(self) -> tuple[bool, bool]:
        """Termination is detected at last."""
        return self.terminated(), self.detected()
