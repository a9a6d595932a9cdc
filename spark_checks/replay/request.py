"""The request of a replay."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from onceproof.spark_checks.inputs.sizes import PATIENCE, TIMEOUT, Sizes
from onceproof.spark_checks.plan.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from onceproof.properties.property import Property
    from onceproof.spark_checks.inputs.event_files import Input
    from onceproof.spark_checks.replay.journal.journals import Journals


@dataclass(frozen=True)
class ReplayRequest:
    """The request of a replay."""

    faults: int = 1
    """The budget of faults of an interleaving."""
    sizes: Sizes = field(default_factory=Sizes)
    """How many batches, partitions, events and attempts there are."""
    choice: Choice = field(default_factory=Choice)
    """Which interleavings are replayed."""
    keep: bool = False
    """Whether nothing of the runs is deleted."""
    retain: bool = False
    """Whether what is left of the first run that breaks a claim is kept."""
    inspect: bool = True
    """Whether what is left of runs that went amiss is kept, to be looked into."""
    stop: bool = False
    """Whether the replay of a sink ends when a claim is broken."""
    claims: tuple[Property, ...] = ()
    """The guarantees that are claimed."""
    given: Callable[[SparkSession], Input] | None = None
    """Makes the input; without it, the events are flights."""
    timeout: float = TIMEOUT
    """How many seconds the fault-free run of a user's sink may take."""
    budget: float | None = None
    """The number of seconds after which no interleaving is begun; None for no limit.
    Several sinks share it, and those interleavings come first that differ most."""
    every_point: bool = False
    """Whether a fault is injected even at points where a crash leaves the same as at
    another point that is replayed."""
    agent: bool = False
    """Whether an agent in Spark's JVM injects faults, if one can be had."""
    cluster: bool = False
    """Whether tasks run on a cluster on this machine, whose executors SIGKILL ends."""
    kill_drivers: bool = False
    """Whether queries run in drivers with a JVM of their own, which SIGKILL ends."""
    patience: float = PATIENCE
    """The least number of seconds that later runs may take."""
    journals: Journals | None = None
    """Where outcomes are noted as they are found; None for nowhere."""

    @property
    def asked(self) -> dict[str, object]:
        """What outcomes depend on, as plain data.

        A budget of time decides how much is replayed, and not what is seen.
        """
        only = self.choice.only
        return {
            "faults": self.faults,
            **asdict(self.sizes),
            "only": None if only is None else sorted(only),
            "agent": self.agent,
            "cluster": self.cluster,
            "kill_drivers": self.kill_drivers,
            "every_point": self.every_point,
        }
