"""By which watermark an operator drops the rows of the one before it."""

from __future__ import annotations

from onceproof.model.language import *


class DelayedWatermark(Part):
    """An operator's rows are late by the watermark of the batch before.

    The operator before it has shown, at that watermark, every window that ended by it;
    whatever it puts out now ends later.
    """

    def for_late_rows(self, before: int, now: int) -> int:
        """Return the watermark by which rows of the first operator are late."""
        return before


class SharedWatermark(DelayedWatermark):
    """Each operator takes the watermark of the batch, for what it drops and closes.

    SPARK-28074, SPARK-40925: the first operator puts out a window as the watermark
    passes its end. By the same watermark the second takes it for late.
    """

    breaks = ("at-least-once", "effectively-once", "batch-equivalence", "recoverable")

    def for_late_rows(self, before: int, now: int) -> int:
        """The same as the one that closed the window."""
        return now
