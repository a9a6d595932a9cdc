"""What is asked of a replay."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onceproof.spark_checks.inputs.sizes import TIMEOUT, Sizes
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.replay.steering.replay_context import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from onceproof.properties.property import Property
    from onceproof.spark_checks.inputs.event_files import Input


@dataclass(frozen=True)
class ReplayRequest:
    """What is asked of a replay.

    ``choice`` picks interleavings. ``given`` makes the events, which are flights
    without it. With ``keep`` nothing of the runs is deleted; of a user's sink with
    ``retain`` what is left of the first run that breaks a claim stays. With ``stop``
    nothing more is replayed once a claim is broken: smaller interleavings come first.
    The first run of a user's sink, to which nothing is done, may take ``timeout``
    seconds; how long it takes says how long the others may, but ``patience`` at least.
    """

    faults: int = 1
    sizes: Sizes = field(default_factory=Sizes)
    choice: Choice = field(default_factory=Choice)
    keep: bool = False
    retain: bool = False
    stop: bool = False
    claims: tuple[Property, ...] = ()
    given: Callable[[SparkSession], Input] | None = None
    timeout: float = TIMEOUT
    patience: float = PATIENCE
