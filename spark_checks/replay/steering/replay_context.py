"""What all runs of a replay share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onceproof.spark_checks.replay.cleanup import Leftovers

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from onceproof.properties.ledger import History
    from onceproof.spark_checks.inputs.event_files import InputFiles
    from onceproof.spark_checks.replay.observations import Observations, Observer
    from onceproof.spark_checks.session.warm_session import WarmSession
    from onceproof.spark_checks.sinks.interface import UnderTest

PATIENCE = 60.0


@dataclass(frozen=True)
class ReplayContext:
    """What all runs of a replay share.

    A run that has not ended after ``patience`` seconds is given up. A task that was
    given up, and is parked, is released where nothing moves for ``stall`` seconds.
    """

    session: WarmSession
    spark: SparkSession
    source: InputFiles
    observer: Observer | None
    scratch: Path
    under_test: UnderTest | None = None
    patience: float = PATIENCE
    stall: float = math.inf
    leftovers: Leftovers = field(default_factory=Leftovers)

    def histories(self, tellings: Sequence[Observations]) -> list[History]:
        """Count how events fared in several runs; nothing where nobody looked."""
        if self.observer is None or not tellings:
            return []
        return self.observer.histories(tellings)
