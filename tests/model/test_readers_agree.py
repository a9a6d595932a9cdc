"""Plain Python, native code and z3 agree on what a model means."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.terms import terms as t
from onceproof.model.language.tracing.trace import trace
from onceproof.model.search.native import expander
from onceproof.model.search.native.term_code import constant
from onceproof.model.search.visited_states import VisitedStates
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.verdicts import Verdict
from tests.examples import drawn_from
from tests.model.random_protocols import protocols

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 250
MOST_BY_HAND = 500
SETTINGS = settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=list(HealthCheck),
)


def reached(reference: Interpreter) -> Iterator[Any]:
    """Yield the states that are reached in plain Python, the nearest first."""
    found = dict.fromkeys(reference.initial_states())
    todo = list(found)
    for before in todo:
        yield before
        for _, after in reference.successors(before):
            if after not in found:
                found[after] = None
                todo.append(after)


def levels(reference: Interpreter) -> dict[Any, int] | None:
    """Search in plain Python: states with their distance; None if there are many."""
    found = dict.fromkeys(reference.initial_states(), 0)
    todo = list(found)
    for before in todo:
        for _, after in reference.successors(before):
            if after not in found:
                found[after] = found[before] + 1
                todo.append(after)
        if len(found) > MOST:
            return None
    return found


def compare_successors(protocol: Any, *, drawn: bool = False) -> None:
    """Compare each state's successors, as native code and Python see them.

    One that is drawn at random, and has many states, is let be. Of any other, the
    states that are nearest to the start are compared.
    """
    reference = Interpreter(protocol)
    if drawn and levels(reference) is None:
        return
    states = itertools.islice(reached(reference), MOST_BY_HAND)
    graph = VisitedStates(trace(protocol))
    pack, unpack = graph.layout.pack, graph.layout.unpack
    for number, before in enumerate(states):
        graph.states[0] = pack(before)
        made = graph.expand(0, 1)
        native = {
            (graph.events[a], unpack(w))
            for a, w in zip(made.events.tolist(), made.states.tolist(), strict=True)
        }
        every = list(reference.successors(before))
        assert made.generated == len(every), (number, before)
        plain = {(e, s) for e, s in every if s != before}
        assert native == plain, (number, before)
        resting = bool(made.flags.rests[0])
        assert resting == reference.resting(before)


def expected(
    reference: Interpreter, states: dict[Any, int], name: str, when: str
) -> Any:
    """Settle a claim in plain Python: how many steps its shortest trace has."""

    def claim(*protocols: Any) -> Any:
        return getattr(protocols[0], name)(*protocols[1:])

    lengths = []
    for before, far in states.items():
        if when == "step":
            lengths += [
                far + 1
                for _, after in reference.successors(before)
                if after != before and not reference.evaluate(claim, before, after)
            ]
        elif when == "at_rest" and not reference.resting(before):
            continue
        elif bool(reference.evaluate(claim, before)) == (when == "sometimes"):
            lengths.append(far)
    return min(lengths, default=None)


CLAIMS = (
    ("holds", "always"),
    ("meets", "sometimes"),
    ("rests", "at_rest"),
    ("moves", "step"),
)


@drawn_from(protocols(), few=20, many=60, like=SETTINGS)
def test_native_code_takes_the_steps_that_python_takes(drawn):
    """Successors, their events and rest are the same in every reachable state."""
    protocol = drawn()

    compare_successors(protocol, drawn=True)


@drawn_from(protocols(talks=True), few=12, many=40, like=SETTINGS)
def test_messages_and_crashes_are_what_they_are_in_python(drawn):
    """So are they where processes send, receive, lose messages and crash."""
    compare_successors(drawn(), drawn=True)


@drawn_from(protocols(), few=20, many=60, like=SETTINGS)
def test_the_search_settles_claims_as_python_does(drawn):
    """Verdicts, and the lengths of shortest traces, are those of a plain search."""
    protocol = drawn()
    reference = Interpreter(protocol)
    states = levels(reference)
    if states is None:
        return

    report = check(protocol)

    findings = {f.property.name: f for f in report.findings}
    assert report.exploration is not None
    assert report.exploration.distinct == len(states)
    for name, when in CLAIMS:
        length = expected(reference, states, name, when)
        finding = findings[name]
        shown = None if finding.trace is None else len(finding.trace.steps)
        assert shown == length, (name, finding.verdict)


@drawn_from(protocols(), few=10, many=25, like=SETTINGS)
def test_z3_settles_claims_as_python_does(drawn):
    """What z3 finds to a depth, and the search that confirms it, is all that is so."""
    depth = 3
    protocol = drawn()
    reference = Interpreter(protocol)
    states = levels(reference)
    if states is None:
        return

    report = prove(protocol, claims_of(protocol), depth=depth)

    for finding in report.findings:
        if finding.property.name not in dict(CLAIMS):
            assert finding.verdict is Verdict.UNDECIDED
            continue
        when = dict(CLAIMS)[finding.property.name]
        length = expected(reference, states, finding.property.name, when)
        within = length is not None and length <= depth
        shown = None if finding.trace is None else len(finding.trace.steps)
        if finding.note.startswith("refuted by search"):
            assert length is not None
            assert length > depth
            within = True
        assert shown == (length if within else None), (when, finding.verdict)
        if when != "sometimes":
            assert (finding.verdict is Verdict.REFUTED) == within
            unsettled = (Verdict.UNDECIDED, Verdict.VACUOUS)
            assert within == (length is not None) or finding.verdict in unsettled


@pytest.mark.grid
@pytest.mark.parametrize("broken", ["less", "sum", "exists"])
def test_a_broken_reader_is_caught(monkeypatch, tmp_path, broken):
    """Were native code wrong about one kind of term, the comparison would fail."""
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path))
    emitter = expander._Emitter
    truth, number = emitter.truth, emitter.number

    def wrong_truth(self, term):
        if broken == "less" and isinstance(term, t.Less):
            return truth(self, t.Eq(term.left, term.right))
        if broken == "exists" and isinstance(term, t.Exists):
            return truth(self, t.ForAll(term.vars, term.body))
        return truth(self, term)

    def wrong_sum(self, term):
        if isinstance(term, t.Sum):
            return self.b.add(number(self, term), constant(1))
        return number(self, term)

    monkeypatch.setattr(emitter, "truth", wrong_truth)
    if broken == "sum":
        monkeypatch.setattr(emitter, "number", wrong_sum)

    @settings(SETTINGS, max_examples=600)
    @given(protocols())
    def compare(drawn):
        compare_successors(drawn(), drawn=True)

    with pytest.raises(AssertionError):
        compare()
