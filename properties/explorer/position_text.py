"""Where a reader is in a run, and what becomes of the property there.

``page.js`` says the same by the same phrases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onceproof.model.text import safe
from onceproof.properties.explorer.phrases import say, when

if TYPE_CHECKING:
    from onceproof.properties.explorer.view import View
    from onceproof.properties.explorer.walk import Walk


def position_text(walk: Walk) -> str:
    """Return where a reader is, and what becomes of the property there."""
    text = _position_text(walk)
    if not walk.starts:
        return text
    return f"First state {walk.begun + 1} of {len(walk.starts)}, f: the next. {text}"


def _position_text(walk: Walk) -> str:
    view, claim = walk.view, safe(walk.trace.property)
    if not claim:
        return _walk_text(walk)
    if walk.left is None:
        return _on_the_trace(view, claim)
    off, at = say("off", step=walk.left + 1), view.fails_at
    if at is not None:
        still = walk.trace.fails_at is not None
        key = "off-still-broken" if still else "off-broken"
        return off + say(key, claim=claim, when=when(at))
    key = "off-rests" if walk.rests() else "off-so-far"
    return off + say(key, claim=claim)


def _walk_text(walk: Walk) -> str:
    broken = [
        say("walk-broken-one", claim=safe(strip.property), step=strip.first)
        for strip in walk.view.strips
        if strip.first is not None
    ]
    text = say("walk-any-step")
    if broken:
        text = say("walk-broken", claims=", ".join(broken))
    rests = f" {say('rests')}" if walk.rests() else ""
    return say("walk", broken=text) + rests


def _on_the_trace(view: View, claim: str) -> str:
    if view.fails_at is None:
        return say("on-unbroken" if view.steps else "on-start", claim=claim)
    if view.ending:
        ending = f"{view.ending[0].upper()}{view.ending[1:]}"
        return say("on-ending", ending=ending, claim=claim)
    return say("on-broken", claim=claim, when=when(view.fails_at)) + _between(view)


def _between(view: View) -> str:
    """Say that the model breaks a claim before readers of real Spark look."""
    own = next((s for s in view.strips if s.property == view.property), None)
    if not view.sink or own is None or own.first is None or view.fails_at is None:
        return ""
    early = own.first < view.fails_at
    return say("model-earlier", step=own.first) if early else ""
