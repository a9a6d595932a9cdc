"""Symmetry counts orbits, keeps verdicts, and tells traces under one naming."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.model.protocols.two_phase_commit import TwoPhaseCommit
from onceproof.model.search.symmetry import interchangeable
from onceproof.model.search.visited_states import VisitedStates
from onceproof.model.traces import follow
from onceproof.properties.judges.by_search import check
from tests.examples import drawn_from
from tests.model.library_variants import VARIANTS
from tests.model.random_protocols import protocols
from tests.model.test_readers_agree import SETTINGS, levels
from tests.spread import spread

ORBITS = {2: 34, 3: 80, 4: 166, 5: 314, 6: 553, 7: 920, 8: 1461, 9: 2232}


@pytest.mark.parametrize("participants", ORBITS)
def test_two_phase_commit_has_the_published_number_of_orbits(participants):
    """The whole tuple of a participant is sorted by; five have 314 orbits, not 665."""
    report = check(TwoPhaseCommit(RM=participants), symmetry=True)

    assert report.exploration.distinct == ORBITS[participants]


def orbit(reference: Interpreter, state: Any) -> Any:
    """Give the least of all renamings of a state, the slow and simple way."""
    sizes = {s: n for s, n in reference.protocol.sizes.items() if not s.ordered}
    found = []
    for way in itertools.product(
        *(itertools.permutations(range(n)) for n in sizes.values())
    ):
        new = dict(zip(sizes, way, strict=True))
        places = {
            (f.path, at): value
            for (f, at), value in zip(reference.places, state, strict=True)
        }
        moved = [
            places[
                f.path,
                tuple(
                    new[s][i] if s in new else i
                    for i, s in zip(at, f.sorts, strict=True)
                ),
            ]
            for f, at in reference.places
        ]
        found.append(tuple(map(str, moved)))
    return min(found)


@drawn_from(protocols(), few=20, many=60, like=SETTINGS)
def test_symmetry_keeps_verdicts_and_counts_orbits(drawn):
    """As many states as orbits, the same verdicts, traces as short, and real."""
    protocol = drawn()
    reference = Interpreter(protocol)
    states = levels(reference)
    if states is None or not any(
        n > 1 and not s.ordered for s, n in protocol.sizes.items()
    ):
        return
    whole = {f.property.name: f for f in check(protocol).findings}

    report = check(protocol, symmetry=True)

    assert report.exploration.distinct == len({orbit(reference, s) for s in states})
    for finding in report.findings:
        other = whole[finding.property.name]
        if finding.property.name in ("comes", "answers"):
            continue
        assert finding.verdict is other.verdict
        if finding.trace is not None:
            shown = finding.trace
            assert len(shown.steps) == len(other.trace.steps)
            assert follow(reference, shown.start, shown.events).states == shown.states


def test_pairs_are_renamed_together():
    """A field of two members of one sort is brought to one form by all renamings."""
    whole = check(make("chandy-lamport", {"P": "3", "coins": "1"}))
    found = check(make("chandy-lamport", {"P": "3", "coins": "1"}), symmetry=True)

    assert found.verdicts == whole.verdicts
    assert found.exploration.distinct < whole.exploration.distinct / 4


@pytest.mark.parametrize(
    ("name", "given_"),
    [
        ("two-phase-commit", {"RM": "4"}),
        ("two-phase-commit-log", {"losses": "0"}),
        ("micro-batch", {"sink": "append"}),
        ("micro-batch", {"sink": "staged", "faults": "2"}),
    ],
)
def test_members_that_are_alike_act_once(name, given_):
    """Where a member's tuple is all there is, as many states are found as orbits."""
    protocol = make(name, given_)
    reference = Interpreter(protocol)
    graph = VisitedStates(trace(protocol))
    graph.start()
    while graph.grow():
        pass
    states = [graph.layout.unpack(row.tolist()) for row in graph.states[: graph.count]]

    whole, found = check(protocol), check(protocol, symmetry=True)

    assert found.exploration.distinct == len({orbit(reference, s) for s in states})
    for one, other in zip(whole.findings, found.findings, strict=True):
        if str(other.verdict) == "undecided":
            assert other.note
        else:
            assert one.verdict is other.verdict


def test_a_protocol_without_interchangeable_members_is_refused():
    """One sentence says why, rather than a search that does nothing new."""
    with pytest.raises(UsageError, match="no sort of two or more"):
        check(TwoPhaseCommit(RM=1), symmetry=True)


@pytest.mark.parametrize(
    "variant",
    # A few: random protocols are compared in any run.
    spread(VARIANTS, 16),
)
def test_symmetry_keeps_the_librarys_verdicts(variant):
    """Fewer states, the same verdicts, and traces that plain Python can follow."""
    protocol, reference = variant.protocol, Interpreter(variant.protocol)
    if not interchangeable(trace(protocol)):
        with pytest.raises(UsageError, match="no sort of two or more"):
            check(protocol, symmetry=True)
        return

    plain, reduced = check(protocol), check(protocol, symmetry=True)

    assert reduced.exploration.distinct < plain.exploration.distinct
    for finding in reduced.findings:
        name = finding.property.name
        assert finding.verdict is plain.verdicts[name]
        if finding.trace is not None:
            trace_ = finding.trace
            followed = follow(reference, trace_.start, trace_.events)
            assert followed.states == trace_.states
