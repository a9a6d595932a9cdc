"""Which of a sink's failure interleavings are replayed, and which of them first."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.model.language.plain import Reference as Semantics
from onceproof.properties.counterexample import steps_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onceproof.model.interleavings import Interleaving, Interleavings
    from onceproof.properties.counterexample import Step


@dataclass(frozen=True)
class Choice:
    """All interleavings, or ``only`` some by number, or at ``most`` so many.

    Those that are ``first`` are replayed before all others. Where there are more than
    ``most``, each number of faults has its share, and of that each kind; ``seed``
    chooses within a kind.
    ``nth`` picks a single one, however many there are: it goes round. ``told`` are the
    steps of one that a file tells of: where the sink has changed so that there is none
    like it, all that hold faults of the same names stand for it.
    """

    only: frozenset[int] | None = None
    most: int | None = None
    first: tuple[int, ...] = ()
    seed: int = 0
    nth: int | None = None
    told: tuple[Step, ...] = ()

    def check(self, known: Mapping[str, int]) -> None:
        """Refuse numbers that no sink has an interleaving of.

        ``known`` tells how many there are of each sink, as far as that is known.
        Raises ``UsageError``.
        """
        if self.only is None or not known:
            return
        for number in sorted(self.only):
            if not 1 <= number <= max(known.values()):
                there = ", ".join(f"{name} has 1 to {n}" for name, n in known.items())
                message = f"there is no interleaving {number}; {there}"
                raise UsageError(message)

    def of(
        self, found: Interleavings
    ) -> tuple[tuple[Interleaving, ...], tuple[Interleaving, ...]]:
        """Choose: what comes first, and what comes then, each in order of numbers."""
        classes = found.classes
        if self.only is not None:
            classes = tuple(one for one in classes if one.number in self.only)
        if self.told:
            classes = tuple(self._told(found))
        if self.nth is not None:
            classes = (classes[self.nth % len(classes)],) if classes else ()
        first = tuple(one for one in classes if one.number in self.first)
        others = tuple(one for one in classes if one.number not in self.first)
        if self.most is not None and len(others) > self.most:
            others = self._thinned(others, self.most)
        return first, others

    def _told(self, found: Interleavings) -> Sequence[Interleaving]:
        """Find the interleaving that is told of, or those that stand for it."""
        reference = Semantics(found.protocol)
        for one in found.classes:
            if steps_of(reference, one.trace) == self.told:
                return [one]
        names = [step.event for step in self.told if step.fault]
        kinds = {one: faults_of(one) for one in found.classes}
        alike = [one for one, kind in kinds.items() if list(kind) == names]
        return alike or [o for o, kind in kinds.items() if len(kind) == len(names)]

    def _thinned(
        self, classes: tuple[Interleaving, ...], most: int
    ) -> tuple[Interleaving, ...]:
        """Take as many with one fault as with two, as far as there are so many.

        Of those each kind of fault has its share.
        """
        numbers: dict[int, dict[tuple[str, ...], list[Interleaving]]] = {}
        for one in classes:
            kind = faults_of(one)
            numbers.setdefault(len(kind), {}).setdefault(kind, []).append(one)
        kept: list[Interleaving] = []
        fewest = sorted(
            numbers.values(), key=lambda kinds: sum(map(len, kinds.values()))
        )
        for done, kinds in enumerate(fewest):
            share = (most - len(kept)) // (len(fewest) - done)
            kept += self._shared_out(kinds, share)
        return tuple(sorted(kept, key=lambda one: one.number))

    def _shared_out(
        self, kinds: dict[tuple[str, ...], list[Interleaving]], most: int
    ) -> list[Interleaving]:
        """Take the same number of each kind, as far as there are so many."""
        for alike in kinds.values():
            random.Random(self.seed).shuffle(alike)  # noqa: S311 - no secret
        kept: list[Interleaving] = []
        while len(kept) < most and any(kinds.values()):
            for alike in kinds.values():
                if alike and len(kept) < most:
                    kept.append(alike.pop())
        return kept


def faults_of(one: Interleaving) -> tuple[str, ...]:
    """Name the faults of an interleaving, in order."""
    return tuple(one.trace.events[at].name for at in one.faults)
