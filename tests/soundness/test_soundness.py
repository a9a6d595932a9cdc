"""Every reader of a model says what a brute force, written apart, finds.

`SOUNDNESS_PROTOCOLS` and `SOUNDNESS_SEED` say how many random protocols are compared
and from which seed; the plain tests compare the first of them, `ci` all. A protocol
that shows a disagreement is made smaller, and kept below `build/soundness`, from where
it can be moved to `regressions`.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.node import Node
from tests.soundness.cases import RefusedError, draws, opened
from tests.soundness.drawing.constructs import TERMS, public, terms_of, used
from tests.soundness.finding import judge
from tests.soundness.report import empty_cells

SEED = int(os.environ.get("SOUNDNESS_SEED", "0"))
SHARE = int(os.environ.get("SOUNDNESS_PROTOCOLS", "32"))
GRID = int(os.environ.get("SOUNDNESS_PROTOCOLS", "1000"))
PLAIN = frozenset(range(7)) - {2, 3, 5}
"""Which protocols the plain tests compare; `ci` compares the others too.

Number 7 of seed 0 takes longer than the other nine together; 5 and 8 are
of profiles of which 0 and 3 are, too.
"""
MOST = max(96, SHARE)
"""Among so many protocols each verdict of each modality is met."""
REGRESSIONS = sorted(Path(__file__).parent.glob("regressions/*.py"))


@pytest.fixture(scope="module")
def node():
    """Give a process of Node for all protocols."""
    running = Node()
    yield running
    running.close()


class Share:
    """The protocols of the share, drawn and compared one after the other as asked."""

    def __init__(self, folder):
        self.tally = Counter()
        self._cases = []
        self._reasons = {}
        self._stream = draws(SEED, MOST, folder)

    def case(self, number):
        while len(self._cases) <= number:
            self._cases.append(next(self._stream))
        return self._cases[number]

    def judged(self, number, node):
        """Compare a protocol once, and say what a judge left undecided."""
        if number not in self._reasons:
            found = judge(self.case(number), self.tally, node, most=150)
            self._reasons[number] = found
        return self._reasons[number]


@pytest.fixture(scope="module")
def share(tmp_path_factory):
    return Share(tmp_path_factory.mktemp("drawn"))


@pytest.mark.parametrize(
    "number",
    [
        number if number in PLAIN else pytest.param(number, marks=pytest.mark.grid)
        for number in range(SHARE)
    ],
)
def test_every_reader_agrees_with_the_brute_force(share, node, number):
    """Searches, walks, z3, interleavings, JavaScript and TLA+ alike."""
    reasons = share.judged(number, node)

    if reasons:
        pytest.xfail("; ".join(sorted(reasons)))


@pytest.mark.grid
def test_the_share_draws_every_construct_and_every_class_of_term(share):
    """Nothing of the language is left out of the comparison."""
    cases = [share.case(number) for number in range(SHARE)]

    drawn = set().union(*(used(c.path.read_text(encoding="utf-8")) for c in cases))
    classes = set().union(*(terms_of(c.kind()) for c in cases))

    assert public() - drawn == set()
    assert set(TERMS) - classes == set()


@pytest.mark.grid
def test_the_share_meets_every_verdict_of_every_modality(share, node):
    """Claims of each modality are refuted and hold, before each judge that can tell."""
    for number in range(MOST):
        share.judged(number, node)
        if not empty_cells(share.tally):
            break

    assert empty_cells(share.tally) == []


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_what_once_showed_a_disagreement_shows_none(path, node):
    """A kept protocol is compared with all readers again."""
    try:
        case = opened(path)
    except RefusedError:
        assert path.stem.startswith("trap"), "only a trap may be refused"
        return

    reasons = judge(case, Counter(), node, most=2_000)

    if reasons:
        pytest.xfail("; ".join(sorted(reasons)))


@pytest.mark.grid
def test_a_thousand_protocols_agree(tmp_path, node):
    """The same for many more protocols, at more sizes."""
    tally = Counter()

    for case in draws(SEED + 1, GRID, tmp_path):
        judge(case, tally, node, most=4_000)

    assert empty_cells(tally) == []
