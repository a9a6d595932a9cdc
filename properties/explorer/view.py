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

    from onceproof.properties.counterexample.messages import SentMessage
    from onceproof.properties.counterexample.property_timeline import PropertyTimeline
    from onceproof.properties.counterexample.routine import Fold

MODEL, SPARK = "model", "real Spark"


@dataclass(frozen=True)
class Change:
    """An element of the state that a step changes; ``before`` may not be known."""

    name: str
    before: Any
    after: Any


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
    lane: int
    text: str
    event: str
    members: tuple[int, ...]
    kind: str
    doc: str
    source: str
    changes: tuple[Change, ...]
    options: tuple[Option, ...] = ()
    matters: bool | None = None
    breaks: bool = False

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
    who: str
    text: str
    doc: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Story:
    """What is wrong, which claim that breaks, and the few steps that led there."""

    saw: str
    why: str
    steps: tuple[StoryStep, ...]


@dataclass(frozen=True)
class Observation:
    """What readers of the real sink saw just after a step."""

    after: int
    text: str
    breaks: bool


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
    ``folds`` are the first and the last of steps of routine that are shown as one line.
    """

    protocol: str
    parameters: dict[str, Any]
    property: str
    clause: str
    source: str
    sink: str
    lanes: tuple[str, ...]
    steps: tuple[StepView, ...]
    start: dict[str, Any]
    fails_at: int | None
    messages: tuple[SentMessage, ...] = ()
    strips: tuple[PropertyTimeline, ...] = ()
    looks: tuple[Observation, ...] = ()
    because: tuple[str, ...] = ()
    passing: PassingRun | None = None
    notes: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    ending: str = ""
    story: Story | None = None
    folds: tuple[Fold, ...] = ()
    live: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return plain data; what is too long is cut off, and that is noted."""
        data: dict[str, Any]
        data, notes = clipped(asdict(self))
        data["notes"] += notes
        return data
