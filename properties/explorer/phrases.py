"""What the terminal and plain text say of a view in a line, with nothing hostile in it.

``page.js`` says the same on a page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.export.javascript import cut
from onceproof.properties.counterexample.step_kinds import ACTION

if TYPE_CHECKING:
    from onceproof.properties.counterexample.messages import SentMessage
    from onceproof.properties.explorer.view import View
    from onceproof.properties.explorer.walk import Walk

CELLS = {"holds": "·", "fails": "✕", "met": "✓", "open": "-", "seen": "="}
DRIFT = "drift"


def safe(value: object) -> str:
    """Show a value as one line: what does not print is spelled out, long text cut."""
    return "".join(
        letter
        if letter.isprintable()
        else letter.encode("unicode_escape", "surrogatepass").decode("ascii")
        for letter in cut(value if isinstance(value, str) else str(value))
    )


def word(kind: str) -> str:
    """Name the kind of a step, where it is more than an action."""
    return "" if kind == ACTION else kind


def title(view: View) -> str:
    """Say what a view is of: what breaks which claim."""
    what = safe(view.sink or view.protocol)
    claim = safe(view.property)
    if view.property == DRIFT:
        return f"{what} does not do as its model does"
    if not view.property:
        return f"A walk through {what}"
    return f"{what} {'and' if view.fails_at is None else 'breaks'} {claim}"


def labels(view: View) -> str:
    """Say where the run comes from, and of which size the model is."""
    source = f"a run of {'the model' if view.source == 'model' else view.source}"
    of = f"as the model {view.protocol}" if view.sink else ""
    sizes = ", ".join(f"{name}={value}" for name, value in view.parameters.items())
    return "; ".join(safe(part) for part in (source, of, sizes) if part)


def position_text(walk: Walk) -> str:
    """Say where a reader stands, and what becomes of the property there."""
    text = _position_text(walk)
    if not walk.starts:
        return text
    return f"First state {walk.begun + 1} of {len(walk.starts)}, f: the next. {text}"


def _position_text(walk: Walk) -> str:
    view, claim = walk.view, safe(walk.trace.property)
    at = view.fails_at
    when = "at the start" if at == 0 else f"after step {at}"
    rests = walk.rests()
    if not claim:
        broken = [
            f"{safe(strip.property)} after step {strip.first}"
            for strip in view.strips
            if strip.first is not None
        ]
        said = f"It breaks {', '.join(broken)}." if broken else "Take any step."
        return f"A walk through the model. {said}{' It is at rest.' * rests}"
    if walk.left is None:
        if at is None:
            if view.steps:
                return f"On the trace. It does not break {claim} here: see the notes."
            return f"At the start of a walk; {claim} is looked at."
        if view.ending:
            said = f"{view.ending[0].upper()}{view.ending[1:]}"
            return f"On the trace. {said}: this breaks {claim}."
        return f"On the trace. It breaks {claim} {when}.{_between(view)}"
    off = f"Off the trace since step {walk.left + 1}: a run of the model."
    if at is not None:
        still = "still " if walk.trace.fails_at is not None else ""
        return f"{off} It {still}breaks {claim}, {when}."
    if rests:
        return f"{off} It is at rest, and does not break {claim}."
    return f"{off} So far it does not break {claim}; go on."


def _between(view: View) -> str:
    """Say that the model breaks a claim before readers of real Spark look."""
    own = next((s for s in view.strips if s.property == view.property), None)
    if not view.sink or own is None or own.first is None or view.fails_at is None:
        return ""
    if own.first >= view.fails_at:
        return ""
    return f" The model breaks it after step {own.first}, before readers look."


def sent(view: View, message: SentMessage) -> str:
    """Say what became of a message that a step sends."""
    what = f"sends {safe(message.channel)}: {safe(message.text)}"
    if message.taken is None:
        return f"⇢ {what}; on its way at the end, its fate unknown"
    who = safe(view.lanes[view.steps[message.taken - 1].lane])
    return f"→ {what}; {message.fate} in step {message.taken} ({who})"


def taken(view: View, message: SentMessage) -> str:
    """Say where a message comes from that a step takes, or loses."""
    verb = "loses" if message.fate == "lost" else "takes"
    who = safe(view.lanes[view.steps[message.sent - 1].lane])
    what = f"{safe(message.channel)}: {safe(message.text)}"
    return f"← {verb} {what}, sent in step {message.sent} ({who})"
