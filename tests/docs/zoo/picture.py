"""The run of an entry of the zoo as a picture: lanes, messages, and what breaks."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from onceproof.model.language.tracing.trace import trace
from onceproof.properties.counterexample.lanes import lanes_of
from onceproof.properties.counterexample.model_run import counterexample_of
from onceproof.properties.counterexample.step_kinds import CRASH, StepKinds
from onceproof.properties.explorer.phrases import say, when
from onceproof.properties.explorer.view import MODEL, StepView
from onceproof.properties.guarantees import AT_LEAST_ONCE, AT_MOST_ONCE
from onceproof.properties.judges.by_search import Finding
from onceproof.properties.ledger import observe_states
from onceproof.properties.verdicts import Verdict
from onceproof.properties.words.labels import Labels
from onceproof.properties.words.messages import messages_of
from onceproof.properties.words.readers import seen_at
from tests.docs.drawn.canvas import Canvas
from tests.docs.drawn.lanes import EDGE, DrawnLanes

if TYPE_CHECKING:
    from tests.model.zoo.entry import EntryRun, ZooEntry

TOP, GAP = 112, 92
CODE, DOC, WORDS, MARGIN = 7.9, 5.9, 6.6, 130
LINE, LEAST = 18, 640


def zoo_picture(entry: ZooEntry) -> str:
    """Draw a shortest run of an entry, step by step."""
    followed = entry.followed(entry.run)
    kinds = StepKinds.of(trace(followed.protocol))
    names, steps = _steps(followed, kinds)
    crashes = {name for name, kind in kinds.by_name.items() if kind == CRASH}
    messages = tuple(messages_of(followed.reference, followed.trace, crashes))
    lanes = DrawnLanes(names, steps, TOP, _width(names, steps), GAP, messages)
    text = _breaks(followed)
    lines = textwrap.wrap(text, int((lanes.width - 2 * EDGE) / WORDS))
    title = f"{entry.name}: the steps of a shortest run"
    height = lanes.bottom + 34 + LINE * len(lines)
    picture = Canvas(lanes.width, height, title, text)
    picture.words((EDGE, 32), entry.name, "large strong")
    subtitle = f"breaks {entry.shows} in {len(steps)} steps"
    picture.words((EDGE, 52), subtitle, "small quiet")
    lanes.draw(picture)
    for number, line in enumerate(lines):
        picture.words((EDGE, lanes.bottom + 30 + LINE * number), line)
    return picture.text()


def _steps(
    followed: EntryRun, kinds: StepKinds
) -> tuple[tuple[str, ...], tuple[StepView, ...]]:
    """Lay the steps out in lanes."""
    run, reference = followed.trace, followed.reference
    finding = Finding(followed.claim, Verdict.REFUTED, run, followed.clause)
    lanes = lanes_of(counterexample_of(followed.protocol, finding))
    labels = Labels(reference)
    steps = tuple(
        StepView(
            number=row.number,
            lane=row.lane,
            text=labels.event(event, state),
            event=event.name,
            members=event.members,
            kind=kind,
            doc=reference.steps[event.name].doc.split("\n")[0],
            source=MODEL,
            changes=(),
            breaks=row.number == len(run.events),
        )
        for row, event, state, kind in zip(
            lanes.rows, run.events, run.states[:-1], kinds.along(run), strict=True
        )
    )
    return lanes.names, steps


def _width(names: tuple[str, ...], steps: tuple[StepView, ...]) -> float:
    """Return a width that holds the longest text beside the lanes."""
    texts = max(max(CODE * len(s.text), DOC * len(s.doc)) for s in steps)
    return max(LEAST, math.ceil(GAP * len(names) + texts + MARGIN))


def _breaks(followed: EntryRun) -> str:
    """Say which claim the last step breaks, and what readers see if they see it."""
    claim, states = followed.claim, followed.trace.states
    clause = claim.clauses[followed.clause]
    why = say("story-why", claim=claim.name, clause=clause.text)
    if claim not in (AT_MOST_ONCE, AT_LEAST_ONCE):
        return why
    history = observe_states(followed.reference, {"": states[-1]})
    rests = followed.reference.resting(states[-1])
    at = when(len(followed.trace.events))
    seen = seen_at(history, 0, missing=rests)
    saw = say("story-saw-model", when=f"{at[:1].upper()}{at[1:]}", seen=seen)
    return f"{saw} {why}"
