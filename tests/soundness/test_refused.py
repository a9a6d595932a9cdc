"""A slip in a random protocol is refused at its line, and never judged.

Wrong verdicts have come from programs that should have been refused: a construct that
Python decides as a model is traced, or that leaves its state. `SOUNDNESS_SEED` draws
other protocols.
"""

from __future__ import annotations

import ast
import os
import random
from typing import TYPE_CHECKING

import pytest

from onceproof.model.errors import OnceproofError
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import load
from onceproof.properties.judges.by_search import claims_of
from tests.soundness.drawing.description import HELPERS
from tests.soundness.drawing.generator import draw
from tests.soundness.drawing.slips import FIELDS, SLIPS, Slip

if TYPE_CHECKING:
    from pathlib import Path

SEED = int(os.environ.get("SOUNDNESS_SEED", "0"))
DRAWS = int(os.environ.get("SOUNDNESS_REFUSED", "1"))
PROFILES = ("rich", "talks", "runs", "open")
EVERY = "from onceproof.model.language import *\n"


def slipped(slip: Slip, number: int, path: Path) -> str:
    """Write a random protocol with a slip in one of its methods, or in its class."""
    dice = random.Random(f"{SEED}:{slip.name}:{number}")
    names: list[str] = []
    while not names:
        text = _fine(slip, f"{SEED}.{number}.{slip.name}.{dice.random()}", dice)
        path.write_text(text, encoding="utf-8")
        names = _places(text, slip, path)
    lines = text.splitlines()
    _, end = _span(text, dice.choice(names))
    if slip.place == "claim":
        lines[end - 1 : end] = [f"        {line}" for line in slip.lines]
    elif slip.place == "class":
        lines[end:end] = ["", *(f"    {line}" for line in slip.lines)]
    else:
        lines[end:end] = [f"        {line}" for line in slip.lines]
    text = "\n".join(lines) + "\n"
    path.write_text(text, encoding="utf-8")
    return text


def _fine(slip: Slip, origin: str, dice: random.Random) -> str:
    """Write a random protocol with fields for slips, and without any."""
    text = draw(origin, dice.choice(PROFILES), 1, inherits=False).render()
    text = text.replace("from enum import Enum\n", f"from enum import Enum\n{EVERY}")
    if "class Colour(" not in text:
        head, _, tail = text.rpartition("\n\n\nclass Drawn(")
        text = f"{head}\n\n\n{HELPERS['Colour']}\n\nclass Drawn({tail}"
    lines = text.splitlines()
    at = lines.index("class Drawn(Protocol):")
    first = next(i for i, line in enumerate(lines) if i > at and "S = " in line)
    lines[first + 1 : first + 1] = [f"    {field}" for field in FIELDS]
    lines[at:at] = [*slip.before, "", ""]
    return "\n".join(lines) + "\n"


def _places(text: str, slip: Slip, path: Path) -> list[str]:
    """List the methods that the slip can be in: actions only if they can happen."""
    if slip.place == "class":
        return [""]
    names = [n.name for n in _drawn(text).body if isinstance(n, ast.FunctionDef)]
    if slip.place == "claim":
        claims = ("always", "lemma", "sometimes")
        return [n for n in names if n.rstrip("0123456789") in claims]
    samples = trace(load(path).Drawn()).samples
    return [n for n in names if n in samples.happened]


def test_behind_a_guard_that_never_holds_only_bounds_are_not_looked_at(tmp_path):
    """Its body is traced like any other: what is left out depends on values alone."""
    loop = [s for s in SLIPS if s.place == "action"]
    fields = "".join(f"    {field}\n" for field in FIELDS)
    taken = []
    for number, slip in enumerate(loop):
        lines = "".join(f"        {line}\n" for line in slip.lines)
        path = tmp_path / f"never{number}.py"
        path.write_text(
            f"from enum import Enum\n{EVERY}\n{HELPERS['Colour']}\n"
            + "\n".join(slip.before)
            + f"\nclass Drawn(Protocol):\n    S = Sort('thing')\n{fields}"
            + "    @action\n    def act(self):\n        when(self.count_ > 5)\n"
            + lines,
            encoding="utf-8",
        )
        try:
            trace(load(path).Drawn())
        except OnceproofError:
            continue
        taken.append(slip.name)

    assert len(loop) - len(taken) > 80
    # One asks for the store, and the other catches what bounds would have refused.
    more = {"if: the name of the store", "order: a refusal in a bare except"}
    assert {n for n in taken if not n.startswith(("value: ", "index: "))} <= more


def _drawn(text: str) -> ast.ClassDef:
    return next(
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef) and node.name == "Drawn"
    )


def _span(text: str, name: str) -> tuple[int, int]:
    """Return the first and the last line of a method, or of the class."""
    klass = _drawn(text)
    if not name:
        return klass.lineno, klass.end_lineno or 0
    method = next(
        node
        for node in klass.body
        if isinstance(node, ast.FunctionDef) and node.name == name
    )
    first = min([method.lineno, *(mark.lineno for mark in method.decorator_list)])
    return first, method.end_lineno or 0


def judged(path) -> None:
    """Do all that is done before a search: load, trace, and trace the claims."""
    protocol = load(path).Drawn()
    system = trace(protocol)
    for prop in claims_of(protocol):
        prop.questions(system)
    _ = system.named


@pytest.mark.parametrize("number", range(DRAWS))
@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.name)
def test_a_slip_is_refused_at_its_line(slip, number, tmp_path):
    """Whatever the protocol is that it is made in."""
    path = tmp_path / "slipped.py"
    text = slipped(slip, number, path)

    with pytest.raises(OnceproofError) as error:
        judged(path)

    where = getattr(error.value, "where", "")
    assert where.startswith(f"{path}:"), f"no line of the model: {error.value}"
    line = int(where.rpartition(":")[2])
    own = _lines_of(text, slip)
    assert line in own, f"line {line}, not one of {own}: {error.value}"


def _lines_of(text: str, slip: Slip) -> list[int]:
    """Return the lines of the method that has the slip, or of the slip in a class."""
    lines = text.splitlines()
    wanted = slip.lines[0].strip()
    at = max(i for i, line in enumerate(lines, 1) if line.strip() == wanted)
    if slip.place == "class":
        return [_span(text, "")[0], *range(at, at + len(slip.lines))]
    names = [n.name for n in _drawn(text).body if isinstance(n, ast.FunctionDef)]
    spans = (_span(text, name) for name in names)
    return next(
        list(range(first, last + 1)) for first, last in spans if first <= at <= last
    )


def test_the_protocols_are_accepted_without_their_slip(tmp_path):
    """So that it is the slip that is refused."""
    for number in range(8):
        path = tmp_path / f"fine{number}.py"
        slip = Slip(f"none {number}", ("self.flag_ = not_(self.flag_)",))
        slipped(slip, number, path)

        judged(path)
