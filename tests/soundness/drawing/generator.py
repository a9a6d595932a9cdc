"""Draws protocols: readable files that use every construct of the language.

A protocol is drawn from a seed and a profile. The profile says what it is for: `rich`
takes from everything, `open` stays where z3 can prove for every size, `runs` comes to
rest whatever happens, so that its runs can be listed, `wide` has states of many words
and more claims than a word has bits, and `trap` holds what the language may refuse.
"""

from __future__ import annotations

import random

from tests.soundness.drawing import records
from tests.soundness.drawing.declarations import fields_of, parts_of, sorts_of
from tests.soundness.drawing.description import Description, Klass, Method
from tests.soundness.drawing.helpers import with_helpers
from tests.soundness.drawing.inheritance import inherited
from tests.soundness.drawing.methods import (
    MODALITIES,
    Writer,
    many,
    observed,
    restart,
    talking,
)

PROFILES = ("rich", "open", "runs", "talks", "trap", "talks", "open", "wide")


def draw(
    seed: str, profile: str, claims: int = 3, *, inherits: bool = True
) -> Description:
    """Draw a protocol from a seed, perhaps derived from another that is drawn."""
    dice = random.Random(f"{profile}:{seed}")
    w = Writer(dice, profile)
    declarations = sorts_of(w)
    declarations += fields_of(w)
    if profile != "wide" and w.chance(0.3):
        declarations += records.declared(w)
    classes = parts_of(w, declarations)
    methods: list[Method] = []
    progress = ""
    if profile in ("runs", "wide") or (profile == "talks" and w.chance(0.5)):
        progress = "turn"
        declarations.append("turn = state(0, high=3)")
    methods += [
        w.action(number, progress=progress, fault=False)
        for number in range(dice.randint(2, 4))
    ]
    methods += [
        w.action(number, progress="", fault=True)
        for number in range(dice.randint(0 if profile != "runs" else 1, 2))
    ]
    if profile == "talks":
        methods += [talking(w, number) for number in range(2)]
    if w.process:
        methods.append(restart(w))
    methods += observed(w)
    for when in MODALITIES:
        number = claims if when != "lemma" else 1
        methods += [w.claim(when, i) for i in range(number)]
    if profile == "wide":
        methods += many(w)
    if w.chance(0.25):
        acts = [m.name for m in methods if m.mark.startswith("@action")]
        declarations.append(f'fair_actions = ("{w.pick(("*", *acts))}",)')
    klass = Klass("Drawn", "Protocol", tuple(declarations), tuple(methods))
    klass = with_helpers(klass, dice, sized=profile != "open")
    if inherits and w.chance(0.3):
        return Description(f"{profile}:{seed}", (*classes, *inherited(klass, w)))
    return Description(f"{profile}:{seed}", (*classes, klass))
