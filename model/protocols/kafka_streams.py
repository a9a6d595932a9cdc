"""A task with state: input offsets, changelog and output in one transaction."""

from __future__ import annotations

from enum import Enum

from onceproof.model.language import *
from onceproof.model.protocols.parts.stream_tasks.results import ResultsInTransaction
from onceproof.model.protocols.parts.stream_tasks.stored import (
    MOST,
    ChangelogInTransaction,
    E,
    OffsetsInTransaction,
    RestoreCommitted,
)


class StreamTask(Enum):
    """What the instance that has the task is doing."""

    DOWN = "down"
    RESTORING = "restoring"
    RUNNING = "running"


class TaskTransaction(Enum):
    """What the coordinator knows of the task's transaction."""

    NONE = "none"
    OPEN = "open"
    COMMITTING = "committing"


class KafkaStreams(Protocol):
    """A task counts its input in a store. Kafka Streams, KIP-129 and KIP-447.

    Streams Exactly-Once Semantics, 2017; Producer Scalability for Exactly Once
    Semantics, 2020. Each event changes the store, and the change, the new result and
    the offset are written in one transaction. The coordinator decides it, and then
    writes a marker into each topic. If the instance dies, another one takes the task
    over at once: it reads the committed offset, restores the store from the changelog,
    and goes on; the coordinator aborts what the dead one has left open. Left out: local
    stores that are used again (see ``transactions``), and zombies whose transactions
    are fenced.
    """

    role = "instance"

    E = E

    changelog = part(ChangelogInTransaction)
    offsets = part(OffsetsInTransaction)
    restoring = part(RestoreCommitted)
    results = part(ResultsInTransaction)

    phase = state(StreamTask.DOWN, volatile=True)
    position = state(0, high=E, volatile=True)
    counted = state(0, high=MOST, per=E, volatile=True)

    transaction = state(TaskTransaction.NONE)
    left_open = state(False)
    ending_at = state(0, high=E)
    changelog_marked = state(False)
    output_marked = state(False)
    offsets_marked = state(False)

    @action
    def start(self) -> None:
        """An instance takes the task over, and reads its committed offset."""
        when(
            self.phase == StreamTask.DOWN,
            any_of(self.transaction != TaskTransaction.COMMITTING, self.offsets_marked),
            self.offsets.committed <= self.E.last,
        )
        self.phase = StreamTask.RESTORING
        self.position = self.offsets.committed

    @action
    def restore(self) -> None:
        """The store is restored from the changelog."""
        when(
            self.phase == StreamTask.RESTORING,
            self.restoring.ready(self.transaction == TaskTransaction.NONE),
        )
        self.phase = StreamTask.RUNNING
        self.counted.set(
            lambda e: self.restoring.value(
                self.changelog.committed[e], self.changelog.pending[e]
            )
        )

    @action(per=E)
    def process(self, e: Member) -> None:
        """An event is counted; the change and the new result are sent."""
        when(
            self.phase == StreamTask.RUNNING,
            self.position == e,
            self.transaction != TaskTransaction.COMMITTING,
            not_(self.left_open),
        )
        self.transaction = TaskTransaction.OPEN
        self.counted[e] = min_of(self.counted[e] + 1, MOST)
        self.position = e + 1
        self.changelog.write(e, self.counted[e])
        self.results.write(e, lambda x: self.counted[x])

    @action
    def commit(self) -> None:
        """The instance adds its offset and asks to commit; that is decided."""
        when(
            self.phase == StreamTask.RUNNING,
            self.transaction == TaskTransaction.OPEN,
            not_(self.left_open),
        )
        self.transaction = TaskTransaction.COMMITTING
        self.ending_at = self.position
        self.offsets.end(self.position)

    @action(by="transaction coordinator")
    def mark_changelog(self) -> None:
        """The marker is written into the changelog."""
        when(
            self.transaction == TaskTransaction.COMMITTING, not_(self.changelog_marked)
        )
        self.changelog_marked = True
        self.changelog.mark()

    @action(by="transaction coordinator")
    def mark_output(self) -> None:
        """The marker is written into the output: readers see the result."""
        when(self.transaction == TaskTransaction.COMMITTING, not_(self.output_marked))
        self.output_marked = True
        self.results.mark()

    @action(by="transaction coordinator")
    def mark_offsets(self) -> None:
        """The marker is written into the topic of the offsets."""
        when(self.transaction == TaskTransaction.COMMITTING, not_(self.offsets_marked))
        self.offsets_marked = True
        self.offsets.mark(self.ending_at)

    @action(by="transaction coordinator")
    def end(self) -> None:
        """All markers are written: the transaction has ended."""
        when(self.changelog_marked, self.output_marked, self.offsets_marked)
        self.transaction = TaskTransaction.NONE
        self.changelog_marked = False
        self.output_marked = False
        self.offsets_marked = False

    @action(by="transaction coordinator")
    def abort(self) -> None:
        """The coordinator aborts what a dead instance has left open."""
        when(self.left_open)
        self.left_open = False
        self.transaction = TaskTransaction.NONE
        self.changelog.abort()
        self.results.abort()

    @fault
    def crash(self) -> None:
        """The instance dies, or is given up; its store is lost with it."""
        when(self.phase != StreamTask.DOWN)
        self.results.lose_instance()
        self.lose_volatile()
        self.left_open = self.transaction == TaskTransaction.OPEN

    @observe(per=E)
    def visible(self, e: Member) -> int:
        """How often the event counts in the result that readers see."""
        return self.results.shown[e]

    @observe(per=E)
    def accepted(self, e: Member) -> bool:
        """The input holds every event."""
        return True

    @observe(per=E)
    def expected(self, e: Member) -> int:
        """A batch run counts each event once."""
        return 1

    @observe(per=E)
    def promised(self, e: Member) -> bool:
        """A transaction has ended with an offset beyond the event."""
        return all_of(
            self.offsets.committed > e, self.transaction != TaskTransaction.COMMITTING
        )

    @sometimes
    def restores_beside_an_open_transaction(self) -> bool:
        """A task can be restored while the dead instance's transaction is open."""
        return all_of(self.phase == StreamTask.RESTORING, self.left_open)

    @sometimes
    def restores_between_markers(self) -> bool:
        """A task can be restored while markers are being written."""
        return all_of(
            self.phase == StreamTask.RESTORING,
            self.transaction == TaskTransaction.COMMITTING,
            not_(self.changelog_marked),
        )

    @sometimes
    def counts_all(self) -> bool:
        """Every event can be counted in the result, and the offset be beyond all."""
        return all_of(
            self.offsets.committed > self.E.last,
            all_of(self.results.shown[e] > 0 for e in self.E),
        )
