"""How a run deviated from its plan."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.spark_checks.plan.run_plan import FAILED, NO_SUCH_POINT, NOT_MET


@dataclass(frozen=True)
class Deviation:
    """Why a run was not the one that was planned; ``known`` if none can ever be.

    With ``nothing_to_hit`` there is nothing to inject a fault into.
    Another try may ``help``: what failed was ours, or took too long.
    """

    reason: str = ""
    known: bool = False
    help: bool = False
    nothing_to_hit: bool = False

    @property
    def cause(self) -> str:
        """Say by which of the causes an interleaving was not replayed."""
        if not self.reason:
            return ""
        if self.nothing_to_hit:
            return NO_SUCH_POINT
        return NOT_MET if self.known else FAILED

    def __bool__(self) -> bool:
        """Say whether the run deviated."""
        return bool(self.reason)


AS_PLANNED = Deviation()
