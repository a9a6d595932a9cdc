"""What was observed of a real system, in terms of a protocol's steps and state."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.model.language.steps import Event
    from onceproof.model.language.terms.types import Value


class ObservedKind(Enum):
    """What an observation says."""

    STEP = "step"
    """One of its events is taken here."""
    STATE = "state"
    """The state is as described here."""
    CALL = "call"
    """One of its events may be taken from here on, once."""
    RETURN = "return"
    """The event of a call has been taken by here."""
    GONE = "gone"
    """The event of a call is not taken any more, if it was not taken by here."""


@dataclass(frozen=True)
class Condition:
    """The value of one element of the state."""

    path: str
    """The path of the field."""
    place: tuple[int, ...]
    """The members that select the element."""
    value: Value
    """The value that it has."""


@dataclass(frozen=True)
class ObservedEvent:
    """One observed event."""

    kind: ObservedKind
    """What it says."""
    text: str
    """How it reads in a report."""
    events: tuple[Event, ...] = ()
    """The model's events that it may be: a step or a call has at least one."""
    holds: tuple[Condition, ...] = ()
    """What the state is like after it."""
    key: str = ""
    """The name of its call, which its return names, too."""
    line: int = 0
    """Its line in a file, from 1; 0 if it is from none."""


@dataclass(frozen=True)
class Silence:
    """Steps of the model that leave no event, and so may be taken between events."""

    steps: frozenset[str]
    """Their names."""
    when: Callable[[Protocol, Event, Protocol], bool] | None = None
    """Whether an event leaves none, by the states before and after; always if None."""
    why: str = ""
    """Why they leave none."""


@dataclass(frozen=True)
class ObservedTrace:
    """The observations of one real run, in their order."""

    observations: tuple[ObservedEvent, ...]
    """The observations."""
    silences: tuple[Silence, ...] = field(default=())
    """Which steps of the model leave no event; every other step does."""
