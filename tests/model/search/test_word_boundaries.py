"""Verdicts are those of plain Python at the ends of words: nothing wraps silently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from onceproof.model.errors import ModelError, UsageError
from onceproof.model.language import (
    Member,
    Protocol,
    Sort,
    action,
    always,
    leads_to,
    not_,
    state,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.terms.types import MOST as LARGEST
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.states.claim_flags import FLAG_BITS
from onceproof.model.search.states.layout import MAX_WORDS, WORD_BITS
from onceproof.model.search.visited_states import VisitedStates
from onceproof.properties.judges.by_search import check, simulate
from onceproof.properties.property import own_properties
from onceproof.properties.verdicts import Verdict
from tests.model.boundaries import ladder, queue, row, span, stairs
from tests.model.search.test_liveness import FAIR, breaks, changes

if TYPE_CHECKING:
    from onceproof.properties.property import Clause

RARE = pytest.mark.grid
MOST = 2_000
ENDS = [
    pytest.param(n, marks=[] if n % FLAG_BITS in (0, 1, FLAG_BITS - 1) else RARE)
    for n in (1, *range(61, 66), *range(125, 131))
]


class ByHand:
    """A protocol searched in plain Python: its states and the steps between them."""

    def __init__(self, protocol: Protocol) -> None:
        """Find all states, nearest first."""
        self.protocol = protocol
        self.reference = Interpreter(protocol)
        self.distance = dict.fromkeys(self.reference.initial_states(), 0)
        self.steps: dict[Any, list[Any]] = {}
        todo = list(self.distance)
        for before in todo:
            self.steps[before] = changes(self.reference, before)
            for _, after in self.steps[before]:
                if after not in self.distance:
                    self.distance[after] = self.distance[before] + 1
                    todo.append(after)
            assert len(todo) < MOST

    def broken(self) -> dict[str, bool]:
        """Say of each property whether it is broken; of a witness, whether it lacks."""
        FAIR.clear()
        FAIR.update({s.name: s.fair for s in self.reference.steps.values()})
        return {
            p.name: any(self._breaks(clause) for clause in p.clauses)
            for p in own_properties(self.protocol)
        }

    def _breaks(self, clause: Clause) -> bool:
        def holds(*at: Any) -> bool:
            return bool(self.reference.evaluate(clause.holds, *at))

        if clause.when == "step":
            pairs = [(s, after) for s, out in self.steps.items() for _, after in out]
            return not all(holds(*pair) for pair in pairs)
        if clause.when == "always":
            return not all(holds(s) for s in self.steps)
        if clause.when == "sometimes":
            return not any(holds(s) for s in self.steps)
        if clause.when == "at_rest":
            return not all(holds(s) for s in self.steps if self._rests(s))
        if clause.when == "recoverable":
            return not self._all_recover({s for s in self.steps if holds(s)})
        return breaks(self.reference, clause, self.distance)

    def _rests(self, state: Any) -> bool:
        return all(event.fault for event, _ in self.steps[state])

    def _all_recover(self, good: set[Any]) -> bool:
        can = {s for s in good if self._rests(s)}
        before = -1
        while before != len(can):
            before = len(can)
            can |= {
                s
                for s, out in self.steps.items()
                if any(not event.fault and after in can for event, after in out)
            }
        return len(can) == len(self.steps)


def assert_as_by_hand(protocol: Protocol) -> dict[str, bool]:
    """Compare each verdict of the search with that of plain Python; give the latter."""
    by_hand = ByHand(protocol)
    broken = by_hand.broken()

    report = check(protocol)

    assert {
        name: verdict in (Verdict.REFUTED, Verdict.VACUOUS)
        for name, verdict in report.verdicts.items()
    } == broken
    assert report.exploration is not None
    assert report.exploration.distinct == len(by_hand.steps)
    return broken


@pytest.mark.parametrize("claims", ENDS)
def test_every_claim_is_settled_however_many_there_are(claims):
    """A claim's flag is its own, also beyond the bits of one word."""
    broken = assert_as_by_hand(ladder(claims, turn=claims))

    assert claims == 1 or set(broken.values()) == {True, False}


@pytest.mark.parametrize("turn", range(6))
def test_the_claims_beside_the_end_of_a_word_are_of_every_modality(turn):
    """Each modality takes its turn at the last bit of a word and the one after it."""
    assert_as_by_hand(ladder(2 * FLAG_BITS + 2, turn=turn))


@pytest.mark.parametrize("claims", ENDS)
def test_every_claim_of_steps_is_settled_however_many_there_are(claims):
    """Claims of steps have a place each."""
    broken = assert_as_by_hand(stairs(claims))

    assert claims == 1 or set(broken.values()) == {True, False}


@pytest.mark.parametrize("claims", [62, 63, 126])
def test_random_walks_watch_every_claim(claims):
    """A walk to the top meets all that the search meets."""
    protocol = ladder(claims)
    broken = ByHand(protocol).broken()

    report = simulate(protocol, walks=1, depth=2 * claims + 4, seed=1)

    for finding in report.findings:
        name, when_ = finding.property.name, finding.property.clauses[0].when
        if when_ in ("always", "at_rest", "sometimes"):
            good = finding.verdict is Verdict.HELD
            assert good != broken[name], name


@pytest.mark.parametrize(
    ("members", "lead"),
    [
        *((1, lead) for lead in (31, 61, 62, 63, 64)),
        *((32, lead) for lead in (15, 16, 30, 31, 32)),
        *((members, lead) for members in (62, 63, 64) for lead in (0, 1)),
        pytest.param(64, 64, marks=RARE),
    ],
)
def test_a_state_may_end_anywhere_in_a_word(members, lead):
    """Elements keep their values, and their neighbours', where a word ends."""
    assert_as_by_hand(row(members, lead))


@pytest.mark.parametrize("members", [1, 30, 31, 32, 61, 62, 63, 64])
def test_elements_of_two_bits_may_end_anywhere_in_a_word(members):
    """An element is never cut in two."""
    from tests.model.boundaries import Colour

    assert_as_by_hand(row(members, 1, Colour.RED))


@pytest.mark.parametrize("places", [1, 2, 30, 31, 32, 62, 63, 64])
def test_a_channel_may_have_any_number_of_places(places):
    """What is sent comes out, in order, from the last place as from the first."""
    assert_as_by_hand(queue(places))


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0, 1),
        (-1, 0),
        (-1, 1),
        *((0, 2**bits + more) for bits in (7, 8, 31, 32, 52) for more in (-1, 0, 1)),
        *((-(2**bits), 2**bits - 1) for bits in (7, 8, 31, 32, 52)),
        (0, LARGEST),
        (-(2**31) - 1, -1),
        (-LARGEST + 1, -LARGEST + 3),
        (LARGEST - 3, LARGEST),
    ],
)
def test_a_number_may_have_any_range_that_is_admitted(low, high):
    """Ends of a range are met, at powers of two and below zero as well."""
    assert_as_by_hand(span(low, high))


@pytest.mark.parametrize(("low", "high"), [(0, LARGEST + 1), (-LARGEST - 1, 0)])
def test_a_number_beyond_what_all_readers_hold_is_refused(low, high):
    """JavaScript counts in floating point: it is exact up to there."""
    with pytest.raises(ModelError, match="choose smaller bounds"):
        assert_as_by_hand(span(low, high))


@pytest.mark.parametrize("bits", [WORD_BITS + 1, WORD_BITS + 2, 2 * WORD_BITS])
def test_a_number_that_no_word_holds_is_refused(bits):
    """It is said that the range is too wide, rather than cut."""
    from onceproof.model.language.fields import Field
    from onceproof.model.language.terms.types import IntType
    from onceproof.model.search.states.layout import Layout

    wide = Field("wide", IntType(0, 2**bits - 1), (), 0, volatile=False)

    with pytest.raises(UsageError, match="wide"):
        Layout([wide], {})


@pytest.mark.parametrize("spare", [1, 0, -1])
def test_a_state_that_is_too_wide_is_refused(spare):
    """As many bits as there are fit, and not one more."""
    from onceproof.model.language.fields import Field
    from onceproof.model.language.terms.types import BOOL
    from onceproof.model.search.states.layout import Layout

    sort = Sort("bit")
    field = Field("bits", BOOL, (sort,), False, volatile=False)
    sizes = {sort: MAX_WORDS * WORD_BITS - spare}

    if spare >= 0:
        assert Layout([field], sizes).words == MAX_WORDS
    else:
        with pytest.raises(UsageError, match="a state takes"):
            Layout([field], sizes)


def pairs(members: int) -> Protocol:
    """Say of each pair that asking leads to an answer; one never answers."""

    class Pairs(Protocol):
        P = Sort("process", size=members, ordered=True)
        asked = state(False)
        turn = state(0, high=P)

        @action(fair=True)
        def ask(self) -> None:
            self.asked = True

        @action(per=P, fair=True)
        def move(self, p: Member) -> None:
            when(self.asked, self.turn == p, p < self.P.last)
            self.turn = p + 1

        @leads_to(per=(P, P))
        def answers(self, p: Member, q: Member) -> tuple[bool, bool]:
            return self.turn == p, self.turn > q

    return Pairs()


@pytest.mark.parametrize("members", [1, 4, 5, 6, 7, 8, 12])
def test_a_claim_of_pairs_is_settled_at_every_size(members):
    """One that some pair breaks is refuted at every size."""
    assert_as_by_hand(pairs(members))


class Switches(Protocol):
    """Each switch is turned on once, and some state has them all on."""

    S = Sort("switch")
    on = state(False, per=S)
    off = state(True, per=S)

    @action(per=S)
    def turn(self, s: Member) -> None:
        """Turn one on."""
        when(not_(self.on[s]))
        self.on[s] = True
        self.off[s] = False

    @always
    def never_all(self) -> bool:
        """Some switch stays off."""
        from onceproof.model.language import any_of

        return any_of(not_(self.on[s]) for s in self.S)


@pytest.mark.parametrize("members", [2, 31, 32, 62, 63, 64])
def test_symmetry_counts_the_members_at_every_size(members):
    """There is one state for each number of switches that are on."""
    report = check(Switches(S=members), symmetry=True)

    assert report.verdicts["never-all"] is Verdict.REFUTED
    assert report.exploration is not None
    assert report.exploration.distinct == members + 1
    (finding,) = report.findings
    assert finding.trace is not None
    assert len(finding.trace.steps) == members


@pytest.mark.parametrize("members", [1, 62, 63, 64])
def test_there_may_be_any_number_of_events(members):
    """Each event of each member is numbered, and is the one that it is."""
    protocol = Switches(S=members)
    reference = Interpreter(protocol)
    graph = VisitedStates(trace(protocol))
    graph.start()

    made = graph.expand(0, 1)

    start = next(iter(reference.initial_states()))
    found = [
        (graph.events[event], graph.layout.unpack(words))
        for event, words in zip(made.events.tolist(), made.states.tolist(), strict=True)
    ]
    assert found == changes(reference, start)
