"""Windows of event time over events that come out of order."""

from __future__ import annotations

from enum import Enum

from onceproof.model.errors import ModelError
from onceproof.model.language import *
from onceproof.model.language.composition.slots import Slot
from onceproof.model.protocols.parts.event_time.clocks import EventClock
from onceproof.model.protocols.parts.event_time.panes import (
    AddingStore,
    Discarding,
    EveryEvent,
    Panes,
    PaneStore,
    Retracting,
    Trigger,
)
from onceproof.model.protocols.parts.event_time.windows import (
    EVENT,
    TIME,
    Lateness,
    LatenessByTime,
    SessionWindows,
    Watermark,
    Windows,
)


class Batch(Enum):
    """How far the engine is with a batch, in memory."""

    NONE = "none"
    READ = "read"
    ADMITTED = "admitted"
    SORTED = "sorted"
    WRITTEN = "written"


class EventTime(Protocol):
    """Windows, watermark, triggers and panes. Dataflow Model, VLDB 2015.

    Akidau and others. Events with times of their own come in any order, and each is a
    batch: it is taken from the source for good, read, its panes are written to a store,
    and the state is committed with the watermark. A crash falls between two of these.
    At last the source ends, and the watermark passes all. The result is that of a batch
    run over the events that were not reported as late.
    """

    role = "engine"

    EVENT = EVENT
    TIME = TIME

    clock = part(EventClock)
    windows = part(Windows)
    watermark = part(Watermark)
    lateness = part(Lateness)
    trigger = part(Trigger)
    panes = part(Panes)
    store_ = part(PaneStore)

    time = state(member_of(TIME), per=EVENT)
    taken = state(False, per=EVENT)
    ended = state(False)
    owed = state(False, per=(EVENT, TIME))

    done = state(False, per=EVENT)
    kept = state(False, per=EVENT)
    late = state(False, per=(EVENT, TIME))
    closed = state(False)

    batch = state(Batch.NONE, volatile=True)
    place = state(False, per=(EVENT, TIME), volatile=True)
    over = state(False, per=TIME, volatile=True)
    inside = state(False, per=EVENT, volatile=True)
    there = state(False, per=TIME, volatile=True)
    refused = state(False, per=(EVENT, TIME), volatile=True)
    counts = state(False, per=(EVENT, TIME), volatile=True)
    ends = state(0, high=TIME + 1, per=TIME, volatile=True)

    def __init__(self, **arguments: object) -> None:
        """Take sizes and parts; refuse one about late events where none is late."""
        super().__init__(**arguments)
        for slot in () if self.clock.has_late_events else ("watermark", "lateness"):
            chosen, declared = self.parts[slot], type(self).parameters()[slot]
            own = declared.default if isinstance(declared, Slot) else None
            if not (isinstance(own, type) and issubclass(own, Part)):
                continue
            if chosen.label() != own.label():
                message = (
                    f"by {self.clock.label()} no event is late, so {chosen.label()} "
                    "changes nothing; take another clock, or leave it out"
                )
                raise ModelError(message)

    @action(per=EVENT)
    def take(self, e: Member) -> None:
        """The engine notes for good which event is next, in whatever order."""
        when(not_(self.taken[e]), self._all_done())
        self.taken[e] = True

    @action
    def end(self) -> None:
        """The source has no more events: a batch run would have all that are not late.

        What it would show is noted here for the ledger, and nothing else looks at it.
        """
        when(
            all_of(self.taken[e] for e in self.EVENT),
            self._all_done(),
            not_(self.ended),
        )
        self.ended = True
        self.owed.set(
            lambda e, w: all_of(
                not_(self.late[e, w]),
                self.windows.holds(w, self.time[e], self._on_time),
            )
        )

    @action
    def read(self) -> None:
        """The engine looks which windows the event of the batch would be in."""
        when(self.batch == Batch.NONE, self._due())
        self.batch = Batch.READ
        self.place.set(lambda e, w: self.windows.holds(w, self._stamp(e), self._joined))
        self.over.set(
            lambda w: self.lateness.expires(
                self.windows.ends(w, self._joined), self.watermark.now
            )
        )

    @action
    def admit(self) -> None:
        """The event counts where a window is open, and is late for the others."""
        when(self.batch == Batch.READ)
        self.batch = Batch.ADMITTED
        self.refused.set(self._is_refused)
        self.inside.set(self._is_inside)
        self.there.set(
            lambda x: any_of(
                all_of(self._is_inside(e), self._stamp(e) == x) for e in self.EVENT
            )
        )

    @action
    def sort_in(self) -> None:
        """The engine puts all that counts into windows."""
        when(self.batch == Batch.ADMITTED)
        self.batch = Batch.SORTED
        self.counts.set(
            lambda e, w: all_of(
                self.inside[e],
                not_(any_of(self.refused[e, w], self.late[e, w])),
                self.windows.holds(w, self._stamp(e), self._present),
            )
        )
        self.ends.set(lambda w: self.windows.ends(w, self._present))

    @action
    def write(self) -> None:
        """The panes of the batch are written to the store."""
        when(self.batch == Batch.SORTED)
        self.batch = Batch.WRITTEN
        self.store_.write(self._is_shown, self._in_pane)

    @action
    def commit(self) -> None:
        """State, watermark and reports of late events are committed together."""
        when(self.batch == Batch.WRITTEN)
        after = self._after()
        self.panes.note(lambda e, w: all_of(self._is_shown(w), self._in_pane(e, w)))
        self.store_.committed()
        self.late.where(
            lambda e, w: all_of(self.refused[e, w], self.lateness.reports())
        ).fill(value=True)
        self.kept.set(
            lambda e: any_of(
                all_of(
                    self.counts[e, w],
                    not_(self.lateness.expires(self.ends[w], after)),
                )
                for w in self.TIME
            )
        )
        self.clock.note(lambda e: not_(self.taken[e]))
        self.watermark.now = after
        self.done.set(lambda e: self.taken[e])
        self.closed = self.ended
        self.lose_batch()

    def lose_batch(self) -> None:
        """Forget what memory holds of a batch."""
        self.batch = Batch.NONE
        self.place.fill(value=False)
        self.over.fill(value=False)
        self.inside.fill(value=False)
        self.there.fill(value=False)
        self.counts.fill(value=False)
        self.ends.fill(0)
        self.refused.fill(value=False)

    @fault
    def crash(self) -> None:
        """The engine dies, and starts again from what it has committed."""
        when(not_(self.closed))
        self.lose_volatile()

    def _all_done(self) -> bool:
        return all_of(self.done[e] == self.taken[e] for e in self.EVENT)

    def _due(self) -> bool:
        return any_of(not_(self._all_done()), all_of(self.ended, not_(self.closed)))

    def _new(self, e: Member) -> bool:
        return all_of(self.taken[e], not_(self.done[e]))

    def _stamp(self, e: Member) -> int:
        return self.clock.stamp(e, self.time[e])

    def _joined(self, x: Member) -> bool:
        """Return whether the state and the new event have something at that time."""
        return any_of(
            all_of(any_of(self.kept[e], self._new(e)), self._stamp(e) == x)
            for e in self.EVENT
        )

    def _open_to(self, e: Member, w: Member) -> bool:
        """Return whether a window takes the new event."""
        return all_of(
            self.place[e, w],
            not_(self.over[w]),
            self.lateness.takes(self._stamp(e), self.watermark.now),
        )

    def _is_refused(self, e: Member, w: Member) -> bool:
        """Return whether a window does not take the new event, which is late."""
        late = any_of(
            all_of(self.place[e, v], not_(self._open_to(e, v))) for v in self.TIME
        )
        return all_of(self._new(e), late, not_(self._open_to(e, w)))

    def _is_inside(self, e: Member) -> bool:
        """Return whether the state has the event, or takes it now."""
        taken = any_of(self._open_to(e, w) for w in self.TIME)
        return any_of(self.kept[e], all_of(self._new(e), taken))

    def _present(self, x: Member) -> bool:
        return self.there[x]

    def _before(self, x: Member) -> bool:
        return any_of(all_of(self.kept[e], self._stamp(e) == x) for e in self.EVENT)

    def _after(self) -> int:
        """Return the watermark after the batch."""
        latest = count(
            all_of(x > 0, any_of(self._comes(e, x) for e in self.EVENT))
            for x in self.TIME
        )
        least = count(
            all_of(any_of(self.taken[e], self._stamp(e) > x) for e in self.EVENT)
            for x in self.TIME
        )
        after = self.watermark.after(latest, least)
        return if_else(self.ended, self.TIME.last + 2, after)

    def _comes(self, e: Member, x: Member) -> bool:
        """Return whether the new event is no earlier than a time."""
        return all_of(self._new(e), self._stamp(e) >= x)

    def _is_shown(self, w: Member) -> bool:
        touched = any_of(all_of(self._new(e), self.counts[e, w]) for e in self.EVENT)
        fires = self.trigger.fires(
            touched, self.ends[w], self.watermark.now, self._after()
        )
        return any_of(
            all_of(any_of(self.counts[e, w] for e in self.EVENT), fires),
            all_of(self.panes.withdraws(), self._vanishes(w)),
        )

    def _vanishes(self, w: Member) -> bool:
        """Return whether the new event takes a window into another one."""
        return any_of(
            all_of(
                self.kept[e],
                not_(self.late[e, w]),
                self.windows.holds(w, self._stamp(e), self._before),
                not_(self.counts[e, w]),
            )
            for e in self.EVENT
        )

    def _in_pane(self, e: Member, w: Member) -> bool:
        return all_of(self.counts[e, w], self.panes.holds(e, w))

    @observe(per=(EVENT, TIME))
    def visible(self, e: Member, w: Member) -> int:
        """How often the event counts in what readers see of a window."""
        return self.store_.shown[e, w]

    @observe(per=(EVENT, TIME))
    def accepted(self, e: Member, w: Member) -> bool:
        """An event is owed to each window that a batch run has it in."""
        return self.owed[e, w]

    @observe(per=(EVENT, TIME))
    def expected(self, e: Member, w: Member) -> int:
        """A batch run over the events that were not reported as late counts it."""
        return if_else(self.owed[e, w], 1, 0)

    def _on_time(self, x: Member) -> bool:
        """Return whether an event of that time is not late for a window of its own."""
        return any_of(
            all_of(self.time[e] == x, not_(self.late[e, x])) for e in self.EVENT
        )

    @at_rest
    def all_is_read(self) -> bool:
        """At rest the source has ended, and all of it is committed."""
        return self.closed

    @sometimes
    def closes(self) -> bool:
        """All can be read and shown."""
        return self.closed

    @sometimes
    def drops_a_late_event(self) -> bool:
        """An event can come too late."""
        return any_of(self.refused[e, w] for e in self.EVENT for w in self.TIME)

    @sometimes
    def takes_a_late_event(self) -> bool:
        """An event can come behind the watermark, and still count."""
        return any_of(
            all_of(self._new(e), self._stamp(e) < self.watermark.now, self.counts[e, w])
            for e in self.EVENT
            for w in self.TIME
        )


class EventTimeSessions(EventTime):
    """Sessions: panes of windows that were joined are withdrawn. Dataflow Model, 2015.

    Sessions are shown early, so an event can join two that were shown. An event is late
    by its own time. If it were late only by the window that it joins, one whose
    neighbours are gone would begin a window of its own.
    """

    breaks = ()

    windows = part(Windows, default=SessionWindows)
    lateness = part(Lateness, default=LatenessByTime)
    trigger = part(Trigger, default=EveryEvent)
    panes = part(Panes, default=Retracting)


class EventTimeDeltas(EventTime):
    """Panes with what is new, which a store adds up. Dataflow Model, 2015.

    They come early, on time and late.

    The store knows the batch that it has, and so adds a repeated pane once.
    """

    breaks = ()

    trigger = part(Trigger, default=EveryEvent)
    panes = part(Panes, default=Discarding)
    store_ = part(PaneStore, default=AddingStore)
