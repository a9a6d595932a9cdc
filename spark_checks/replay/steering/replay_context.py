"""What all runs of a replay share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.hosts.built_sink import Builds, OtherImports
from onceproof.spark_checks.inputs.sizes import PATIENCE
from onceproof.spark_checks.replay.cleanup import Leftovers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from onceproof.properties.ledger import History
    from onceproof.spark_checks.inputs.event_files import InputFiles
    from onceproof.spark_checks.replay.observations import (
        Observations,
        Observer,
        Observers,
    )
    from onceproof.spark_checks.replay.steering.query_start import OwnDrivers
    from onceproof.spark_checks.session.warm_session import WarmSession
    from onceproof.spark_checks.stores.interface import RunningStore


@dataclass(frozen=True)
class ReplayContext:
    """What all runs of a replay share.

    A run that has not ended after ``patience`` seconds is given up. A task that was
    given up, and is parked, is released where nothing moves for ``stall`` seconds.
    """

    session: WarmSession
    """The warm session."""
    spark: SparkSession
    """The session of this thread."""
    source: InputFiles
    """The input."""
    observers: Observers
    """Those that compare what readers see with the input."""
    observer: Observer | None
    """The one for the sink under test; None in the first run."""
    scratch: Path
    """The folder of the runs."""
    patience: float = PATIENCE
    """A run that has not ended after so many seconds is given up."""
    stall: float = math.inf
    """After so many seconds without progress, a parked task is released."""
    leftovers: Leftovers = field(default_factory=Leftovers)
    """The sinks that have something to clean up."""
    builds: Builds = field(default_factory=Builds)
    """What the builds of the sink have made."""
    imports: OtherImports = field(default_factory=OtherImports)
    """What the sinks' modules make as a driver that starts again imports them."""
    store: RunningStore | None = None
    """The store that the sink writes to, if it names one."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """The version of that store, by its name, if it is known."""
    drivers: OwnDrivers | None = None
    """The drivers that are killed, each with a JVM of its own; None where each query
    runs in the warm session."""

    def histories(self, observations: Sequence[Observations]) -> list[History]:
        """Count the outcomes of events in several runs, where a reader looked."""
        if self.observer is None or not observations:
            return []
        return self.observer.histories(observations)
