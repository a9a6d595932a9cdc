"""Protocols to compare: drawn from a seed, or kept as files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import OnceproofError
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import load
from onceproof.properties.judges.by_search import claims_of
from tests.soundness.drawing.constructs import used
from tests.soundness.drawing.generator import MODALITIES, PROFILES, draw
from tests.soundness.independent.brute import Brute, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onceproof.model.language.composition.protocol import Protocol
    from tests.soundness.drawing.description import Description, Klass, Method

MOST_STATES = 250
FEWEST_STATES = 5
CHOICES = 8
KEEP = {"exhausted": 2, "refuted": 1, "vacuous": 1}
CANDIDATES = 5
TWICE = "is given two values in one action, and nothing reads the first"


class RefusedError(Exception):
    """The language refuses the protocol."""


@dataclass
class Case:
    """A protocol as a file, with what the brute force knows of it."""

    name: str
    path: Path
    kind: type[Protocol]
    description: Description | None = None
    _brute: Brute | None = None

    @property
    def trap(self) -> bool:
        """Whether the language may refuse it, or read it only in part."""
        return self.name.startswith("trap")

    @property
    def brute(self) -> Brute:
        """Give all that the brute force knows."""
        if self._brute is None:
            self._brute = Brute(self.kind(), 20 * MOST_STATES)
        return self._brute


def opened(path: Path, name: str = "", description: Description | None = None) -> Case:
    """Load a file, and check that the language takes it."""
    try:
        kind: Any = load(path).Drawn
        protocol = kind()
        system = trace(protocol)
        for prop in claims_of(protocol):
            prop.questions(system)
    except OnceproofError as error:
        raise RefusedError(str(error)) from error
    return Case(name or path.stem, path, kind, description)


def written(description: Description, folder: Path, name: str) -> Case:
    """Write a description as a file, and load it."""
    path = folder / f"{name}.py"
    path.write_text(description.render(), encoding="utf-8")
    return opened(path, description.origin, description)


def profile_of(number: int) -> str:
    """Give the profile that a number stands for."""
    return PROFILES[number % len(PROFILES)]


def draws(
    seed: int, count: int, folder: Path, refused: list[str] | None = None
) -> Iterator[Case]:
    """Draw so many protocols from a seed, each with what those before it lack.

    Of some descriptions that are drawn, the one with most constructs that were not
    met before is taken, unless it has too few states or too many. A number means the
    same protocol whatever the count.
    """
    met: set[str] = set()
    for number in range(count):
        case = _drawn(seed, number, folder, met, [] if refused is None else refused)
        met |= used(case.path.read_text(encoding="utf-8"))
        yield case


def _drawn(
    seed: int, number: int, folder: Path, met: set[str], refused: list[str]
) -> Case:
    profile = profile_of(number)
    for again in range(5):
        origins = [f"{seed}.{number}.{again * CHOICES + i}" for i in range(CHOICES)]
        drawn = [draw(origin, profile, CANDIDATES) for origin in origins]
        new = [len(used(d.render()) - met) for d in drawn]
        for i in sorted(range(CHOICES), key=lambda i: (-new[i], i)):
            try:
                case = prepared(drawn[i], folder)
            except RefusedError as error:
                refused.append(f"{drawn[i].origin}: {error}")
                # Two writes of one value are rightly refused; another is drawn instead.
                if profile != "trap" and TWICE not in str(error):
                    raise AssertionError(refused[-1]) from error
                continue
            if case is not None:
                return case
    message = f"no protocol could be drawn for {profile}, {seed}, {number}"
    raise AssertionError(message)


def prepared(description: Description, folder: Path) -> Case | None:
    """Choose among the claims of a protocol; None if it has too many states."""
    name = "drawn_" + description.origin.replace(":", "_").replace(".", "_")
    case = written(description, folder, f"{name}_all")
    try:
        brute = Brute(case.kind(), MOST_STATES)
    except TooLargeError:
        return None
    if len(brute.states) < FEWEST_STATES:
        return None
    return written(with_claims(description, kept(brute)), folder, name)


def kept(brute: Brute) -> set[str]:
    """Choose claims so that few are alike: some hold, some are refuted."""
    worst: dict[str, tuple[str, str]] = {}
    for clause in brute.clauses:
        found = brute.settle(clause).verdict
        before = worst.get(clause.property, ("", "exhausted"))[1]
        order = ("refuted", "vacuous", "exhausted")
        worst[clause.property] = clause.when, min(before, found, key=order.index)
    room: dict[tuple[str, str], int] = {}
    chosen = set()
    for name, what in worst.items():
        room[what] = room.get(what, KEEP[what[1]]) - 1
        if room[what] >= 0 or name.startswith(("lemma", "leads-to9")):
            chosen.add(name)
    return chosen


def with_claims(description: Description, names: set[str]) -> Description:
    """Leave out the claims that were not chosen."""
    *others, last = description.classes

    def stays(method: Method) -> bool:
        claim = method.name.rstrip("0123456789") in MODALITIES
        return not claim or method.name.replace("_", "-") in names

    klass: Klass = replace(last, methods=tuple(m for m in last.methods if stays(m)))
    return replace(description, classes=(*others, klass))
