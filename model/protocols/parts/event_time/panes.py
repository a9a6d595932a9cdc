"""When a window's result is shown, what is in it, and what a store makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.event_time.windows import EVENT, TIME

if TYPE_CHECKING:
    from collections.abc import Callable

    Mark = Callable[[Member, Member], bool]
    """Whether something is so for an event in a window."""

MOST = 2
_DIFFERS = ("at-least-once", "effectively-once", "batch-equivalence", "recoverable")


class Trigger(Part):
    """A window is shown once the watermark passes its end, and for each late event."""

    def fires(self, touched: bool, end: int, before: int, after: int) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether a window is shown in a batch.

        It is ``touched`` by the batch's event or not; the watermark moves from
        ``before`` to ``after``.
        """
        on_time = all_of(before < end, end <= after)
        return any_of(on_time, all_of(touched, end <= before))


class EveryEvent(Trigger):
    """A window is shown for each of its events: early, on time, and late."""

    def fires(self, touched: bool, end: int, before: int, after: int) -> bool:  # noqa: FBT001 - a modelled value
        """Each event that it takes has it shown."""
        return any_of(touched, all_of(before < end, end <= after))


class OnTimeOnly(Trigger):
    """A window is shown once, though it takes events after that."""

    breaks = _DIFFERS

    def fires(self, touched: bool, end: int, before: int, after: int) -> bool:  # noqa: FBT001 - a modelled value
        """Only the watermark has it shown."""
        return all_of(before < end, end <= after)


class Panes(Part):
    """Accumulating: each pane holds all events of its window so far."""

    EVENT = EVENT
    TIME = TIME

    def holds(self, e: Member, w: Member) -> bool:
        """Return whether a pane of the window has the event, which is in the window."""
        return all_of(w == w)

    def withdraws(self) -> bool:
        """Return whether a window that is joined to another one is withdrawn."""
        return not_(all_of(w == w for w in self.TIME))

    def note(self, shown: Mark) -> None:
        """Keep what is shown by now."""


class Retracting(Panes):
    """Accumulating, and what was shown of a window that has vanished is withdrawn."""

    def withdraws(self) -> bool:
        """An empty pane is shown for it."""
        return all_of(w == w for w in self.TIME)


class Discarding(Panes):
    """Each pane holds only the events that no earlier pane of its window has."""

    breaks = _DIFFERS

    out = state(False, per=(EVENT, TIME))

    def holds(self, e: Member, w: Member) -> bool:
        """Only what is not out."""
        return not_(self.out[e, w])

    def note(self, shown: Mark) -> None:
        """What was shown is out."""
        self.out.where(shown).fill(value=True)


class PaneStore(Part):
    """A table with a row for each window: a pane replaces what is there."""

    pipeline_role: ClassVar[str] = "sink"

    EVENT = EVENT
    TIME = TIME

    shown = state(0, high=MOST, per=(EVENT, TIME))

    def write(self, fires: Callable[[Member], bool], content: Mark) -> None:
        """Write the panes of a batch, in one step."""
        self.shown.where(lambda e, w: fires(w)).set(
            lambda e, w: if_else(content(e, w), 1, 0)
        )

    def committed(self) -> None:
        """The batch is committed: it does not come again."""


class AddingStore(PaneStore):
    """A table with a row for each window: a pane is added to what is there.

    It is added once, since the store keeps the number of the last batch.
    """

    breaks = ("at-most-once", "effectively-once", "batch-equivalence")

    has_it = state(False)

    def write(self, fires: Callable[[Member], bool], content: Mark) -> None:
        """Add the panes of a batch, unless it is there."""
        self.shown.where(
            lambda e, w: all_of(fires(w), content(e, w), not_(self.has_it))
        ).set(lambda e, w: min_of(self.shown[e, w] + 1, MOST))
        self.has_it = True

    def committed(self) -> None:
        """The next batch has another number."""
        self.has_it = False


class AddingAgainStore(AddingStore):
    """An adding table without batch numbers: what comes again is added again."""

    breaks = ("at-most-once", "effectively-once", "batch-equivalence")

    def write(self, fires: Callable[[Member], bool], content: Mark) -> None:
        """Add the panes of a batch, whatever is there."""
        self.has_it = False
        super().write(fires, content)
