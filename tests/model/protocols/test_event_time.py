"""Windows of event time show what a batch run shows, if their parts fit together."""

from __future__ import annotations

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.protocols.event_time import (
    EventTime,
    EventTimeDeltas,
    EventTimeSessions,
)
from onceproof.model.protocols.parts.event_time.clocks import ProcessingClock
from onceproof.model.protocols.parts.event_time.panes import (
    AddingAgainStore,
    Panes,
    PaneStore,
    Retracting,
)
from onceproof.model.protocols.parts.event_time.windows import (
    Lateness,
    LatenessByTime,
    SessionWindows,
    SlidingWindows,
    WatermarkForgotten,
)
from onceproof.properties.guarantees import BATCH_EQUIVALENCE
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict

BATCH = "take({0}) read() admit() sort_in() write() commit() "
END = "end() read() admit() sort_in() write() commit()"


def play(protocol: EventTime, times: tuple[int, ...], order: tuple[int, ...], **more):
    """Let events of such times come in an order; return what is shown and owed."""
    reference = Interpreter(protocol)
    events = {str(event): event for event in reference.events()}
    now = next(
        s
        for s in reference.initial_states()
        if tuple(int(reference.look(s).time[e]) for e in range(len(times))) == times
    )
    crash_before = more.get("crash_before")
    story = []
    for place, e in enumerate(order):
        story += ["crash()"] if place == crash_before else []
        story += BATCH.format(e).split()
    for word in [*story, *END.split()]:
        after = reference.after(now, events[word])
        assert after is not None, word
        now = after
    end = reference.look(now)
    pairs = [(e, w) for e in range(len(times)) for w in range(4)]
    shown = {p for p in pairs if end.visible(*p)}
    owed = {p for p in pairs if end.owed[p]}
    return shown, owed


def differs(protocol: EventTime) -> bool:
    """Return whether a result that a batch run does not show can be reached."""
    found = check(protocol, [BATCH_EQUIVALENCE]).verdicts["batch-equivalence"]
    assert found in (Verdict.REFUTED, Verdict.EXHAUSTED)
    return found is Verdict.REFUTED


def test_an_event_behind_the_watermark_counts_until_its_window_is_gone():
    """A window over two units is kept for one more; a drop is not owed."""
    taken = play(EventTime(EVENT=2), (2, 0), (0, 1))
    dropped = play(EventTime(EVENT=2), (3, 0), (0, 1))

    assert taken == ({(0, 2), (1, 0)}, {(0, 2), (1, 0)})
    assert dropped == ({(0, 2)}, {(0, 2)})


def test_a_watermark_in_memory_reopens_a_window_that_is_gone():
    """The late event's pane replaces the window's result after a restart."""
    times, order = (0, 3, 1), (0, 1, 2)

    kept = play(EventTime(), times, order, crash_before=2)
    lost = play(EventTime(watermark=WatermarkForgotten), times, order, crash_before=2)

    assert kept == ({(0, 0), (1, 2)}, {(0, 0), (1, 2)})
    assert lost == ({(2, 0), (1, 2)}, {(0, 0), (1, 2), (2, 0)})


def test_what_processing_time_shows_depends_on_the_order():
    """The same two events share a window, or not, by when they come."""
    protocol = EventTime(EVENT=3, clock=ProcessingClock)

    one, owed = play(protocol, (0, 1, 2), (0, 1, 2))
    other, _ = play(protocol, (0, 1, 2), (0, 2, 1))

    assert one == owed == {(0, 0), (1, 0), (2, 2)}
    assert other == {(0, 0), (2, 0), (1, 2)}


@pytest.mark.parametrize(
    "part", [{"watermark": WatermarkForgotten}, {"lateness": LatenessByTime}]
)
def test_parts_about_late_events_are_refused_where_none_is_late(part):
    """They would change nothing; those that a protocol has by itself may stay."""
    with pytest.raises(ModelError, match="no event is late"):
        EventTime(clock=ProcessingClock, **part)
    assert EventTimeSessions(clock=ProcessingClock).clock.label() == "processing-clock"


def test_a_session_that_is_joined_is_shown_under_its_old_beginning():
    """Without a withdrawal its event counts in two windows."""
    order = (1, 0)

    stale, owed = play(EventTimeSessions(EVENT=2, panes=Panes), order, (0, 1))
    shown, _ = play(EventTimeSessions(EVENT=2), order, (0, 1))

    assert shown == owed == {(0, 0), (1, 0)}
    assert stale == {*owed, (0, 1)}


def test_a_late_event_that_outlives_its_neighbour_begins_a_session():
    """It is not late for a window of its own, so the session is in two pieces."""
    by_window = EventTimeSessions(lateness=Lateness)

    split, together = play(by_window, (0, 3, 1), (0, 1, 2))
    shown, owed = play(EventTimeSessions(), (0, 3, 1), (0, 1, 2))

    assert split == {(0, 0), (1, 3), (2, 1)}
    assert together == {(0, 0), (1, 3), (2, 0)}
    assert shown == owed == {(0, 0), (1, 3)}


def test_parts_that_fit_break_nothing_together():
    """A protocol answers for the parts it declares; one put in their place adds."""
    alone = EventTime(store_=AddingAgainStore).stated_breaks
    put_in = EventTimeDeltas(store_=AddingAgainStore).stated_breaks

    assert EventTimeDeltas().stated_breaks == frozenset()
    assert alone == put_in == set(AddingAgainStore.breaks)


@pytest.mark.grid
@pytest.mark.parametrize(
    ("protocol", "differs_from_batch"),
    [
        (EventTimeSessions(lateness=Lateness), True),
        (EventTimeSessions(panes=Panes), True),
        (EventTime(windows=SessionWindows, panes=Retracting), True),
        (EventTimeDeltas(store_=AddingAgainStore), True),
        (EventTimeDeltas(store_=PaneStore), True),
        (EventTimeDeltas(faults=2), False),
        (EventTime(faults=2), False),
    ],
)
def test_panes_windows_and_stores_must_fit(protocol, differs_from_batch):
    """Only some of their combinations show what a batch run shows."""
    assert differs(protocol) is differs_from_batch


def test_a_pane_is_withdrawn_only_of_an_event_that_it_held():
    """An event that a window refused as late was never in it, and is not taken back."""
    report = check(
        EventTime(windows=SlidingWindows, panes=Retracting), [BATCH_EQUIVALENCE]
    )

    assert report.verdicts[BATCH_EQUIVALENCE.name].holds
