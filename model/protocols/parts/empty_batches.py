"""When a driver looks for windows that the watermark closes where no data is."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *


class EmptyBatchWhenDue(Part):
    """Looks whenever no data is there, and runs a batch without data if one is due."""

    def is_looked_for(self, ran: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether the driver looks; it has run a batch, or not."""
        return any_of(ran, not_(ran))


class EmptyBatchAfterAnother(EmptyBatchWhenDue):
    """Asks the last batch that it ran whether another one would change anything.

    So does Spark. A driver that has just started has run none.
    """

    breaks: ClassVar[tuple[str, ...]] = (
        "at-least-once",
        "effectively-once",
        "recoverable",
        "batch-equivalence",
    )

    def is_looked_for(self, ran: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Only a driver that has run a batch looks."""
        return ran
