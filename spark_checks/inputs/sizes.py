"""How much a replay runs."""

from __future__ import annotations

from dataclasses import dataclass

A_DAY = 842
A_YEAR = 336_776
MOST = {"BATCH": 8, "PARTITION": 4, "ATTEMPT": 4}
MOST_FAULTS = 3
TIMEOUT = 600.0


@dataclass(frozen=True)
class Sizes:
    """Events, cut into batches, cut into partitions; a task has so many attempts."""

    batches: int = 2
    partitions: int = 2
    events: int = A_DAY
    attempts: int = 2


DEFAULT = Sizes()
