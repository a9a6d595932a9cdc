"""A filter and an inner join of two inputs: neither asks for the time of an event."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.join_states import LEFT, RIGHT, JoinState


class FilterAndJoin(Protocol):
    """Time-agnostic processing. Akidau and others, The Dataflow Model, VLDB 2015.

    Events of two inputs come in any order, each as a batch that is logged, whose pairs
    are written by their key, and whose state is committed. Whatever the order, and
    wherever the engine dies, the pairs are those of a batch run, without a watermark.
    """

    role = "engine"

    LEFT = LEFT
    RIGHT = RIGHT

    kept = part(JoinState)

    passes = state(one_of(False, True), per=LEFT)
    left_key = state(one_of(False, True), per=LEFT)
    right_key = state(one_of(False, True), per=RIGHT)

    left = state(False, per=LEFT)
    right = state(False, per=RIGHT)
    running = state(False)
    left_done = state(False, per=LEFT)
    right_done = state(False, per=RIGHT)
    written = state(False, volatile=True)
    shown = state(False, per=(LEFT, RIGHT))

    @action(per=LEFT)
    def log_left(self, x: Member) -> None:
        """The next batch holds an event of the left input."""
        when(not_(self.running), not_(self.left[x]))
        self.left[x] = True
        self.running = True

    @action(per=RIGHT)
    def log_right(self, y: Member) -> None:
        """The next batch holds an event of the right input."""
        when(not_(self.running), not_(self.right[y]))
        self.right[y] = True
        self.running = True

    @action
    def write(self) -> None:
        """The pairs of the batch are written."""
        when(self.running, not_(self.written))
        self.written = True
        self.shown.where(self._meets).fill(value=True)

    @action
    def commit(self) -> None:
        """The batch is done, and its event is kept if it passes the filter."""
        when(self.running, self.written)
        self.kept.left.where(
            lambda x: all_of(self.left[x], not_(self.left_done[x]), self.passes[x])
        ).fill(value=True)
        self.kept.right.where(
            lambda y: all_of(self.right[y], not_(self.right_done[y]))
        ).fill(value=True)
        self.left_done.set(lambda x: self.left[x])
        self.right_done.set(lambda y: self.right[y])
        self.running = False
        self.written = False

    @fault
    def crash(self) -> None:
        """The engine dies, and runs its last batch again unless it is committed."""
        when(self.running)
        self.lose_volatile()

    def _meets(self, x: Member, y: Member) -> bool:
        new_left = all_of(self.left[x], not_(self.left_done[x]), self.passes[x])
        new_right = all_of(self.right[y], not_(self.right_done[y]))
        return all_of(
            self.left_key[x] == self.right_key[y],
            any_of(self.kept.left[x], new_left),
            any_of(self.kept.right[y], new_right),
        )

    @observe(per=(LEFT, RIGHT))
    def visible(self, x: Member, y: Member) -> bool:
        """Whether the pair is in the result."""
        return self.shown[x, y]

    @observe(per=(LEFT, RIGHT))
    def accepted(self, x: Member, y: Member) -> bool:
        """A pair is owed if its left event passes, and the keys are equal."""
        return all_of(self.passes[x], self.left_key[x] == self.right_key[y])

    @observe(per=(LEFT, RIGHT))
    def expected(self, x: Member, y: Member) -> int:
        """A batch run shows each such pair once."""
        return if_else(self.accepted(x, y), 1, 0)

    @lemma
    def runs_until_done(self) -> bool:
        """Each event that is logged is done, unless its batch still runs."""
        return any_of(
            self.running,
            all_of(
                all_of(self.left_done[x] == self.left[x] for x in self.LEFT),
                all_of(self.right_done[y] == self.right[y] for y in self.RIGHT),
            ),
        )

    @lemma
    def keeps_what_is_done(self) -> bool:
        """The state has the events that are done, and of the left those that pass."""
        return all_of(
            all_of(
                self.kept.left[x] == all_of(self.left_done[x], self.passes[x])
                for x in self.LEFT
            ),
            all_of(self.kept.right[y] == self.right_done[y] for y in self.RIGHT),
        )

    @lemma(per=(LEFT, RIGHT))
    def shows_what_is_owed(self, x: Member, y: Member) -> bool:
        """Only pairs that are owed are shown."""
        return implies(self.shown[x, y], self.accepted(x, y))

    @lemma(per=(LEFT, RIGHT))
    def shows_what_is_done(self, x: Member, y: Member) -> bool:
        """A pair that is owed is shown once it is written, or both events are done."""
        return implies(
            all_of(
                self.left[x],
                self.right[y],
                any_of(self.written, all_of(self.left_done[x], self.right_done[y])),
                self.accepted(x, y),
            ),
            self.shown[x, y],
        )

    @lemma
    def logs_before_it_is_done(self) -> bool:
        """What is done was logged before, and only a batch that runs is written."""
        return all_of(
            all_of(implies(self.left_done[x], self.left[x]) for x in self.LEFT),
            all_of(implies(self.right_done[y], self.right[y]) for y in self.RIGHT),
            implies(self.written, self.running),
        )

    @sometimes
    def shows_all(self) -> bool:
        """Every pair can be shown."""
        return all_of(self.shown[x, y] for x in self.LEFT for y in self.RIGHT)
