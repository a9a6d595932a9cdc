"""Under which version a transaction writes, when it is tried again."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *

VERSION = Sort("version", size=2, ordered=True)
MOST = 2
"""How often a transaction is counted, as far as it matters."""


class VersionOfTransaction(Part):
    """Each try has the version that the transaction got with its first one.

    Who tries again finds in the store's clock whether the transaction is committed.
    """

    VERSION = VERSION

    def is_for(self, v: Member, clock: int) -> bool:
        """Return whether a try writes version ``v``."""
        return all_of(v == 0, clock >= 0)

    def is_committed(self, clock: int) -> bool:
        """Return whether a try finds the transaction committed."""
        return clock > 0

    def reaches(self, clock: int) -> bool:
        """Return what is so of the clock, whatever happens: for lemmas alone."""
        return clock <= 1


class VersionOfTry(VersionOfTransaction):
    """Each try has the next version of the store's clock.

    If the answer to a commit is lost, nothing says that the transaction is there, and
    it takes effect once more.
    """

    breaks: ClassVar[tuple[str, ...]] = ("at-most-once", "effectively-once")

    def is_for(self, v: Member, clock: int) -> bool:
        """The clock says which version is next."""
        return v == clock

    def is_committed(self, clock: int) -> bool:
        """Nothing says so."""
        return clock < 0

    def reaches(self, clock: int) -> bool:
        """It goes on with each try."""
        return clock >= 0
