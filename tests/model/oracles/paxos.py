"""Paxos: Lamport, The Part-Time Parliament, 1998; Paxos Made Simple, 2001."""

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
    nobody,
    nobody_of,
    not_,
    sometimes,
    state,
    when,
)


class Paxos(Protocol):
    """Consensus of acceptors on one value, as Paxos.tla of tlaplus/Examples.

    Messages are never lost from the set of all that were sent. An acceptor promises a
    ballot once, so that the message of phase 1b is a row for each; a ballot proposes
    one value, so that the message of phase 2a is a value for each, or nobody. Quorums
    are the pairs of acceptors, a majority of three.
    """

    ACC = Sort("acceptor", size=3)
    BALLOT = Sort("ballot", size=2, ordered=True)
    VALUE = Sort("value", size=2)

    max_bal = state(-1, per=ACC, low=-1, high=BALLOT)
    voted_bal = state(-1, per=ACC, low=-1, high=BALLOT)
    voted = state(nobody_of(VALUE), per=ACC)

    prepared = state(False, per=BALLOT)
    promised = state(False, per=(ACC, BALLOT))
    promised_bal = state(-1, per=(ACC, BALLOT), low=-1, high=BALLOT)
    promised_value = state(nobody_of(VALUE), per=(ACC, BALLOT))
    proposed = state(nobody_of(VALUE), per=BALLOT)
    accepted_by = state(nobody_of(VALUE), per=(ACC, BALLOT))

    @action(per=BALLOT)
    def phase_1a(self, b: Member) -> None:
        """The leader of a ballot asks for promises."""
        self.prepared[b] = True

    @action(per=(ACC, BALLOT))
    def phase_1b(self, a: Member, b: Member) -> None:
        """An acceptor promises, and says what it has voted for."""
        when(self.prepared[b], self.max_bal[a] < b)
        self.max_bal[a] = b
        self.promised[a, b] = True
        self.promised_bal[a, b] = self.voted_bal[a]
        self.promised_value[a, b] = self.voted[a]

    @action(per=(BALLOT, VALUE))
    def phase_2a(self, b: Member, v: Member) -> None:
        """The leader proposes a value that a quorum lets it choose."""
        when(self.proposed[b] == nobody)
        when(
            any_of(
                all_of(p != q, self.promised[p, b], self.promised[q, b])
                & self.lets(p, q, b, v)
                for p in self.ACC
                for q in self.ACC
            )
        )
        self.proposed[b] = v

    def lets(self, p: Member, q: Member, b: Member, v: Member) -> bool:
        """Neither has voted, or the later vote of the two is for the value."""
        one, other = self.promised_bal[p, b], self.promised_bal[q, b]
        return any_of(
            all_of(one < 0, other < 0),
            all_of(one >= 0, one >= other, self.promised_value[p, b] == v),
            all_of(other >= 0, other >= one, self.promised_value[q, b] == v),
        )

    @action(per=(ACC, BALLOT, VALUE))
    def phase_2b(self, a: Member, b: Member, v: Member) -> None:
        """An acceptor votes for what is proposed."""
        when(self.proposed[b] == v, self.max_bal[a] <= b)
        self.max_bal[a] = b
        self.voted_bal[a] = b
        self.voted[a] = v
        self.accepted_by[a, b] = v

    def chosen(self, v: Member) -> bool:
        """A quorum has voted for the value in one ballot."""
        return any_of(
            all_of(p != q, self.accepted_by[p, b] == v, self.accepted_by[q, b] == v)
            for p in self.ACC
            for q in self.ACC
            for b in self.BALLOT
        )

    @always
    def agreement(self) -> bool:
        """No two values are chosen."""
        return all_of(
            implies(all_of(self.chosen(v), self.chosen(w)), v == w)
            for v in self.VALUE
            for w in self.VALUE
        )

    @always
    def one_vote_a_ballot(self) -> bool:
        """No two acceptors vote for different values in one ballot."""
        return all_of(
            any_of(
                self.accepted_by[p, b] == nobody,
                self.accepted_by[q, b] == nobody,
                self.accepted_by[p, b] == self.accepted_by[q, b],
            )
            for p in self.ACC
            for q in self.ACC
            for b in self.BALLOT
        )

    @sometimes
    def chooses(self) -> bool:
        """Some value can be chosen."""
        return any_of(self.chosen(v) for v in self.VALUE)


class ForgetfulPaxos(Paxos):
    """The same with leaders that propose what they like, whatever was voted for."""

    def lets(self, p: Member, q: Member, b: Member, v: Member) -> bool:
        """Any value will do."""
        return not_(p == q)
