"""Replays again what failed for reasons of ours, and what would refute a sink."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, TypeAlias

from onceproof.properties.judges.by_history import broken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onceproof.model.interleavings.interleaving import Interleaving
    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.run_evidence import RunEvidence
    from onceproof.spark_checks.replay.smallest import Smallest

    Anew: TypeAlias = Callable[[Sequence[Interleaving]], list[Outcome]]
    """Replays interleavings once more, side by side."""

RUNS = 3
_ALIKE = 60


class Retries:
    """Runs an interleaving once more if its first run failed, and not by the sink.

    Failures that another try has not helped are remembered: they get no other.
    """

    def __init__(self) -> None:
        """Know of none yet."""
        self._in_vain: set[str] = set()

    def tried(self, go: Callable[[str], RunEvidence]) -> RunEvidence:
        """Return what the run left that counts.

        ``go`` runs the interleaving; it takes the reason why an earlier try failed.
        """
        first = go("")
        reason = first.deviation.reason
        if not first.deviation.help or reason[:_ALIKE] in self._in_vain:
            return first
        second = go(reason)
        helped = not second.deviation.help
        useless = first if helped else second
        if useless.folder is not None:
            shutil.rmtree(useless.folder, ignore_errors=True)
        if helped:
            return second
        self._in_vain |= {reason[:_ALIKE], second.deviation.reason[:_ALIKE]}
        return first


class Findings:
    """The outcomes of a replay so far, and which of them break a property for certain.

    A replay adds to it; the report on the sink is made of it at the end.
    """

    def __init__(self, smallest: Smallest) -> None:
        """Know of no outcome yet."""
        self._smallest = smallest
        self.outcomes: list[Outcome] = []
        self.unsteady: dict[str, dict[int, str]] = {}
        self.again: dict[int, list[Outcome]] = {}

    def first_break(self, prop: Property) -> Outcome | None:
        """Return the smallest interleaving so far that breaks a property."""
        unsteady = self.unsteady.get(prop.name, {})
        return self._smallest.first_break(prop, self.outcomes, unsteady)

    def breaks_any(self, claims: Iterable[Property]) -> bool:
        """Return whether a claim is broken."""
        return any(map(self.first_break, claims))

    def confirm(self, claims: Iterable[Property], anew: Anew) -> None:
        """Replay again what would refute a claim: it counts only if it does so again.

        An interleaving that breaks it in some runs only is unsteady, and decides
        nothing. What refutes several claims is replayed ``anew`` side by side.
        """
        claims = tuple(claims)
        first = {
            found.interleaving.number: found.interleaving
            for found in map(self.first_break, claims)
            if found is not None
        }
        unconfirmed = [first[number] for number in first if number not in self.again]
        for one, outcome in zip(unconfirmed, anew(unconfirmed), strict=True):
            self.again[one.number] = [outcome]
        for prop in claims:
            while (broken_by := self.first_break(prop)) is not None:
                number = broken_by.interleaving.number
                again = self.again.setdefault(number, [])
                broke = [_breaks(prop, one) for one in again]
                while not (broke and broke[0]) and len(broke) < RUNS - 1:
                    again += anew([broken_by.interleaving])
                    broke.append(_breaks(prop, again[-1]))
                if broke[0]:
                    break
                share = f"{1 + sum(broke)} of {1 + len(broke)} runs"
                reason = f"breaks {prop.name} in {share}"
                self.unsteady.setdefault(prop.name, {})[number] = reason


def _breaks(prop: Property, outcome: Outcome) -> bool:
    return outcome.spark is not None and broken(prop, outcome.spark) is not None
