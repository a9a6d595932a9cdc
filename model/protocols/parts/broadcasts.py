"""When a participant that has received a decision may decide."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *


class ForwardsFirst(Part):
    """Forwards the decision to all others first: a reliable broadcast."""

    def may_decide(self, undecided: bool, received: bool, forwarded: bool) -> bool:  # noqa: FBT001 - modelled values
        """Return whether the participant may decide.

        It has ``received`` the decision, and ``forwarded`` it to all, or not.
        """
        return forwarded


class DecidesFirst(ForwardsFirst):
    """Decides, then forwards: it may die before anyone else hears of it."""

    breaks: ClassVar[tuple[str, ...]] = ("agreement",)

    def may_decide(self, undecided: bool, received: bool, forwarded: bool) -> bool:  # noqa: FBT001 - modelled values
        """It is enough that the decision is there."""
        return all_of(undecided, received)
