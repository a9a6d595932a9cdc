"""What a replay tells as it goes: the engine emits, and knows none of its listeners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.spark_checks.replay import SinkReport
    from onceproof.spark_checks.run import Outcome


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
class Replayed:
    """An interleaving has been replayed, or has not and says why."""

    sink: str
    outcome: Outcome


@dataclass(frozen=True)
class Judged:
    """All properties of a sink are judged."""

    report: SinkReport


@dataclass(frozen=True)
class Kept:
    """The scratch folder stays, for it was asked for, or the replay was cut short."""

    scratch: str


@dataclass(frozen=True)
class Finished:
    """The replay is over."""

    seconds: float


Event: TypeAlias = (
    Started | SinkBegun | InterleavingBegun | Replayed | Judged | Kept | Finished
)
Listener: TypeAlias = "Callable[[Event], None]"
