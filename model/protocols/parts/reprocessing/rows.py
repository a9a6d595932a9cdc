"""What a job that replays a log writes for an event that it may have met before."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *

MOST = 2


class RowsByKey(Part):
    """A row for each event: a repeat replaces it, and so does no harm."""

    pipeline_role: ClassVar[str] = "sink"

    def after(self, rows: int) -> int:
        """Return how many rows there are of an event after another is written."""
        return if_else(rows >= 0, 1, 0)


class RowsAppended(RowsByKey):
    """Rows have no key, so that a replay adds to what is there."""

    breaks: ClassVar[tuple[str, ...]] = (
        "at-most-once",
        "effectively-once",
        "batch-equivalence",
        "has-a-row-for-each",
    )

    def after(self, rows: int) -> int:
        """There is one more."""
        return min_of(rows + 1, MOST)
