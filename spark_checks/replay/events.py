"""Events of a replay: the engine emits them, and knows none of its listeners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.sink_report import SinkReport


@dataclass(frozen=True)
class Started:
    """A replay has begun, over these sinks."""

    sinks: tuple[str, ...]
    scratch: str


@dataclass(frozen=True)
class SinkBegun:
    """The interleavings of a sink are known, and replayed from now on."""

    sink: str
    interleavings: int


@dataclass(frozen=True)
class InterleavingBegun:
    """An interleaving is steered through now."""

    sink: str
    number: int


@dataclass(frozen=True)
class StepTaken:
    """A durable step of the model is known to have been taken."""

    sink: str
    number: int
    step: str


@dataclass(frozen=True)
class FaultInjected:
    """A fault of the model is known to have been injected."""

    sink: str
    number: int
    fault: str


@dataclass(frozen=True)
class Recovered:
    """The query has come to rest after the faults of an interleaving."""

    sink: str
    number: int


@dataclass(frozen=True)
class Replayed:
    """An interleaving has been replayed, or has not and says why."""

    sink: str
    outcome: Outcome


@dataclass(frozen=True)
class SinkJudged:
    """All properties of a sink are judged."""

    report: SinkReport


@dataclass(frozen=True)
class ScratchKept:
    """The scratch folder stays: it was asked for, holds what went wrong, or was cut."""

    scratch: str


@dataclass(frozen=True)
class Finished:
    """The replay is over."""

    seconds: float


Event: TypeAlias = (
    Started
    | SinkBegun
    | InterleavingBegun
    | StepTaken
    | FaultInjected
    | Recovered
    | Replayed
    | SinkJudged
    | ScratchKept
    | Finished
)
Listener: TypeAlias = "Callable[[Event], None]"
