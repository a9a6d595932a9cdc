"""What was read, when and where, and how that is repeated."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Circumstances:
    """What was read, when and where, and how that is repeated: what counts need."""

    source: str
    """The source with its options and its query, without passwords."""
    sink: str
    """The sink with its options and its query, without passwords."""
    began: dt.datetime
    """When reading began, by the clock of the machine that asked."""
    ended: dt.datetime
    """When reading ended, by the same clock."""
    master: str = ""
    """Where Spark ran; empty if that is not known."""
    command: str = ""
    """The command that repeats it, without passwords; empty if there was none."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """The versions of Onceproof and of what it ran on."""

    @property
    def between(self) -> str:
        """Say from when to when the tables were read."""
        return f"{moment(self.began)} to {moment(self.ended)}"


def now() -> dt.datetime:
    """Return the moment, in UTC."""
    return dt.datetime.now(tz=dt.UTC)


def moment(when: dt.datetime) -> str:
    """Return a moment as text, in UTC and to the second."""
    return when.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
