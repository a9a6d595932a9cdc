"""A reconciliation in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.properties.guarantees import EFFECTIVELY_ONCE
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from onceproof.spark_checks.reconcile.reconciliation import Reconciliation

_STRONGEST = EFFECTIVELY_ONCE.name
_COUNTED = ("missing", "duplicated", "unexplained", "changed")


def headline(found: Reconciliation) -> str:
    """Say in one sentence how the claims came out, and with which counts."""
    refuted = [name for name, one in found.verdicts.items() if one is Verdict.REFUTED]
    total = found.total
    if refuted:
        names = [_STRONGEST] if _STRONGEST in refuted else refuted
        many = [(getattr(total, word), word) for word in _COUNTED]
        counts = ", ".join(f"{number:,} {word}" for number, word in many if number)
        of = "1 event" if total.events == 1 else f"{total.events:,} events"
        wrong = counts or "the sums differ"
        return f"Not {', not '.join(names)}: {wrong} (the source has {of})"
    if found.problems:
        return f"Undecided: {found.problems[0]}"
    if not found.holds:
        names = [name for name, one in found.verdicts.items() if not one.holds]
        return f"Not tested: {', '.join(names)}"
    owed = "1 event" if total.owed == 1 else f"{total.owed:,} events"
    return f"{', '.join(found.verdicts)} held for the {owed} owed"
