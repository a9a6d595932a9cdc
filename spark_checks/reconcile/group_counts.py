"""How many events a group has, and of how many something is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.reconcile.event_counts import (
    CHANGED,
    DUPLICATED,
    MISSING,
    UNEXPLAINED,
    total,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from decimal import Decimal

    from onceproof.spark_checks.reconcile.event_counts import EventCount
    from onceproof.spark_checks.reconcile.request import ReconcileRequest


@dataclass(frozen=True)
class GroupCounts:
    """How many events a group has, and of how many something is wrong."""

    by: str | None
    """The group; None for all together, or for what belongs to none."""
    events: int
    """The events of the source."""
    owed: int
    """Those of them that are owed."""
    once: int
    """Those of the source that are seen once."""
    missing: int
    """Those owed that are not seen."""
    duplicated: int
    """Those seen more than once."""
    unexplained: int
    """The rows of the sink that belong to no event."""
    changed: int
    """Those seen once, with other numbers than in the source."""
    sums: tuple[tuple[Decimal | None, Decimal | None], ...]
    """Each number's sum, of the events and of the sink's rows that are judged."""

    @property
    def agree(self) -> bool:
        """Whether the sums of both agree."""
        return all((a or 0) == (b or 0) for a, b in self.sums)

    @property
    def wrong(self) -> bool:
        """Whether anything is wrong."""
        many = self.missing + self.duplicated + self.unexplained + self.changed
        return bool(many) or not self.agree


def counts_of(
    by: str | None, outcomes: Iterable[EventCount], *, sums: int
) -> GroupCounts:
    """Add up what became of the events of a group, and so many numbers of theirs."""
    some = list(outcomes)
    known = [one for one in some if one.sources]
    judged = [one for one in some if one.owed]

    def count(fault: str) -> int:
        return sum(one.events for one in some if fault in one.faults)

    return GroupCounts(
        by,
        events=sum(one.events for one in known),
        owed=sum(one.events for one in known if one.owed),
        once=sum(one.events for one in known if one.visible == 1),
        missing=count(MISSING),
        duplicated=count(DUPLICATED),
        unexplained=sum(o.events * o.visible for o in some if UNEXPLAINED in o.faults),
        changed=count(CHANGED),
        sums=tuple(
            (
                total(one.sums[n][0] for one in judged),
                total(one.sums[n][1] for one in judged),
            )
            for n in range(sums)
        ),
    )


def counts_data(one: GroupCounts, request: ReconcileRequest) -> dict[str, Any]:
    """Return counts as data, with the sums that were asked for."""
    found: dict[str, Any] = {} if one.by is None else {"by": one.by}
    words = ("events", "owed", "once", "missing", "duplicated", "unexplained")
    found |= {word: getattr(one, word) for word in words}
    if request.sums:
        found["changed"] = one.changed
        found["sums"] = {
            str(pair): {"source": _text(a), "sink": _text(b)}
            for pair, (a, b) in zip(request.sums, one.sums, strict=True)
        }
    return found


def _text(value: Decimal | None) -> str | None:
    return None if value is None else f"{value:f}"
