"""Why a run of the model breaks a claim, in sentences that end in the contradiction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.language.declarations.modality import Modality
from onceproof.properties.counterexample.explanation.property_timeline import (
    FAILS,
    PropertyTimeline,
)
from onceproof.properties.counterexample.explanation.slicing import (
    MOST_NAMED,
    Slice,
    joined,
    plain,
    reason_in_words,
)
from onceproof.properties.guarantees import guarantees_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from onceproof.model.search.queries import SearchQuery
    from onceproof.properties.counterexample.model_run import ModelRun


@dataclass(frozen=True)
class Grounds:
    """What contradicts a claim in a state, and the steps that made it so.

    ``elements`` are labels, and ``sentence`` names their values; ``because``
    holds a sentence for each of ``steps``, in order of time, and ``reasons`` the labels
    of the elements that it changed to that end.
    """

    elements: tuple[str, ...]
    sentence: str
    steps: tuple[int, ...]
    because: tuple[str, ...]
    reasons: tuple[tuple[str, ...], ...]


def grounds_of(model: ModelRun, fails_at: int) -> Grounds | None:
    """Find what contradicts a claim after a step, if a state or a step can show it."""
    question = _question(model)
    if question is None or _of_runs(question):
        return None
    step = question.when is Modality.STEP
    if step and not fails_at:
        return None
    slice_ = Slice(model.system, model.interpreter, model.run)
    reads = slice_.contradiction(question.term, fails_at, step=step)
    rests = question.when.of_rest
    asked = reads | slice_.in_the_way(reads, fails_at) if rests else reads
    reasons = slice_.reasons(asked, fails_at, step=step)
    elements = sorted({(path, place) for path, place, _ in reads})
    state, names = model.run.states[fails_at], slice_.labels
    values = {names.element(*e): names.value(*e, state) for e in elements}
    return Grounds(
        tuple(values),
        _values(values),
        tuple(reason.step for reason in reasons),
        tuple(reason_in_words(slice_, reason, model.run) for reason in reasons),
        tuple(
            tuple(dict.fromkeys(names.element(*e) for e in reason.elements))
            for reason in reasons
        ),
    )


def _values(values: Mapping[str, object]) -> str:
    """Return which values some elements have, naming at most ``MOST_NAMED``."""
    pairs = [*values.items()][:MOST_NAMED]
    shown = [f"{label} is {plain(value)}" for label, value in pairs]
    more = len(values) - len(shown)
    if more:
        shown.append(f"{more} more are as they are")
    return joined(shown) if shown else ""


def because(
    model: ModelRun, fails_at: int, kept: Collection[int] | None
) -> tuple[str, ...]:
    """Return which steps led to what contradicts the claim, and what that is.

    Steps that do not matter, where ``kept`` holds those that do, are left out. The last
    sentence names the claim, and the weakest guarantee that the run breaks.
    """
    question = _question(model)
    if question is None or model.clause is None:
        return ()
    claim = model.clause.text
    if _of_runs(question):
        last = len(model.run.steps)
        rests = model.interpreter.resting(model.run.states[-1])
        ended = "nothing moves any more" if rests else "it can go on so for ever"
        return (
            f"after step {last} {ended}, and it has not happened",
            f"but it is claimed of every run that {claim}",
        )
    grounds = grounds_of(model, fails_at)
    if grounds is None:
        return ()
    pairs = zip(grounds.steps, grounds.because, strict=True)
    sentences = [text for step, text in pairs if kept is None or step in kept]
    if grounds.sentence:
        when = "at the start" if not fails_at else f"after step {fails_at}"
        at_rest = model.interpreter.resting(model.run.states[fails_at])
        still = question.when.of_rest and at_rest
        rest = " nothing moves any more, and" if still else ""
        sentences.append(f"so {when}{rest} {grounds.sentence}")
    sentences.append(f"but it is claimed that {claim}{_weakest(model, fails_at)}")
    return tuple(sentences)


def _of_runs(question: SearchQuery) -> bool:
    """Return whether no state and no step by itself contradicts a claim."""
    return question.when.of_runs or question.when is Modality.SOMETIMES


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
