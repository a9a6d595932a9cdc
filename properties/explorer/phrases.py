"""What is said of a view: one table of phrases for terminal, plain text and page.

The page is given the table as data, and fills in the same names; ``page.js`` and its
neighbours hold no sentences of their own that the terminal says too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.text import safe
from onceproof.properties.counterexample.routine import FOLDED
from onceproof.properties.counterexample.step_kinds import ACTION

if TYPE_CHECKING:
    from onceproof.properties.explorer.view import StepView, View
    from onceproof.properties.words.messages import SentMessage

CELLS = {"holds": "·", "fails": "✕", "met": "✓", "open": "-", "seen": "="}
NOT_JUDGED = "?"
DRIFT = "drift"
PHRASES = {
    # What a view is of.
    "title-drift": "{what} deviates from its model",
    "title-walk": "A walk through {what}",
    "title-breaks": "{what} breaks {claim}",
    "title-looked-at": "{what} and {claim}",
    "source-model": "a run of the model",
    "source-spark": "a run of real Spark",
    "as-the-model": "in the steps of the model {protocol}",
    "claimed": "It is claimed that {clause}.",
    # The story.
    "story-model": "What goes wrong",
    "story-spark": "What readers saw",
    "story-steps": "How it happened",
    "story-begins": "There are several first states; this run begins where {chosen}.",
    "story-saw-model": "{when}, readers would see {seen}.",
    "story-saw-spark": "{when}, {seen}.",
    "story-state": "{when}, {state}.",
    "story-ending": "{ending}, and what is claimed never happens.",
    "story-why": "This breaks {claim}: the claim that {clause}.",
    # Where a reader stands.
    "at-the-start": "at the start",
    "after-step": "after step {step}",
    "walk": "A walk through the model. {broken}",
    "walk-any-step": "Take any step.",
    "walk-broken": "It breaks {claims}.",
    "walk-broken-one": "{claim} after step {step}",
    "rests": "It is at rest: no action changes anything.",
    "on-unbroken": "On the trace. It does not break {claim} here: see the notes.",
    "on-start": "At the start of a walk, to see whether it breaks {claim}.",
    "on-ending": "On the trace. {ending}: this breaks {claim}.",
    "on-broken": "On the trace. It breaks {claim} {when}.",
    "model-earlier": " The model breaks it after step {step}, before readers look.",
    "off": "Off the trace since step {step}: a run of the model.",
    "off-broken": " It breaks {claim}, {when}.",
    "off-still-broken": " It still breaks {claim}, {when}.",
    "off-rests": " It is at rest, and does not break {claim}.",
    "off-so-far": " So far it does not break {claim}; go on.",
    # What would become of the claim by another step.
    "breaks-at-once": "breaks at once",
    "breaks-later": "continued, it breaks after step {step}",
    "passes": "continued to rest, it does not break",
    "passes-so-far": "continued for {most} steps, it does not break",
    "no-other-step": "No other step can be taken here",
    "instead-of": "Instead of {step}",
    "nothing-else": "Instead of {step}: nothing else",
    "nothing-more": "Nothing can happen any more",
    "what-next": "What can happen next",
    # Messages.
    "sends": "sends {channel}: {text}; {delivery} in step {step} ({who})",
    "sends-unknown": "sends {channel}: {text}; on its way at the end, delivery unknown",
    "takes": "takes {channel}: {text}, sent in step {step} ({who})",
    "loses": "loses {channel}: {text}, sent in step {step} ({who})",
    # Labels of a step.
    "breaks-here": "breaks here",
    "matters": "matters",
    "can-be-left-out": "can be left out",
    "own-step": "off the trace",
    "readers-see": "readers see {text}",
    "state-at-the-start": "State at the start",
    "state-differences": "State differences",
    "no-change": "nothing changes",
    "folded": FOLDED,
    # Properties along the steps, and the nearest run that passes.
    "not-judged": NOT_JUDGED,
    "cell-open": "nothing to say yet",
    "cell-seen": "seen by readers",
    "first-time": "for the first time",
    "passing-shared": "Steps 1 to {shared} are the same; then this run takes "
    "other steps, reaches rest, and does not break {claim}.",
    "passing-from-start": "This run takes other steps from the start, reaches rest, "
    "and does not break {claim}.",
    "passing-rest": "(rest)",
}


def say(key: str, **values: object) -> str:
    """Fill in a phrase of the table."""
    return PHRASES[key].format(**values)


def word(kind: str) -> str:
    """Name the kind of a step, where it is more than an action."""
    return "" if kind == ACTION else kind


def title(view: View) -> str:
    """Return what a view is of: what breaks which claim."""
    what, claim = safe(view.sink or view.protocol), safe(view.property)
    if view.property == DRIFT:
        return say("title-drift", what=what)
    if not view.property:
        return say("title-walk", what=what)
    key = "title-looked-at" if view.fails_at is None else "title-breaks"
    return say(key, what=what, claim=claim)


def labels(view: View) -> str:
    """Return where the run comes from, and of which size the model is."""
    source = say("source-model" if view.source == "model" else "source-spark")
    of = say("as-the-model", protocol=view.protocol) if view.sink else ""
    sizes = ", ".join(f"{name}={value}" for name, value in view.parameters.items())
    return "; ".join(safe(part) for part in (source, of, sizes) if part)


def when(step: int) -> str:
    """Say after which step something is."""
    return say("after-step", step=step) if step else say("at-the-start")


def sent(view: View, message: SentMessage) -> str:
    """Return what became of a message that a step sends."""
    channel, text = safe(message.channel), safe(message.text)
    if message.taken is None:
        return f"⇢ {say('sends-unknown', channel=channel, text=text)}"
    who = safe(view.lanes[view.steps[message.taken - 1].lane])
    delivery, step = message.delivery, message.taken
    sentence = say(
        "sends", channel=channel, text=text, delivery=delivery, step=step, who=who
    )
    return f"→ {sentence}"


def taken(view: View, message: SentMessage) -> str:
    """Return where a message comes from that a step takes, or loses."""
    channel, text = safe(message.channel), safe(message.text)
    who = safe(view.lanes[view.steps[message.sent - 1].lane])
    key = "loses" if message.delivery == "lost" else "takes"
    return f"← {say(key, channel=channel, text=text, step=message.sent, who=who)}"


def folded(steps: tuple[StepView, ...]) -> str:
    """Return which routine steps are folded into one line."""
    first, last = steps[0], steps[-1]
    values = {"from": safe(first.text), "to": safe(last.text)}
    count = len(steps)
    return say("folded", count=count, first=first.number, last=last.number, **values)
