"""The first observed event that no step of the model explains, and what is nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.traces import Trace

if TYPE_CHECKING:
    from onceproof.model.conformance.blame import FailedPart
    from onceproof.model.conformance.observed import ObservedEvent
    from onceproof.model.conformance.reached import Reached
    from onceproof.model.language.interpreter import State
    from onceproof.model.language.steps import Event


@dataclass(frozen=True)
class Behaviour:
    """A behaviour of the model that explains the beginning of a trace."""

    trace: Trace
    """The behaviour."""
    observed: tuple[int | None, ...]
    """For each of its steps, the position of the observation that it explains; None
    for a silent step."""
    explained: int
    """How many observations it explains."""


@dataclass(frozen=True)
class NearMiss:
    """An event of the model that is nearly what was observed."""

    event: Event | None
    """The event; None where only the state was observed."""
    state: State
    """The state in which it fails for the fewest reasons."""
    behaviour: Behaviour
    """How the model gets to that state along the trace."""
    failed: tuple[FailedPart, ...]
    """The parts of its guard, or else of its effect, that do not hold there."""
    where: str = ""
    """Where the model declares it, ``file:line``."""


@dataclass(frozen=True)
class Divergence:
    """The first observed event that no step of the model explains."""

    position: int
    """Its position among the observations, from 0."""
    observation: ObservedEvent
    """The observed event."""
    states: int
    """In how many states of the model the trace before it can end; none explains it."""
    nearest: tuple[NearMiss, ...]
    """The model's events that are nearest to it, the nearest first."""
    missing: tuple[Event, ...] = ()
    """The fewest steps of the model after which it would be explained, where a few
    suffice: those that the trace does not show."""
    rest: bool = False
    """Whether the trace without this one event is explained."""


def behaviour_of(reached: Reached, explained: int) -> Behaviour:
    """Return how the model got to a state that explains so many observations."""
    first, *others = reached.steps
    taken = [(one.event, one) for one in others if one.event is not None]
    steps = tuple((event, one.state) for event, one in taken)
    observed = tuple(one.observed for _, one in taken)
    return Behaviour(Trace(first.state, steps), observed, explained)
