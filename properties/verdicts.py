"""The closed set of verdicts, and what each is worth."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Verdict(StrEnum):
    """The verdict on a claim. Only the first four may be read as "it holds"."""

    PROVED = "proved"
    EXHAUSTED = "exhausted"
    BOUNDED = "bounded"
    HELD = "held"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    VACUOUS = "vacuous"

    @property
    def holds(self) -> bool:
        """Whether the claim held as far as was looked."""
        return self in _HOLDING

    @property
    def meaning(self) -> str:
        """Say in words what the verdict is worth."""
        return _MEANINGS[self]


_HOLDING = (Verdict.PROVED, Verdict.EXHAUSTED, Verdict.BOUNDED, Verdict.HELD)

_MEANINGS = {
    Verdict.PROVED: "holds for all sizes",
    Verdict.EXHAUSTED: "holds in every reachable state of this size",
    Verdict.BOUNDED: "holds to this depth",
    Verdict.HELD: "held in every run that was made",
    Verdict.REFUTED: "fails, with a counterexample",
    Verdict.UNDECIDED: "was not settled",
    Verdict.VACUOUS: "was never tested",
}

_WEAKEST_FIRST = (
    Verdict.REFUTED,
    Verdict.UNDECIDED,
    Verdict.VACUOUS,
    Verdict.HELD,
    Verdict.BOUNDED,
    Verdict.EXHAUSTED,
    Verdict.PROVED,
)


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict of a claim made of several: that of its weakest part."""
    return min(verdicts, key=_WEAKEST_FIRST.index, default=Verdict.VACUOUS)


def exit_status(verdicts: Iterable[Verdict]) -> int:
    """Return 0 where all hold, 1 where one is refuted, else 2."""
    found = list(verdicts)
    if Verdict.REFUTED in found:
        return 1
    return 0 if found and all(v.holds for v in found) else 2
