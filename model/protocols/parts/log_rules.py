"""The rules of a write-ahead log: when pages are written, when clients hear, redo."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *

MOST = 2

# Lemmas: not so where a page holds more than the log says.
_UNLIKE_THE_LOG = (
    "holds-what-is-logged",
    "logs-before-it-writes",
    "shows-what-is-committed",
    "shows-a-transaction-whole",
)


class LogBeforePage(Part):
    """A page is written only once the log has every change that it holds."""

    def can_write(self, all_flushed: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether a page can be written, with its records on disk or not."""
        return all_flushed


class PageBeforeLog(LogBeforePage):
    """A page is written at any time. What it holds of a lost record cannot be undone.

    So a change of a transaction that never committed stays, and the client's next try
    adds to it.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-most-once",
        "effectively-once",
        "atomic-visibility",
        *_UNLIKE_THE_LOG,
    )

    def can_write(self, all_flushed: bool) -> bool:  # noqa: FBT001 - a modelled value
        """At any time."""
        return any_of(all_flushed, not_(all_flushed))


class HeardOnceFlushed(Part):
    """A client hears of a commit once its record is on disk."""

    def can_hear(self, flushed: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether a client hears, where the commit record is on disk or not."""
        return flushed


class HeardAtOnce(HeardOnceFlushed):
    """A client hears of a commit while its record is in memory, and a crash loses it.

    So do databases that commit asynchronously.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-least-once",
        "effectively-once",
        "durable",
        "recoverable",
        "shows-what-is-committed",
    )

    def can_hear(self, flushed: bool) -> bool:  # noqa: FBT001 - a modelled value
        """As soon as the record is written to memory."""
        return any_of(flushed, not_(flushed))


class RedoByPage(Part):
    """A page says up to which record it holds the changes; redo leaves these out."""

    def redone(self, on_page: int) -> int:
        """Return what a row holds once its change is redone."""
        return max_of(on_page, 1)


class RedoBlindly(RedoByPage):
    """Redo repeats every change of the log, also one that the page holds."""

    breaks: ClassVar[tuple[str, ...]] = (
        "at-most-once",
        "effectively-once",
        *_UNLIKE_THE_LOG,
    )

    def redone(self, on_page: int) -> int:
        """One change more."""
        return min_of(on_page + 1, MOST)
