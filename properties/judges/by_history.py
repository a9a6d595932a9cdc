"""The third judge: evaluates properties over observations of a real run."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, assert_never

from onceproof.model.language.declarations.modality import Modality
from onceproof.properties.ledger import History, of_history

if TYPE_CHECKING:
    from onceproof.properties.property import Clause, Property


def broken(prop: Property, history: History) -> tuple[int, int] | None:
    """Find where a history breaks a property: the clause, and the moment.

    A moment is when the run was down after a fault, or at rest. A run that no restart
    could finish is at rest, and has not recovered. Two moments with the same ledger
    have no step between them. Nothing is broken at a moment at which no reader could
    read.
    """
    for number, clause in enumerate(prop.clauses):
        moment = _first(clause, history)
        if moment is not None:
            return number, moment
    return None


def unobserved(prop: Property, history: History) -> tuple[int, ...]:
    """List the moments that a property speaks of and at which no reader could read.

    A history that breaks nothing does not show that the property holds there.
    """
    found: set[int] = set()
    for clause in prop.clauses:
        found |= _asked(clause, history) if history.unread else set()
    return tuple(sorted(found))


def left_open(prop: Property, history: History) -> tuple[int, int] | None:
    """Find what a history leaves open, as no reader could read: clause and moment."""
    for number, clause in enumerate(prop.clauses):
        if found := _asked(clause, history):
            return number, min(found)
    return None


def _asked(clause: Clause, history: History) -> set[int]:
    """Return the unread moments that a clause speaks of."""
    unread = set(history.unread)
    match clause.when:
        case Modality.ALWAYS | Modality.STEP:
            return unread
        case Modality.AT_REST | Modality.RECOVERABLE:
            return unread & {len(history.moments) - 1}
        case Modality.SOMETIMES | Modality.EVENTUALLY | Modality.LEADS_TO:
            return set()  # no single run decides these
        case _:
            assert_never(clause.when)


def _first(clause: Clause, history: History) -> int | None:
    last = len(history.moments) - 1
    read = [i for i in range(last + 1) if i not in history.unread]
    ledgers = {i: of_history(history, i) for i in read}
    match clause.when:
        case Modality.ALWAYS:
            found = [i for i in read if not clause.holds(ledgers[i])]
        case Modality.STEP:
            pairs = itertools.pairwise(read)
            found = [
                j
                for i, j in pairs
                if _moved(history, i, j) and not clause.holds(ledgers[i], ledgers[j])
            ]
        case Modality.AT_REST:
            found = [] if last not in ledgers or clause.holds(ledgers[last]) else [last]
        case Modality.RECOVERABLE:
            well = last not in ledgers or clause.holds(ledgers[last])
            found = [] if history.rested and well else [last]
        case Modality.SOMETIMES | Modality.EVENTUALLY | Modality.LEADS_TO:
            found = []  # what one run did not reach, another may
        case _:
            assert_never(clause.when)
    return found[0] if found else None


def _moved(history: History, before: int, moment: int) -> bool:
    """Return whether anything is other at a moment than at one before it."""
    return history.unexplained[before] != history.unexplained[moment] or any(
        row.outcomes[before] != row.outcomes[moment] for row in history.rows
    )
