"""How a run deviated from its plan."""

from __future__ import annotations

from dataclasses import dataclass

from onceproof.spark_checks.plan.run_plan import FAILED, NO_SUCH_POINT, NOT_MET


@dataclass(frozen=True)
class Deviation:
    """Why a run deviated from its plan; false if it did not."""

    reason: str = ""
    """Why, in words."""
    known: bool = False
    """Whether no other try can go as planned."""
    help: bool = False
    """Whether another try may help, because the failure was not the sink's."""
    nothing_to_hit: bool = False
    """Whether there is no point to inject the fault at."""

    @property
    def cause(self) -> str:
        """The cause for which the interleaving was not replayed."""
        if not self.reason:
            return ""
        if self.nothing_to_hit:
            return NO_SUCH_POINT
        return NOT_MET if self.known else FAILED

    def __bool__(self) -> bool:
        """Return whether the run deviated."""
        return bool(self.reason)


AS_PLANNED = Deviation()
