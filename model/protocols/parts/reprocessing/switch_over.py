"""How a new job replays a log, and when readers are switched over to its table."""

from __future__ import annotations

from onceproof.model.language import *

E = Sort("event", size=2, ordered=True)


class SwitchOver(Part):
    """Replays the whole log, and switches once the new job is as far as the old one."""

    E = E

    def begins_at(self, old_offset: int) -> int:
        """Return the offset at which the new job begins."""
        return 0

    def reads(self, e: Member) -> bool:
        """Return whether the log still has an event."""
        return True

    def may_switch(self, offset: int, old_offset: int) -> bool:
        """Return whether readers may be switched over."""
        return offset >= old_offset


class SwitchOverEarly(SwitchOver):
    """Switches before the new job has caught up, so that events vanish for a while."""

    breaks = ("durable",)

    def may_switch(self, offset: int, old_offset: int) -> bool:
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

    def begins_at(self, old_offset: int) -> int:
        """The new job begins where the old one is."""
        return old_offset


class SwitchOverTrimmedLog(SwitchOver):
    """Keeps the log for a time that is shorter than the replay takes."""

    breaks = (
        "at-least-once",
        "effectively-once",
        "batch-equivalence",
        "recoverable",
        "durable",
    )

    trimmed = state(False)

    def reads(self, e: Member) -> bool:
        """The first event may be gone."""
        return not_(all_of(self.trimmed, e == 0))

    @fault(by="broker")
    def trim(self) -> None:
        """The broker deletes the first event of the log for its age."""
        when(not_(self.trimmed))
        self.trimmed = True
