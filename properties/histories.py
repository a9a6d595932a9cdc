"""The third judge: properties over what was observed of a real run."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from onceproof.properties.ledger import History, of_history

if TYPE_CHECKING:
    from onceproof.properties.property import Clause, Property


def broken(prop: Property, history: History) -> tuple[int, int] | None:
    """Find where a history breaks a property: the clause, and the moment.

    Moments are when the run was down after a fault, and at rest. A run that no
    restart brought to rest is at rest, and has not recovered. From a moment to one at
    which everything is as it was, there is no step.
    """
    for number, clause in enumerate(prop.clauses):
        moment = _first(clause, history)
        if moment is not None:
            return number, moment
    return None


def _first(clause: Clause, history: History) -> int | None:
    ledgers = [of_history(history, i) for i in range(len(history.moments))]
    last = len(ledgers) - 1
    if clause.when == "always":
        found = [i for i, ledger in enumerate(ledgers) if not clause.holds(ledger)]
    elif clause.when == "step":
        pairs = enumerate(itertools.pairwise(ledgers), 1)
        found = [
            i for i, pair in pairs if _moved(history, i) and not clause.holds(*pair)
        ]
    elif clause.when == "at_rest":
        found = [] if clause.holds(ledgers[last]) else [last]
    elif clause.when == "recoverable":
        well = history.rested and clause.holds(ledgers[last])
        found = [] if well else [last]
    else:
        found = []
    return found[0] if found else None


def _moved(history: History, moment: int) -> bool:
    """Say whether anything is other at a moment than at the one before it."""
    before = moment - 1
    return history.unexplained[before] != history.unexplained[moment] or any(
        row.fared[before] != row.fared[moment] for row in history.rows
    )
