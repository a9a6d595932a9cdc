"""Who grants the attempts of a task their commit."""

from __future__ import annotations

from onceproof.model.language import *
from onceproof.model.protocols.parts.jobs.committers import PARTITION

STAGE = Sort("attempt of the stage", size=2, ordered=True)


ATTEMPT = Sort("attempt of a task", size=2, ordered=True)


class CommitCoordinator(Part):
    """Lets one attempt for each partition commit, whichever stage it belongs to."""

    PARTITION = PARTITION
    STAGE = STAGE
    ATTEMPT = ATTEMPT
    granted = state(False, per=(PARTITION, STAGE, ATTEMPT), volatile=True)

    def admits(self, p: Member, s: Member, a: Member) -> bool:
        """Return whether an attempt is granted the commit: no other one is."""
        return all_of(
            implies(self.granted[p, x, y], self.same(x, y, s, a))
            for x in self.STAGE
            for y in self.ATTEMPT
        )

    def same(self, x: Member, y: Member, s: Member, a: Member) -> bool:
        """Return whether two requests are taken for one attempt's."""
        return all_of(x == s, y == a)


class KeyedByAttempt(CommitCoordinator):
    """Tells attempts apart by their number alone. SPARK-24589.

    Two attempts of the stage have tasks with the same number, and both may commit.
    """

    breaks = (
        "at-most-once",
        "effectively-once",
        "grants-one-attempt",
        "has-what-is-committed",
        "committer.publishes-once",
    )

    def same(self, x: Member, y: Member, s: Member, a: Member) -> bool:
        """Two requests with one number are taken for one attempt's."""
        return y == a
