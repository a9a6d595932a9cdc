"""How much a replay runs."""

from __future__ import annotations

from dataclasses import dataclass

A_DAY = 842
A_YEAR = 336_776
MOST = {"BATCH": 8, "PARTITION": 4, "ATTEMPT": 4}
MOST_FAULTS = 3
TIMEOUT = 600.0
"""How many seconds the fault-free run of a user's sink may take."""
PATIENCE = 60.0
"""The least number of seconds that any other run may take."""


@dataclass(frozen=True)
class Sizes:
    """How much a replay runs."""

    batches: int = 2
    """How many batches the events are cut into."""
    partitions: int = 2
    """How many partitions a batch is cut into."""
    events: int = A_DAY
    """How many events there are."""
    attempts: int = 2
    """How many attempts a task has."""


DEFAULT = Sizes()
