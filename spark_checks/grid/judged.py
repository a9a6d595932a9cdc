"""What a guarantee says of a cell: of a real run, and of the model's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.properties.guarantees import BATCH_EQUIVALENCE, RECOVERABLE
from onceproof.properties.judges import by_history
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from onceproof.properties.ledger import History
    from onceproof.properties.property import Property

AFTER_RECOVERY, AFTER_MORE = "after the recovery", "after further input"
JUDGED = (BATCH_EQUIVALENCE, RECOVERABLE)
"""The guarantees that the grid judges."""


def verdict_of(
    prop: Property, after_recovery: History | None, after_more: History
) -> Verdict:
    """Judge a property by what readers see after further input.

    Batch equivalence is judged after the recovery, too. A query that did not come back
    is judged by recoverable alone.
    """
    if prop is BATCH_EQUIVALENCE and not after_more.rested:
        return Verdict.UNDECIDED
    judged = [after_more]
    if prop is BATCH_EQUIVALENCE and after_recovery is not None:
        judged.append(after_recovery)
    if any(by_history.broken(prop, history) is not None for history in judged):
        return Verdict.REFUTED
    return Verdict.HELD
