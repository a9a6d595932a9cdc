"""How a new job replays a log, and when readers are switched over to its table."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *

E = Sort("event", size=2)

_LOSES = (
    "at-least-once",
    "effectively-once",
    "batch-equivalence",
    "recoverable",
    "durable",
    "has-what-it-notes",
)


class SwitchOver(Part):
    """Replays the whole log, pauses the old job once it has caught up, and switches."""

    E = E

    def append(self, e: Member) -> None:
        """An event is appended to the log."""

    def begins_after(self, handled: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether the new job leaves out an event, ``handled`` by the old one.

        It does not: it begins at the first event of the log.
        """
        return all_of(handled, not_(handled))

    def reads(self, e: Member) -> bool:
        """Return whether the log still has an event."""
        return True

    def is_ready(self, caught_up: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether the operator takes the new job for ready."""
        return caught_up

    def lets_go_on(self, ready: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether the old job goes on, where the new one is ``ready`` or not."""
        return not_(ready)


class SwitchOverUnpaused(SwitchOver):
    """Lets the old job go on while readers move: its last rows vanish for a while."""

    breaks: ClassVar[tuple[str, ...]] = ("durable", "has-what-the-old-job-has")

    def lets_go_on(self, ready: bool) -> bool:  # noqa: FBT001 - a modelled value
        """It goes on until it ends."""
        return any_of(ready, not_(ready))


class SwitchOverEarly(SwitchOver):
    """Switches before the new job has caught up, so that events vanish for a while."""

    breaks: ClassVar[tuple[str, ...]] = ("durable", "has-what-the-old-job-has")

    def is_ready(self, caught_up: bool) -> bool:  # noqa: FBT001 - a modelled value
        """It is ready as soon as it has begun."""
        return True


class SwitchOverCopiedOffsets(SwitchOver):
    """Starts the new job with the offsets that the old one has committed."""

    breaks: ClassVar[tuple[str, ...]] = _LOSES

    def begins_after(self, handled: bool) -> bool:  # noqa: FBT001 - a modelled value
        """The new job begins where the old one is."""
        return handled


class SwitchOverTrimmedLog(SwitchOver):
    """Keeps the log for a time that is shorter than the replay takes."""

    breaks: ClassVar[tuple[str, ...]] = _LOSES

    there = state(False, per=E)
    trimmed = state(False, per=E)

    def append(self, e: Member) -> None:
        """The log has the event, for a time."""
        self.there[e] = True

    def reads(self, e: Member) -> bool:
        """The event may be gone."""
        return not_(self.trimmed[e])

    @fault(per=E, by="broker")
    def trim(self, e: Member) -> None:
        """The broker deletes an event of the log for its age."""
        when(self.there[e], not_(self.trimmed[e]))
        self.trimmed[e] = True
