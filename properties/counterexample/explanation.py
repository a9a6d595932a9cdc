"""Why a run of the model breaks a claim, in sentences that end in the contradiction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.language.modality import Modality
from onceproof.properties.counterexample.property_timeline import (
    FAILS,
    PropertyTimeline,
)
from onceproof.properties.counterexample.slicing import (
    MOST_NAMED,
    Slice,
    joined,
    name_of,
    plain,
    reason_in_words,
)
from onceproof.properties.guarantees import guarantees_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from onceproof.model.search.queries import SearchQuery
    from onceproof.properties.counterexample.model_run import ModelRun


def because(
    model: ModelRun, fails_at: int, kept: Collection[int] | None
) -> tuple[str, ...]:
    """Tell which steps led to what contradicts the claim, and what that is.

    Steps that do not matter, where ``kept`` holds those that do, are left out. The last
    sentence names the claim, and the weakest guarantee that the run breaks.
    """
    question = _question(model)
    if question is None or model.clause is None:
        return ()
    claim = model.clause.text
    if question.when.of_runs or question.when is Modality.SOMETIMES:
        last = len(model.run.steps)
        rests = model.interpreter.resting(model.run.states[-1])
        ended = "nothing moves any more" if rests else "it can go on so for ever"
        return (
            f"after step {last} {ended}, and it has not come about",
            f"but it is claimed of every run that {claim}",
        )
    step = question.when is Modality.STEP
    if step and not fails_at:
        return ()
    slice_ = Slice(model.system, model.interpreter, model.run)
    reads = slice_.contradiction(question.term, fails_at, step=step)
    rests = question.when.of_rest
    still = rests and model.interpreter.resting(model.run.states[fails_at])
    asked = reads | slice_.in_the_way(reads, fails_at) if rests else reads
    sentences = [
        reason_in_words(slice_, reason, model.run)
        for reason in slice_.reasons(asked, fails_at, step=step)
        if kept is None or reason.step in kept
    ]
    elements = sorted({(path, place) for path, place, _ in reads})
    state = slice_.states[fails_at]
    shown = [f"{name_of(e)} is {plain(state[e])}" for e in elements[:MOST_NAMED]]
    more = len(elements) - len(shown)
    if more:
        shown.append(f"{more} more are as they are")
    if shown:
        when = "at the start" if not fails_at else f"after step {fails_at}"
        rest = " nothing moves any more, and" if still else ""
        sentences.append(f"so {when}{rest} {joined(shown)}")
    sentences.append(f"but it is claimed that {claim}{_weakest(model, fails_at)}")
    return tuple(sentences)


def _question(model: ModelRun) -> SearchQuery | None:
    """Trace the clause that the run breaks."""
    prop, clause = model.claim, model.clause
    if prop is None or clause is None:
        return None
    return prop.questions(model.system)[prop.clauses.index(clause)]


def _weakest(model: ModelRun, fails_at: int) -> str:
    """Name the weakest guarantee that a run breaks, where it breaks one."""
    states = model.run.states[: fails_at + 1]
    for prop in guarantees_of(model.protocol):
        if FAILS in PropertyTimeline.of(prop, model.interpreter, states).cells:
            return f": the weakest guarantee broken is {prop.name}"
    return ""
