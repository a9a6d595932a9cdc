"""The election of a leader in Raft."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.vote_storages import ForgetsVote, StoresVote


class Mode(Enum):
    """What a server is in its term."""

    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


class RaftElection(Protocol):
    """Election of a leader for each term. Ongaro and Ousterhout, Raft, 2014.

    The steps are those of the election in Ongaro's specification of Raft, for logs that
    are empty. A message may come late, more than once, or never: so all that were ever
    sent are kept, as ``asked`` and ``granted``. A candidate asks all servers at once,
    and votes for itself without a message. A server stores its term and its vote.
    """

    SERVER = Sort("server", size=3)
    TERM = Sort("term", size=3, ordered=True)

    storage = part(StoresVote)

    term = state(0, per=SERVER, high=TERM - 1)
    vote = state(nobody_of(SERVER), per=SERVER)
    mode = state(Mode.FOLLOWER, per=SERVER, volatile=True)
    votes = state(False, per=(SERVER, SERVER), volatile=True)

    asked = state(False, per=(SERVER, TERM))
    granted = state(False, per=(SERVER, SERVER, TERM))
    elected = state(False, per=(SERVER, TERM))

    @action(per=SERVER)
    def time_out(self, s: Member) -> None:
        """A server that hears of no leader stands for the next term."""
        when(self.mode[s] != Mode.LEADER, self.term[s] < self.TERM.last)
        self.term[s] = self.term[s] + 1
        self.mode[s] = Mode.CANDIDATE
        self.vote[s] = s
        self.votes.where(lambda c, _: c == s).set(lambda _, v: v == s)
        self.asked[s, self.term[s]] = True

    @action(per=(SERVER, SERVER, TERM))
    def learn(self, s: Member, c: Member, t: Member) -> None:
        """A server that is asked in a newer term follows in that term."""
        when(self.asked[c, t], self.term[s] < t)
        self.term[s] = t
        self.mode[s] = Mode.FOLLOWER
        self.vote[s] = nobody

    @action(per=(SERVER, SERVER))
    def grant(self, v: Member, c: Member) -> None:
        """A server votes for one candidate in its term, and for no other."""
        when(self.asked[c, self.term[v]])
        when(any_of(self.vote[v] == nobody, self.vote[v] == c))
        self.vote[v] = c
        self.granted[v, c, self.term[v]] = True

    @action(per=(SERVER, SERVER))
    def count_vote(self, c: Member, v: Member) -> None:
        """A candidate receives a vote for its term."""
        when(self.mode[c] == Mode.CANDIDATE, self.granted[v, c, self.term[c]])
        self.votes[c, v] = True

    @action(per=SERVER)
    def become_leader(self, c: Member) -> None:
        """A candidate with the votes of a majority leads."""
        votes = count(self.votes[c, v] for v in self.SERVER)
        others = count(not_(self.votes[c, v]) for v in self.SERVER)
        when(self.mode[c] == Mode.CANDIDATE, votes > others)
        self.mode[c] = Mode.LEADER
        self.elected[c, self.term[c]] = True

    @fault(per=SERVER, at_most=1)
    def restart(self, s: Member) -> None:
        """A server restarts with what it has stored."""
        self.lose_volatile(s)
        self.vote[s] = self.storage.kept(self.vote[s])

    @always
    def elects_one_leader_a_term(self) -> bool:
        """No two servers become leaders in one term."""
        return all_of(
            implies(all_of(self.elected[a, t], self.elected[b, t]), a == b)
            for a in self.SERVER
            for b in self.SERVER
            for t in self.TERM
        )

    @step
    def goes_on(self, after: RaftElection) -> bool:
        """No server goes back to an earlier term."""
        return all_of(self.term[s] <= after.term[s] for s in self.SERVER)

    @sometimes
    def elects_again(self) -> bool:
        """There can be leaders in two terms."""
        return all_of(
            implies(t > 0, any_of(self.elected[s, t] for s in self.SERVER))
            for t in self.TERM
        )


class RaftElectionForgetful(RaftElection):
    """The same where a restart forgets the vote. Ongaro and Ousterhout, Raft, 2014."""

    breaks: ClassVar[tuple[str, ...]] = ("elects-one-leader-a-term",)

    storage = part(StoresVote, default=ForgetsVote)
