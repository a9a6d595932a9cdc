"""Replays again what failed for reasons of ours, and what would refute a sink."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.properties.judges.by_history import broken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay.outcome import Outcome, UnjudgedOutcome
    from onceproof.spark_checks.replay.sink_report import SinkReport

RUNS = 3
_ALIKE = 60


class Helps:
    """Remembers failures that another try has not helped: they get no other."""

    def __init__(self) -> None:
        """Know of none yet."""
        self._in_vain: set[str] = set()

    def tried(self, go: Callable[[], UnjudgedOutcome]) -> UnjudgedOutcome:
        """Replay an interleaving; once more after a failure that was not the sink's."""
        first = go()
        reason = first.outcome.not_replayed
        if not first.outcome.again or reason[:_ALIKE] in self._in_vain:
            return first
        second = go()
        if not second.outcome.again:
            if first.outcome.folder is not None:
                shutil.rmtree(first.outcome.folder, ignore_errors=True)
            outcome = replace(second.outcome, failed_first=reason)
            return replace(second, outcome=outcome)
        self._in_vain |= {reason[:_ALIKE], second.outcome.not_replayed[:_ALIKE]}
        if second.outcome.folder is not None:
            shutil.rmtree(second.outcome.folder, ignore_errors=True)
        return replace(first, outcome=replace(first.outcome, again=False))


def confirm(
    report: SinkReport,
    claims: Iterable[Property],
    anew: Callable[[Interleaving], Outcome],
) -> None:
    """Replay again what would refute a claim: it counts only if it breaks it again.

    An interleaving that breaks it in some runs only is unsteady, and decides nothing.
    """
    for prop in claims:
        while (outcome := report.first_break(prop)) is not None:
            number = outcome.interleaving.number
            again = report.again.setdefault(number, [])
            broke = [_breaks(prop, one) for one in again]
            while not (broke and broke[0]) and len(broke) < RUNS - 1:
                again.append(anew(outcome.interleaving))
                broke.append(_breaks(prop, again[-1]))
            if broke[0]:
                break
            reason = f"breaks {prop.name} in {1 + sum(broke)} of {1 + len(broke)} runs"
            report.unsteady.setdefault(prop.name, {})[number] = reason


def _breaks(prop: Property, outcome: Outcome) -> bool:
    return outcome.spark is not None and broken(prop, outcome.spark) is not None
