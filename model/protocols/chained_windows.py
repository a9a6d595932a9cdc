"""Two operators with windows, one after the other, under one watermark."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.event_time.delayed_watermarks import (
    DelayedWatermark,
)
from onceproof.model.protocols.parts.event_time.windows import (
    EVENT,
    LENGTH,
    TIME,
    begins_two_windows,
    begins_window,
)


class ChainedWindows(Protocol):
    """An aggregate of an aggregate, by event time. Spark Structured Streaming, 3.5.

    SPARK-40925. Each operator keeps fixed windows until the watermark passes their end;
    those of the second are twice as long, and a window of the first is a row for it. A
    batch runs with the watermark that the batch before it has left, or without data if
    that has moved. Its offsets are logged, its results are written under its number,
    and its state is committed; a crash falls between two of these.
    """

    role = "driver"

    EVENT = EVENT
    TIME = TIME

    second = part(DelayedWatermark)

    begins = state(by_member(begins_window), per=TIME)
    begins_second = state(by_member(begins_two_windows), per=TIME)
    time = state(member_of(TIME), per=EVENT)
    logged = state(False, per=EVENT)
    running = state(False)
    done = state(False, per=EVENT)

    before = state(0, high=TIME + 1)
    now = state(0, high=TIME + 1)
    later = state(0, high=TIME + 1)

    in_first = state(False, per=EVENT)
    in_second = state(False, per=EVENT)
    late = state(False, per=EVENT)
    shown = state(False, per=EVENT)
    written = state(False, volatile=True)

    @action(per=EVENT)
    def log_offsets(self, e: Member) -> None:
        """The next batch holds an event, whichever comes."""
        when(not_(self.running), not_(self.logged[e]))
        self.logged[e] = True
        self._begin()

    @action
    def log_no_data(self) -> None:
        """The watermark has moved: a batch without data closes what it has passed."""
        when(not_(self.running), self.later > self.now)
        self._begin()

    @action
    def end(self) -> None:
        """The source ends, and the watermark passes all."""
        last = self.TIME.last + LENGTH
        when(
            not_(self.running),
            self.later == self.now,
            self.later < last,
            all_of(self.logged[e] for e in self.EVENT),
        )
        self.later = last

    @action
    def write(self) -> None:
        """The windows that the second operator closes are written."""
        when(self.running, not_(self.written))
        self.written = True
        self.shown.where(self._closes_second).fill(value=True)

    @action
    def commit(self) -> None:
        """The state of both operators is committed, and the watermark after it."""
        when(self.running, self.written)
        latest = count(
            all_of(
                x > 0,
                any_of(all_of(self._new(e), self.time[e] >= x) for e in self.EVENT),
            )
            for x in self.TIME
        )
        self.in_second.set(
            lambda e: all_of(self._reaches_second(e), not_(self._closes_second(e)))
        )
        self.late.where(lambda e: all_of(self._new(e), self._ended(e, self.now))).fill(
            value=True
        )
        self.in_first.set(
            lambda e: all_of(self._reaches_first(e), not_(self._ended(e, self.now)))
        )
        self.done.set(lambda e: self.logged[e])
        self.later = max_of(self.later, latest)
        self.running = False
        self.written = False

    @fault
    def crash(self) -> None:
        """The driver dies, and runs its last batch again unless it is committed."""
        when(self.running)
        self.lose_volatile()

    def _begin(self) -> None:
        self.before = self.now
        self.now = self.later
        self.running = True

    def _new(self, e: Member) -> bool:
        return all_of(self.logged[e], not_(self.done[e]))

    def _ended(self, e: Member, watermark: int) -> bool:
        """Return whether the first operator's window of an event has ended."""
        return any_of(
            all_of(
                self.begins[w],
                w <= self.time[e],
                self.time[e] < w + LENGTH,
                w + LENGTH <= watermark,
            )
            for w in self.TIME
        )

    def _second_ended(self, e: Member, watermark: int) -> bool:
        """Return whether the second operator's window of an event has ended."""
        return any_of(
            all_of(
                self.begins_second[w],
                w <= self.time[e],
                self.time[e] < w + LENGTH + LENGTH,
                w + LENGTH + LENGTH <= watermark,
            )
            for w in self.TIME
        )

    def _reaches_first(self, e: Member) -> bool:
        taken = all_of(self._new(e), not_(self._ended(e, self.now)))
        return any_of(self.in_first[e], taken)

    def _reaches_second(self, e: Member) -> bool:
        closes = all_of(self._reaches_first(e), self._ended(e, self.now))
        by = self.second.for_late_rows(self.before, self.now)
        return any_of(
            self.in_second[e], all_of(closes, not_(self._second_ended(e, by)))
        )

    def _closes_second(self, e: Member) -> bool:
        return all_of(self._reaches_second(e), self._second_ended(e, self.now))

    @observe(per=EVENT)
    def visible(self, e: Member) -> bool:
        """Whether the event counts in what the second operator shows."""
        return self.shown[e]

    @observe(per=EVENT)
    def accepted(self, e: Member) -> bool:
        """An event is owed unless the first operator has reported it as late."""
        return not_(self.late[e])

    @observe(per=EVENT)
    def expected(self, e: Member) -> int:
        """A batch run over the events that are not late counts each once."""
        return if_else(self.late[e], 0, 1)

    @sometimes
    def shows_an_event(self) -> bool:
        """An event can be shown."""
        return any_of(self.shown[e] for e in self.EVENT)

    @sometimes
    def drops_a_late_event(self) -> bool:
        """An event can be too late for the first operator."""
        return any_of(self.late[e] for e in self.EVENT)
