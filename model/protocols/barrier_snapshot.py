"""Snapshots by barriers in the stream: sources that rewind, and an operator."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from onceproof.model.language import *
from onceproof.model.protocols.parts.barriers.alignment import Alignment, S, Unaligned
from onceproof.model.protocols.parts.barriers.checkpoint_stores import (
    C,
    CheckpointStore,
)
from onceproof.model.protocols.parts.barriers.outputs import Output
from onceproof.model.protocols.parts.barriers.sources import E, Source


class RecordKind(Enum):
    """What flows from a source to the operator."""

    BLANK = "blank"
    EVENT = "event"
    BARRIER = "barrier"


class Record(NamedTuple):
    """An event with its offset, or a barrier."""

    kind: RecordKind
    """Whether it is an event or a barrier."""
    offset: int
    """The offset of an event; 0 for a barrier."""


BARRIER = Record(RecordKind.BARRIER, 0)


class BarrierSnapshot(Protocol):
    """Asynchronous barrier snapshots. Carbone and others, 2015.

    Lightweight Asynchronous Snapshots for Distributed Dataflows, arXiv:1506.08603. A
    failure takes everything back to the last complete checkpoint, and sources rewind.
    The last checkpoint is taken when the input has ended and is processed. Assumed: a
    checkpoint that has begun is completed unless the job fails.
    """

    role = "checkpoint coordinator"

    S = S
    E = E
    C = C
    length = param(3, "room in a channel")

    alignment = part(Alignment)
    source = part(Source)
    checkpoints = part(CheckpointStore)
    output = part(Output)

    up = state(True)
    link = channels(
        Record(RecordKind.BLANK, 0),
        per=S,
        length=length,
        high={"offset": E},
        volatile=True,
    )
    running = state(False, volatile=True)
    sent = state(False, per=S, volatile=True)
    recorded = state(False, per=(S, E), volatile=True)
    flying = state(False, per=(S, E), volatile=True)
    saved_flying = state(False, per=(S, E))
    reached = state(0, per=S, high=E)

    @action(per=(S, E))
    def emit(self, s: Member, e: Member) -> None:
        """A source reads its next event."""
        when(self._works(), self.source.offset[s] == e)
        self.link[s].send(Record(RecordKind.EVENT, e))
        self.source.offset[s] = e + 1

    @action(per=(S, E), by="operator")
    def process(self, s: Member, e: Member) -> None:
        """The operator processes the next event of an input that it reads."""
        head = self.link[s].head
        when(
            self._works(),
            self.alignment.reads(s),
            head.kind == RecordKind.EVENT,
            head.offset == e,
            all_of(not_(self.flying[s, x]) for x in self.E),
        )
        self.link[s].receive()
        self.recorded[s, e] = self.recorded[s, e] | self.alignment.records(s)
        self.reached[s] = max_of(self.reached[s], e + 1)
        self.output.process(s, e)

    @action(per=(S, E), by="operator")
    def process_restored(self, s: Member, e: Member) -> None:
        """What a checkpoint holds of a channel is processed before what comes by it."""
        when(self._works(), self.flying[s, e])
        self.flying[s, e] = False
        self.output.process(s, e)

    @action
    def trigger(self) -> None:
        """The coordinator begins a checkpoint."""
        when(
            self._works(),
            not_(self.running),
            not_(any_of(self.flying[s, e] for s in self.S for e in self.E)),
            any_of(self.checkpoints.complete < self.C.last, self.ends()),
        )
        self.running = True

    def ends(self) -> bool:
        """Return whether the last checkpoint is due: the input has ended."""
        return all_of(self.checkpoints.complete == self.C.last, self.processed())

    def processed(self) -> bool:
        """Return whether all input is processed."""
        return all_of(
            all_of(self.source.offset[s] == self.E.last + 1, self.link[s].empty)
            for s in self.S
        )

    @action(per=S)
    def send_barrier(self, s: Member) -> None:
        """A source notes its offset, and sends a barrier behind what it has sent."""
        when(self._works(), self.running, not_(self.sent[s]))
        self.sent[s] = True
        self.source.noted[s] = self.source.offset[s]
        self.link[s].send(BARRIER)

    @action(per=S, by="operator")
    def receive_barrier(self, s: Member) -> None:
        """A barrier comes, and no snapshot is due with it."""
        when(self._barrier_comes(s), not_(self.alignment.snapshots(s)))
        self._take_barrier(s)
        self.alignment.came[s] = True

    @action(per=(S, C), by="operator")
    def snapshot(self, s: Member, c: Member) -> None:
        """A barrier comes, and the operator snapshots its state."""
        when(
            self._barrier_comes(s),
            self.alignment.snapshots(s),
            self.checkpoints.complete == c,
        )
        self._take_barrier(s)
        self.alignment.came[s] = True
        self.alignment.taken = True
        self.output.snapshot(c)

    @action(per=C)
    def store_checkpoint(self, c: Member) -> None:
        """All have acknowledged: the pointer moves to the new checkpoint."""
        when(
            self._works(),
            self.checkpoints.complete == c,
            self.alignment.taken,
            all_of(self.alignment.came[s] for s in self.S),
            not_(self.checkpoints.requested),
        )
        self.checkpoints.complete = c + 1
        self.checkpoints.requested = True
        self.source.saved.set(lambda s: self.source.noted[s])
        self.saved_flying.set(lambda s, e: self.recorded[s, e])
        self.output.complete(c)

    @action(per=C)
    def announce(self, c: Member) -> None:
        """The coordinator hears from the store, and notifies sources and operator."""
        when(self.checkpoints.requested, self.checkpoints.complete == c + 1)
        self.checkpoints.requested = False
        self.running = False
        self.sent.fill(False)
        self.recorded.fill(False)
        self.alignment.came.fill(False)
        self.alignment.taken = False
        self.source.notified.fill(True)
        self.output.announce(c)

    @action(per=S)
    def confirm(self, s: Member) -> None:
        """A source hears of a complete checkpoint."""
        when(self.source.notified[s])
        self.source.notified[s] = False
        self.source.confirm(s)

    @fault
    def fail(self) -> None:
        """A process is lost, and with it the job: all but what is stored."""
        when(self.up)
        self._go_down()

    @fault
    def lose_reply(self) -> None:
        """The coordinator goes down before it hears that the pointer is stored."""
        when(self.checkpoints.requested)
        self._go_down()
        self.checkpoints.lose_track()

    @action
    def restore(self) -> None:
        """The job starts again from the checkpoint that the pointer names."""
        when(not_(self.up), not_(self.checkpoints.discarded))
        self.up = True
        self.source.rewind()
        self.flying.set(lambda s, e: self.saved_flying[s, e])
        self.output.restore(self.checkpoints.complete)

    def _go_down(self) -> None:
        self.lose_volatile()
        self.up = False

    def _works(self) -> bool:
        return all_of(self.up, self.output.ready())

    def _barrier_comes(self, s: Member) -> bool:
        """Return whether a barrier is in front, or overtakes what is."""
        link = self.link[s]
        return all_of(
            self._works(),
            any_of(
                link.head.kind == RecordKind.BARRIER,
                all_of(self.alignment.overtakes(s), link.holds(BARRIER) > 0),
            ),
        )

    def _take_barrier(self, s: Member) -> None:
        """Take the barrier out of a channel, and record what it has overtaken."""
        link, keeps = self.link[s], self.alignment.keeps(s)
        messages = [message for _, message in link.messages()]
        place = 0
        for i, message in enumerate(messages):
            place = if_else(message.kind == RecordKind.BARRIER, i, place)

        def overtaken(e: Member) -> bool:
            return any_of(
                all_of(
                    i < place,
                    message.kind == RecordKind.EVENT,
                    message.offset == e,
                )
                for i, message in enumerate(messages)
            )

        self.recorded.where(lambda x, _: x == s).set(
            lambda x, e: self.recorded[x, e] | all_of(keeps, overtaken(e))
        )
        link.drop(place)

    @observe(per=(S, E))
    def visible(self, s: Member, e: Member) -> int:
        """Readers see what is complete."""
        seen = self.output.visible(s, e, self.saved_flying[s, e])
        if not self.output.in_checkpoints:
            return seen
        return if_else(self.checkpoints.discarded, 0, seen)

    @observe(per=(S, E))
    def accepted(self, s: Member, e: Member) -> bool:
        """The sources' logs hold every event to begin with."""
        return True

    @observe(per=(S, E))
    def promised(self, s: Member, e: Member) -> bool:
        """What a complete checkpoint has passed will not be read again."""
        passed = self.source.saved[s] > e
        return self.output.promised(s, e, passed, self.saved_flying[s, e])

    @sometimes
    def user_code_runs_twice(self) -> bool:
        """The operator can meet an event that it has processed before."""
        return any_of(
            all_of(
                self.link[s].head.kind == RecordKind.EVENT,
                self.link[s].head.offset < self.reached[s],
            )
            for s in self.S
        )

    @sometimes
    def restores_a_checkpoint_in_the_midst(self) -> bool:
        """The job can fail between two complete checkpoints."""
        return all_of(
            not_(self.up),
            self.checkpoints.complete > 0,
            any_of(self.source.saved[s] <= self.E.last for s in self.S),
        )

    @sometimes
    def completes(self) -> bool:
        """The last checkpoint can be completed."""
        return self.checkpoints.complete > self.C.last


class BarrierSnapshotUnaligned(BarrierSnapshot):
    """The same with barriers that overtake events. Apache Flink, FLIP-76, 2020.

    No input waits: the snapshot is taken as the first barrier comes, however many
    events are before it, and the channels' content, up to their own barriers, is part
    of it.
    """

    alignment = part(Alignment, default=Unaligned)

    @sometimes
    def saves_what_is_on_its_way(self) -> bool:
        """A complete checkpoint can hold an event of a channel."""
        return any_of(self.saved_flying[s, e] for s in self.S for e in self.E)

    @sometimes
    def overtakes(self) -> bool:
        """A barrier can come before an event that was sent before it."""
        return any_of(
            all_of(
                self.alignment.came[s],
                self.link[s].head.kind == RecordKind.EVENT,
                self.link[s].head.offset < self.source.noted[s],
            )
            for s in self.S
        )
