"""How a reader of a store with versions reads several rows."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *
from onceproof.model.protocols.parts.versions.numberings import MOST


class SnapshotRead(Part):
    """Reads every row at the version that was current when the read began."""

    pipeline_role: ClassVar[str] = "sink"

    def version(self, begun: int, now: int) -> int:
        """Return the version at which a row is read."""
        return begun

    def has_read(self, seen: int, begun: int) -> bool:
        """Return what is so of a row that was read: for lemmas alone."""
        return seen == min_of(begun, MOST)


class ReadSkew(SnapshotRead):
    """Reads each row at its latest version, so that a read can cross a commit."""

    breaks = ("atomic-visibility",)

    def version(self, begun: int, now: int) -> int:
        """The latest version counts."""
        return now

    def has_read(self, seen: int, begun: int) -> bool:
        """Nothing is known."""
        return begun >= 0
