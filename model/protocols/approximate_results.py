"""An approximate result of a stream: a sketch in bounded memory."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.sketch_places import StoreOfItsOwn, WithOffsets
from onceproof.model.protocols.parts.sketches import EVENT, KEY, RUN, CountMinSketch


class ApproximateResults(Protocol):
    """A frequent key, by a sketch. Akidau and others, Streaming Systems, 2018.

    Chapter 1, approximation algorithms. Events come in any order, each as a batch that
    is logged, added to a sketch, and committed. When the input has ended, readers are
    shown which keys more than half of the events have. A sketch may miss such a key, or
    show another one: that is the algorithm's own error, and a batch run has it, too.
    The result is owed as a batch run shows it, which adds the events in the order of
    their numbers.
    """

    role = "engine"

    EVENT = EVENT
    KEY = KEY
    RUN = RUN

    sketch = part(CountMinSketch)
    place = part(WithOffsets)

    key = state(member_of(KEY), per=EVENT)
    in_batch_run = state(False, per=EVENT)
    taken = state(False, per=EVENT)
    done = state(False, per=EVENT)
    added = state(False, volatile=True)

    @action(per=EVENT)
    def run_batch(self, e: Member) -> None:
        """For the ledger: a batch run adds the events before the stream begins."""
        when(
            not_(self.in_batch_run[e]),
            all_of(implies(x < e, self.in_batch_run[x]) for x in self.EVENT),
        )
        self.in_batch_run[e] = True
        self._add(self.RUN.last, e)

    @action(per=EVENT)
    def take(self, e: Member) -> None:
        """The next batch holds the event, in whatever order."""
        when(
            all_of(self.in_batch_run[x] for x in self.EVENT),
            not_(self.taken[e]),
            self._idle(),
        )
        self.taken[e] = True

    @action(per=EVENT)
    def apply(self, e: Member) -> None:
        """The event of the batch is worked on."""
        when(self._runs(e), not_(self.added))
        self.added = True
        if self.place.is_early:
            self._add(self.RUN.first, e)

    @action(per=EVENT)
    def commit(self, e: Member) -> None:
        """The batch is done, and its offsets are kept."""
        when(self._runs(e), self.added)
        if not self.place.is_early:
            self._add(self.RUN.first, e)
        self.done[e] = True
        self.added = False

    @fault
    def crash(self) -> None:
        """The engine dies, and runs its last batch again unless it is committed."""
        when(not_(self._idle()))
        self.lose_volatile()

    def _add(self, r: Member, e: Member) -> None:
        self.sketch.add(r, e, self.key[e])

    def _idle(self) -> bool:
        return all_of(self.done[e] == self.taken[e] for e in self.EVENT)

    def _runs(self, e: Member) -> bool:
        return all_of(self.taken[e], not_(self.done[e]))

    def _is_frequent(self, k: Member) -> bool:
        """Return whether most events are of the key."""
        return self.sketch.is_most(count(self.key[e] == k for e in self.EVENT))

    @observe(per=KEY)
    def visible(self, k: Member) -> bool:
        """When the input has ended, readers are shown the key."""
        ended = all_of(self.done[e] for e in self.EVENT)
        return all_of(ended, self.sketch.shows(self.RUN.first, k))

    @observe(per=KEY)
    def accepted(self, k: Member) -> bool:
        """A key is owed that a batch run shows."""
        return self.sketch.shows(self.RUN.last, k)

    @observe(per=KEY)
    def expected(self, k: Member) -> int:
        """A batch run of the same algorithm over the same events shows the key."""
        return if_else(self.accepted(k), 1, 0)

    @observe
    def unexplained(self) -> int:
        """How many keys are shown that a batch run does not show."""
        return count(all_of(self.visible(k), not_(self.accepted(k))) for k in self.KEY)

    @at_rest
    def misses_no_frequent_key(self) -> bool:
        """At rest each key is shown that more than half of the events have."""
        return all_of(implies(self._is_frequent(k), self.visible(k)) for k in self.KEY)

    @sometimes
    def shows_a_frequent_key(self) -> bool:
        """The key of most events can be shown."""
        return any_of(all_of(self._is_frequent(k), self.visible(k)) for k in self.KEY)

    @sometimes
    def shows_another_key(self) -> bool:
        """The result is approximate: a key can be shown that is not frequent."""
        return any_of(
            all_of(not_(self._is_frequent(k)), self.visible(k)) for k in self.KEY
        )


class ApproximateResultsInPlace(ApproximateResults):
    """The same; the sketch is in a store of its own. Streaming Systems, 2018.

    The store is written before the batch is committed: at-least-once. A crash between
    the two has an event added again. A bitmap stays as it is, and counters do not.
    """

    place = part(WithOffsets, default=StoreOfItsOwn)
