"""An approximate result of a stream: a summary in bounded memory."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.summaries import (
    EVENT,
    KEY,
    RUN,
    Counters,
)


class ApproximateResults(Protocol):
    """The keys of most events, by a summary. Akidau and others, VLDB 2015, and 2018.

    The Dataflow Model; Streaming Systems, chapter 1, approximation algorithms. Events
    come in any order, each as a batch that is logged, added to a summary, and
    committed. A result may miss a frequent key, or show another one: how far it is off
    is the algorithm's own. Whether a stream is off by as much as a batch run over the
    same events depends on what the algorithm makes of order and repeats.
    """

    role = "engine"

    EVENT = EVENT
    KEY = KEY
    RUN = RUN

    summary = part(Counters)

    key = state(member_of(KEY), per=EVENT)
    taken = state(False, per=EVENT)
    done = state(False, per=EVENT)
    added = state(False, volatile=True)
    in_batch = state(False, per=EVENT)

    @action(per=EVENT)
    def take(self, e: Member) -> None:
        """The next batch holds the event, in whatever order."""
        when(not_(self.taken[e]), self._idle())
        self.taken[e] = True

    @action(per=EVENT)
    def apply(self, e: Member) -> None:
        """The event of the batch is worked on."""
        when(self._runs(e), not_(self.added))
        self.added = True
        self.add_early(e)

    @action(per=EVENT)
    def commit(self, e: Member) -> None:
        """The batch is done, and its offsets are kept."""
        when(self._runs(e), self.added)
        self.add_late(e)
        self.done[e] = True
        self.added = False

    @action(per=EVENT)
    def run_batch(self, e: Member) -> None:
        """For the ledger: a batch run takes in all events, in their order."""
        when(
            all_of(self.done[x] for x in self.EVENT),
            not_(self.in_batch[e]),
            all_of(implies(x < e, self.in_batch[x]) for x in self.EVENT),
        )
        self.in_batch[e] = True
        self._add(self.RUN.last, e)

    @fault
    def crash(self) -> None:
        """The engine dies, and runs its last batch again unless it is committed."""
        when(not_(self._idle()))
        self.lose_volatile()

    def add_early(self, e: Member) -> None:
        """Before the commit, the summary is in memory, where a crash loses it."""

    def add_late(self, e: Member) -> None:
        """The summary is kept with the offsets, in one step."""
        self._add(self.RUN.first, e)

    def _add(self, r: Member, e: Member) -> None:
        self.summary.add(r, e, self.key[e])

    def _idle(self) -> bool:
        return all_of(self.done[e] == self.taken[e] for e in self.EVENT)

    def _runs(self, e: Member) -> bool:
        return all_of(self.taken[e], not_(self.done[e]))

    def _is_frequent(self, k: Member) -> bool:
        """Return whether most events are of the key."""
        return self.summary.is_most(count(self.key[e] == k for e in self.EVENT))

    @observe(per=KEY)
    def visible(self, k: Member) -> bool:
        """Readers are shown the key as that of most events."""
        return self.summary.shows(self.RUN.first, k)

    @observe(per=KEY)
    def accepted(self, k: Member) -> bool:
        """A key is owed that more than half of the events are of."""
        return self._is_frequent(k)

    @observe(per=KEY)
    def expected(self, k: Member) -> int:
        """A batch run of the same algorithm over the same events shows the key."""
        return if_else(self.summary.shows(self.RUN.last, k), 1, 0)

    @at_rest
    def all_is_read(self) -> bool:
        """At rest all events are committed, and the batch run has them as well."""
        return all_of(all_of(self.done[e], self.in_batch[e]) for e in self.EVENT)

    @sometimes
    def shows_what_is_frequent(self) -> bool:
        """The key of most events can be shown."""
        return any_of(all_of(self._is_frequent(k), self.visible(k)) for k in self.KEY)

    @sometimes
    def has_no_frequent_key(self) -> bool:
        """There may be no key of most events."""
        return not_(any_of(self._is_frequent(k) for k in self.KEY))


class ApproximateResultsInPlace(ApproximateResults):
    """The same; the summary is in a store of its own, written before the commit.

    At-least-once. A crash between the two has an event added again: marks stay as they
    are, and counters do not. Akidau
    and others, Streaming Systems, 2018.
    """

    def add_early(self, e: Member) -> None:
        """The store takes the event."""
        self._add(self.RUN.first, e)

    def add_late(self, e: Member) -> None:
        """The store has the event."""
