"""What a server of Raft stores, for the time after a restart."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *


class StoresVote(Part):
    """Stores the vote with the term, before anyone hears of it."""

    def kept(self, vote: Member) -> Member:
        """Return the vote that a server has after a restart."""
        return vote


class ForgetsVote(StoresVote):
    """Stores the term alone, so that a restart may give a second vote in it."""

    breaks: ClassVar[tuple[str, ...]] = ("elects-one-leader-a-term",)

    def kept(self, vote: Member) -> Member:
        """Nobody has it."""
        return nobody
