"""How a new job replays a log, and when readers are switched over to its table."""

from __future__ import annotations

from onceproof.model.language import *

E = Sort("event", size=2)


class SwitchOver(Part):
    """Replays the whole log, and switches once the new job is as far as the old one."""

    E = E

    def begins_after(self, handled: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether the new job begins after an event: one the old job handled."""
        return all_of(handled, not_(handled))

    def reads(self, e: Member) -> bool:
        """Return whether the log still has an event."""
        return True

    def may_switch(self, caught_up: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether readers may be switched over."""
        return caught_up


class SwitchOverEarly(SwitchOver):
    """Switches before the new job has caught up, so that events vanish for a while."""

    breaks = ("durable",)

    def may_switch(self, caught_up: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Readers are switched over as soon as the new job has begun."""
        return True


class SwitchOverSharedOffsets(SwitchOver):
    """Starts the new job with the offsets of the old one, as one consumer group has."""

    breaks = (
        "at-least-once",
        "effectively-once",
        "batch-equivalence",
        "recoverable",
        "durable",
    )

    def begins_after(self, handled: bool) -> bool:  # noqa: FBT001 - a modelled value
        """The new job begins where the old one is."""
        return handled


class SwitchOverTrimmedLog(SwitchOver):
    """Keeps the log for a time that is shorter than the replay takes."""

    breaks = (
        "at-least-once",
        "effectively-once",
        "batch-equivalence",
        "recoverable",
        "durable",
    )

    trimmed = state(False, per=E)

    def reads(self, e: Member) -> bool:
        """The event may be gone."""
        return not_(self.trimmed[e])

    @fault(per=E, by="broker")
    def trim(self, e: Member) -> None:
        """The broker deletes an event of the log for its age."""
        when(not_(self.trimmed[e]))
        self.trimmed[e] = True
