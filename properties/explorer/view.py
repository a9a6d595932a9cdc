"""What there is to show of a counterexample, or of a protocol, as plain data.

Both views of the explorer render this and nothing else. What is not known, cut off or
not worked out is said in ``notes``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.properties.explorer.truncation import clipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.properties.counterexample.explanation.property_timeline import (
        PropertyTimeline,
    )
    from onceproof.properties.counterexample.routine import Fold
    from onceproof.properties.words.messages import SentMessage

MODEL, SPARK = "model", "real Spark"


@dataclass(frozen=True)
class Change:
    """An element of the state that a step changes; ``before`` may not be known."""

    name: str
    """The element's name, as the labels have it."""
    before: Any
    after: Any
    """Its new value."""


def code_of(event: str, members: Sequence[int]) -> str:
    """Write a step as a test does, such as ``write(0, 1)``: by numbers alone."""
    return f"{event}({', '.join(map(str, members))})"


@dataclass(frozen=True)
class Option:
    """A step that could have been taken instead; ``breaks`` says it breaks at once.

    ``text`` is its label; ``code`` names it among all others.
    """

    text: str
    kind: str
    """The kind of step."""
    breaks: bool
    code: str


@dataclass(frozen=True)
class StepView:
    """A step: who does what, what it changes, and what else could have been done.

    ``text`` is its label. ``matters`` says whether the run still breaks without it,
    where that is known, and ``source`` whether the step was taken in the model alone or
    by real Spark.
    """

    number: int
    """The number of the step, from 1."""
    lane: int
    """The position of its lane among the lanes of the view."""
    text: str
    event: str
    """The name of the action or fault."""
    members: tuple[int, ...]
    """The members that it is for."""
    kind: str
    """The kind of step."""
    doc: str
    """What it means: the first line of the action's docstring, if that is known."""
    source: str
    changes: tuple[Change, ...]
    """The elements of the state that it changes."""
    options: tuple[Option, ...] = ()
    """The steps that could have been taken instead."""
    matters: bool | None = None
    breaks: bool = False
    """Whether the property first fails after it."""

    @property
    def code(self) -> str:
        """Write the step as a test does."""
        return code_of(self.event, self.members)


@dataclass(frozen=True)
class StoryStep:
    """One of the few steps of a story: who did what, and what came of it.

    ``text`` is the step's label and ``doc`` its meaning, which may not be known;
    ``changes`` are those that have a part in what is wrong.
    """

    step: int
    """The number of the step, from 1."""
    who: str
    """The name of the lane that it is in."""
    text: str
    doc: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Story:
    """What is wrong, which claim that breaks, and the few steps that led there."""

    saw: str
    """What readers saw, or what the state is, in a sentence."""
    why: str
    """Which claim that breaks, in a sentence; empty where nothing else is known."""
    steps: tuple[StoryStep, ...]
    """The steps that led there, in order."""


@dataclass(frozen=True)
class Observation:
    """What readers of the real sink saw just after a step."""

    after: int
    """The number of the step."""
    text: str
    """What readers saw."""
    breaks: bool
    """Whether the property fails by it."""


@dataclass(frozen=True)
class PassingRun:
    """A run that breaks nothing; the first ``shared`` steps are those of the trace.

    ``steps`` name action and members, and ``labels`` are how these steps are shown.
    """

    shared: int
    steps: tuple[tuple[str, tuple[int, ...]], ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class View:
    """All that a view of a counterexample shows. Steps count from 1, 0 is the start.

    ``fails_at`` is the step after which the property first fails, if it does.
    ``ending`` says how a run goes on that breaks a claim about whole runs.
    ``folds`` are the first and the last of routine steps that are shown as one line.
    """

    protocol: str
    """The name of the protocol."""
    parameters: dict[str, Any]
    """Its parameters, parts and sizes."""
    property: str
    """The property that is broken; empty for a walk."""
    clause: str
    """The clause that fails; empty for a walk."""
    source: str
    """Whether the steps are of the model or of real Spark."""
    sink: str
    """The sink of a real run; empty for the model alone."""
    lanes: tuple[str, ...]
    """The name of each lane."""
    steps: tuple[StepView, ...]
    """The steps, in order."""
    start: dict[str, Any]
    """The first state, element by element."""
    fails_at: int | None
    named_start: dict[str, Any] = field(default_factory=dict)
    """The first state under the names of files; empty where there is no model."""
    messages: tuple[SentMessage, ...] = ()
    """The messages that were sent; empty where there is no model."""
    strips: tuple[PropertyTimeline, ...] = ()
    """How each property does along the run; empty where there is no model."""
    looks: tuple[Observation, ...] = ()
    """What readers of a real sink saw."""
    because: tuple[str, ...] = ()
    """How it came about, in sentences."""
    passing: PassingRun | None = None
    """The nearest run that breaks nothing, where one is known."""
    notes: tuple[str, ...] = ()
    """What was cut off or not worked out, in sentences."""
    versions: dict[str, str] = field(default_factory=dict)
    """The versions that the run was found with."""
    ending: str = ""
    story: Story | None = None
    """What is wrong, in a few steps; None for a walk."""
    folds: tuple[Fold, ...] = ()
    live: bool = False
    """Whether there is a model to take other steps in."""

    def to_json(self) -> dict[str, Any]:
        """Return plain data; what is too long is cut off, and that is noted."""
        data: dict[str, Any]
        data, notes = clipped(asdict(self))
        data["notes"] += notes
        return data
