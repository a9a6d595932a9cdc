"""The story of a counterexample: what is wrong, and the three to five steps to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.properties.counterexample.explanation.slicing import joined, plain
from onceproof.properties.counterexample.routine import folds_of
from onceproof.properties.counterexample.step_kinds import ACTION, RESTART
from onceproof.properties.explorer.phrases import DRIFT, say, when
from onceproof.properties.explorer.view import Story, StoryStep
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.ledger import observe_states
from onceproof.properties.words.labels import Labels
from onceproof.properties.words.readers import (
    AT_REST,
    at_moment,
    readers_see,
    seen_at,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from onceproof.properties.counterexample.explanation.sentences import Grounds
    from onceproof.properties.counterexample.file import Counterexample
    from onceproof.properties.counterexample.model_run import ModelRun
    from onceproof.properties.counterexample.routine import Fold
    from onceproof.properties.explorer.view import StepView, View

FEWEST, MOST = 3, 5


def story_of(
    view: View,
    counterexample: Counterexample,
    model: ModelRun | None,
    grounds: Grounds | None,
) -> Story | None:
    """Return a view's story in few words; None where nothing is broken."""
    if view.fails_at is None or not view.property:
        return None
    elements = grounds.elements if grounds else ()
    reasons = grounds.reasons if grounds else ()
    chosen = [
        StoryStep(
            step.number,
            view.lanes[step.lane],
            step.text,
            step.doc,
            tuple(change for change in step.changes if change.name in elements),
        )
        for step in _chosen(view, elements, reasons)
    ]
    why = say("title-drift", what=view.sink or view.protocol)
    if view.property != DRIFT:
        why = say("story-why", claim=view.property, clause=view.clause)
    saw = _saw(view, counterexample, model, grounds)
    why = "" if why == saw else why
    begins = "" if model is None or not view.steps else _begins(model)
    return Story(f"{begins}{saw}", why, tuple(chosen))


def _begins(model: ModelRun) -> str:
    """Say which of several first states a run begins in; empty if there is one."""
    chosen = Labels(model.interpreter).chosen(model.run.start)
    if not chosen:
        return ""
    parts = [f"{name} is {plain(value)}" for name, value in chosen.items()]
    more = len(parts) - MOST
    named = parts if more <= 0 else [*parts[:MOST], f"{more} more are chosen"]
    sentence = say("story-begins", chosen=joined(named))
    return f"{sentence} "


def _saw(
    view: View,
    counterexample: Counterexample,
    model: ModelRun | None,
    grounds: Grounds | None,
) -> str:
    """Describe what is wrong: what readers saw, or would see, or the model's state."""
    fails_at, seen = view.fails_at or 0, counterexample.observed
    if seen is not None and counterexample.fails_at < len(seen.moments):
        moment = counterexample.fails_at
        at = when(fails_at)
        if seen.moments[moment] == AT_REST:
            at = at_moment(AT_REST, rested=seen.rested)
        return say("story-saw-spark", when=_capital(at), seen=readers_see(seen, moment))
    if view.ending:
        return say("story-ending", ending=_capital(view.ending))
    at = _capital(when(fails_at))
    if model is not None and model.claim in guarantees_of(model.protocol):
        state = model.run.states[fails_at]
        history = observe_states(model.interpreter, {"": state})
        rests = model.interpreter.resting(state)
        seen_ = seen_at(history, 0, missing=rests)
        return say("story-saw-model", when=at, seen=seen_)
    if grounds is not None and grounds.sentence:
        return say("story-state", when=at, state=grounds.sentence)
    return say("story-why", claim=view.property, clause=view.clause)


def _chosen(
    view: View, elements: Collection[str], reasons: Sequence[Sequence[str]]
) -> list[StepView]:
    """Choose the steps of a story: faults, the break, what made the state so.

    ``elements`` contradict the claim, and each of ``reasons`` holds those that a step
    changed to that end. Where the last step was taken before, the first that is taken
    again after the last fault is added: it shows what began again. As long as there are
    fewer steps than ``FEWEST``, all steps are added that changed the elements of one
    more reason, the one nearest to the break.
    """
    last = view.fails_at or 0
    known = [s for s in view.steps[:last] if s.matters is not False]
    faults = [s for s in known if s.kind not in (ACTION, RESTART)]
    end = [s for s in known if s.number == last]
    direct = [s for s in known if any(c.name in elements for c in s.changes)]
    first = [*faults[-MOST:], *([] if view.looks else end), *direct[::-1]]
    found = {step.number: step for step in first[:MOST]}
    for step in _begun_again(known, found.values())[: MOST - len(found)]:
        found[step.number] = step
    again = [_changing(known, name) for names in reasons[::-1] for name in names]
    for group in (*again, *([step] for step in known[::-1])):
        if len(found) >= FEWEST:
            break
        for step in group[::-1][: MOST - len(found)]:
            found[step.number] = step
    return [found[number] for number in sorted(found)]


def _begun_again(
    known: Sequence[StepView], chosen: Collection[StepView]
) -> list[StepView]:
    """Return the first step after the last fault that repeats one from before it.

    There is none unless the last of the chosen steps repeats another of them.
    """
    texts = [step.text for step in sorted(chosen, key=lambda step: step.number)]
    faults = [s.number for s in known if s.kind not in (ACTION, RESTART)]
    if not faults or not texts or texts[-1] not in texts[:-1]:
        return []
    before = {s.text for s in known if s.kind == ACTION and s.number < faults[-1]}
    after = [s for s in known if s.kind == ACTION and s.number > faults[-1]]
    return [step for step in after if step.text in before][:1]


def _changing(steps: Sequence[StepView], name: str) -> list[StepView]:
    """List the steps that changed an element."""
    return [step for step in steps if any(c.name == name for c in step.changes)]


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def folds(view: View, kept: Collection[int]) -> tuple[Fold, ...]:
    """Fold the steps of a view that neither its story nor a message that is lost needs.

    ``kept`` are steps that the file alone shows to be no routine.
    """
    shown = {step.step for step in view.story.steps} if view.story else set()
    unusual = {s.number for s in view.steps if s.kind != ACTION or s.breaks}
    lost = {m.sent for m in view.messages if m.delivery != "received"}
    return folds_of(len(view.steps), {*kept, *shown, *unusual, *lost})
