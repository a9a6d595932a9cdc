"""What readers see is compared with what an oracle shows, and becomes a history."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.properties.ledger import RESULT_ROW, EventOutcome, History, Row

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onceproof.spark_checks.grid.writers import ResultRow


@dataclass(frozen=True)
class Comparison:
    """Rows that an oracle shows, beside those that readers see."""

    expected: tuple[ResultRow, ...]
    """The rows that the oracle shows."""
    seen: tuple[ResultRow, ...]
    """The rows that readers see."""

    @property
    def missing(self) -> list[ResultRow]:
        """Rows that readers do not see, although the oracle shows them."""
        return sorted((Counter(self.expected) - Counter(self.seen)).elements())

    @property
    def surplus(self) -> list[ResultRow]:
        """Rows that readers see, and that the oracle does not show, or less often."""
        return sorted((Counter(self.seen) - Counter(self.expected)).elements())

    @property
    def equal(self) -> bool:
        """Whether both are the same."""
        return Counter(self.expected) == Counter(self.seen)

    def history(self, moment: str, *, rested: bool) -> History:
        """Return the ledger's history: an event is a row that is expected.

        A row that is there more often than it is expected is seen twice; a row that is
        not expected at all is unexplained.
        """
        expected, seen = Counter(self.expected), Counter(self.seen)
        outcomes: Counter[int] = Counter()
        for row, times in expected.items():
            found = seen[row]
            # Rows that are equal cannot be told apart: one of them is seen too often.
            outcomes[1] += min(found, times - 1) if found > times else min(found, times)
            if found < times:
                outcomes[0] += times - found
            if found > times:
                outcomes[1 + found - times] += 1
        unknown = {row: n for row, n in seen.items() if row not in expected}
        return History(
            moments=(moment,),
            rows=tuple(
                Row(0, True, (EventOutcome(False, visible),), events)  # noqa: FBT003
                for visible, events in sorted(outcomes.items())
                if events
            ),
            unexplained=(sum(unknown.values()),),
            rested=rested,
            strays=(in_words(next(iter(sorted(unknown)), ())),),
            counted=RESULT_ROW,
        )


def in_words(row: Iterable[tuple[str, str]]) -> str:
    """Write a row as ``name=value``."""
    return ", ".join(f"{name}={value}" for name, value in row)
