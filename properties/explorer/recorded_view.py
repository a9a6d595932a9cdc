"""What the file of a counterexample shows by itself, without its model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onceproof.properties.counterexample.lanes import LOOK, lanes_of
from onceproof.properties.counterexample.routine import telling_steps
from onceproof.properties.counterexample.step_kinds import by_word
from onceproof.properties.explorer.phrases import DRIFT
from onceproof.properties.explorer.story import folds, story_of
from onceproof.properties.explorer.truncation import MOST_STEPS
from onceproof.properties.explorer.view import (
    MODEL,
    SPARK,
    Change,
    Observation,
    StepView,
    View,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.properties.counterexample.explanation.sentences import Grounds
    from onceproof.properties.counterexample.file import Counterexample
    from onceproof.properties.counterexample.model_run import ModelRun

NOT_SHOWN = -1
"""``fails_at`` where a run first fails after the last step that is shown."""


def without_model(counterexample: Counterexample, notes: list[str]) -> View:
    """Return the view of a file whose model cannot be made again."""
    lanes = lanes_of(counterexample)
    rows = {row.number: row for row in lanes.rows if row.kind != LOOK}
    known = dict(counterexample.shown_start or counterexample.start)
    steps = []
    for number, step in enumerate(counterexample.steps, 1):
        changes = tuple(
            Change(name, known.get(name), value)
            for name, value in (step.shown or step.changes).items()
        )
        known |= step.shown or step.changes
        steps.append(
            StepView(
                number=number,
                lane=rows[number].lane,
                text=str(step),
                event=step.event,
                members=step.members,
                kind=by_word(step),
                doc="",
                source=SPARK if counterexample.sink else MODEL,
                changes=changes,
                breaks=number == failing_step(counterexample),
            )
        )
    notes.append("which steps matter is not known, nor what was on its way")
    view = assembled(counterexample, lanes.names, steps, notes=tuple(notes))
    return with_story(view, counterexample, None, None)


def with_story(
    view: View,
    counterexample: Counterexample,
    model: ModelRun | None,
    grounds: Grounds | None,
) -> View:
    """Add the story to a view, and fold what it does not need."""
    view = replace(view, story=story_of(view, counterexample, model, grounds))
    return replace(view, folds=folds(view, telling_steps(counterexample)))


def assembled(
    counterexample: Counterexample,
    lanes: Sequence[str],
    steps: Sequence[StepView],
    **more: Any,
) -> View:
    """Make a view of a counterexample, its lanes and its steps, and what else is known.

    What is not among ``more`` is as the file has it.
    """
    filled: dict[str, Any] = {
        "start": counterexample.shown_start or counterexample.start,
        "because": counterexample.because,
        "fails_at": failing_step(counterexample),
        **more,
    }
    return View(
        protocol=counterexample.protocol,
        parameters=counterexample.parameters,
        property=counterexample.property,
        clause=counterexample.clause,
        source=SPARK if counterexample.sink else MODEL,
        sink=counterexample.sink,
        lanes=tuple(lanes),
        steps=tuple(steps),
        looks=_looks(counterexample),
        versions=counterexample.versions,
        ending=_ending(counterexample),
        **filled,
    )


def first_steps(counterexample: Counterexample) -> tuple[Counterexample, int | None]:
    """Keep the first steps; give the one after which it breaks, if it is not kept."""
    kept = counterexample.steps[:MOST_STEPS]
    at = failing_step(counterexample)
    if at is not None and at <= MOST_STEPS:
        return replace(counterexample, steps=kept, loop=None), None
    return replace(
        counterexample, steps=kept, loop=None, fails_at=NOT_SHOWN, because=()
    ), at


def failing_step(counterexample: Counterexample) -> int | None:
    """Return the step after which a file says that its claim fails."""
    if not counterexample.property or counterexample.undecided():
        return None
    if counterexample.fails_at == NOT_SHOWN:
        return None
    if counterexample.observed is None:
        return counterexample.fails_at
    known = counterexample.fails_at < len(counterexample.looks)
    return (
        counterexample.looks[counterexample.fails_at]
        if known
        else len(counterexample.steps)
    )


def _ending(counterexample: Counterexample) -> str:
    """Return how a run goes on that breaks a claim about whole runs."""
    last = len(counterexample.steps)
    if counterexample.loop is None:
        return ""
    if counterexample.loop == last:
        return "the run may stay here for ever"
    if counterexample.loop == last - 1:
        return f"step {last} is repeated for ever"
    return f"steps {counterexample.loop + 1} to {last} are repeated for ever"


def _looks(counterexample: Counterexample) -> tuple[Observation, ...]:
    """Describe what readers saw; for drift also what the model would show."""
    seen = [row for row in lanes_of(counterexample).rows if row.kind == LOOK]
    wanted = [
        row
        for row in lanes_of(
            replace(counterexample, observed=counterexample.expected)
        ).rows
        if row.kind == LOOK
    ]
    texts = [row.text for row in seen]
    for number, (row, by_model) in enumerate(zip(seen, wanted, strict=False)):
        if row.text != by_model.text and counterexample.property == DRIFT:
            texts[number] += f"; by the model {by_model.text}"
    return tuple(
        Observation(row.number, text, row.breaks)
        for row, text in zip(seen, texts, strict=True)
    )
