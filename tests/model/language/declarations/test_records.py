"""Records in state mean what a field for each part means, to every reader."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.export.tla import module
from onceproof.model.language import (
    Member,
    Part,
    Protocol,
    Sort,
    action,
    always,
    by_member,
    channels,
    if_else,
    member_of,
    network,
    nobody_of,
    old,
    one_of,
    part,
    state,
    when,
)
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.trace import trace
from onceproof.model.traces import follow
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from onceproof.properties.words.labels import Labels
from tests.model.export.test_javascript import compare
from tests.model.language.declarations.records import Kind, Lease, Leases, LeasesByHand
from tests.model.test_readers_agree import compare_successors
from tests.node import Node


def test_a_record_is_a_field_for_each_part():
    """Plain Python finds the same steps from every state as with fields by hand."""
    records, by_hand = Interpreter(Leases()), Interpreter(LeasesByHand())
    found = dict.fromkeys(records.initial_states())
    assert list(found) == list(by_hand.initial_states())
    todo = list(found)
    for before in todo:
        steps = set(records.successors(before))
        assert steps == set(by_hand.successors(before))
        new = [after for _, after in steps if after not in found]
        found |= dict.fromkeys(new)
        todo += new

    assert len(found) == check(Leases()).exploration.distinct > 100


def test_native_code_and_javascript_take_the_steps_of_plain_python():
    """Successors, rest and claims are the same."""
    node = Node()
    try:
        compare_successors(Leases())
        met = compare(node, Leases(), 100)
    finally:
        node.close()

    assert met > 50


def test_z3_and_symmetry_judge_records_as_the_search_does():
    """Rows and workers are interchangeable, and z3 proves for any number of them."""
    plain, reduced = check(Leases()), check(Leases(), symmetry=True)
    proved = prove(Leases(), depth=4)

    assert plain.verdicts["differ"] is Verdict.REFUTED
    assert plain.verdicts["grows"] is Verdict.REFUTED
    assert plain.verdicts["has-begun"] is Verdict.EXHAUSTED
    assert reduced.verdicts == plain.verdicts
    assert reduced.exploration.distinct < plain.exploration.distinct
    assert proved.verdicts["has-begun"] in (Verdict.EXHAUSTED, Verdict.PROVED)
    (claim,) = [f for f in proved.findings if f.property.name == "has-begun"]
    assert "every number of members of ROW, W" in claim.note
    assert proved.verdicts["differ"] is Verdict.REFUTED


def test_tla_has_a_variable_for_each_part():
    """Each is a function of the rows, as a field of that name is."""
    text = module(trace(Leases()), []).text

    for name in ("lease_kind", "lease_epoch", "lease_owner"):
        assert f"{name} \\in [ROW -> " in text
    assert "UNCHANGED <<lease_epoch, lease_owner," in text, "release changes one part"


def test_a_trace_shows_the_parts_of_the_record_that_changed():
    """The member stands by the record, and the part behind it."""
    reference = Interpreter(Leases())
    events = {str(e): e for e in reference.events()}
    run = follow(
        reference,
        next(reference.initial_states()),
        (events["take(1, 0)"], events["release(1)"]),
    )
    labels = Labels(reference)

    assert labels.differences(run.states[0], run.states[1]) == {
        "lease[row 1].kind": "held",
        "lease[row 1].epoch": 1,
        "lease[row 1].owner": "worker 0",
    }
    assert labels.differences(run.states[1], run.states[2]) == {
        "lease[row 1].kind": "free"
    }
    assert labels.state(run.start)["last.kind"] == "free"


class Pair(NamedTuple):
    """Two numbers."""

    left: int
    right: int


class Cell(Part):
    """A pair that a part holds."""

    pair = state(Pair(0, one_of(1, 2)), high={"left": 2, "right": 2}, volatile=True)
    kept = state(Pair(0, 0), high=2)

    def swap(self) -> None:
        """Swap the two numbers."""
        self.kept = Pair(self.kept.right, self.kept.left)


class Cells(Protocol):
    """A part per member with a record, and one record for each of two sorts."""

    C = Sort("cell", size=2, ordered=True)

    cells = part(Cell, per=C)
    grid = state(Pair(by_member(lambda c, d: int(c)), 0), per=(C, C), high=C)
    wire = channels(Pair(0, 0), length=1, high=2)

    @action(per=C)
    def swap(self, c: Member) -> None:
        """Swap what is kept, and send what it was."""
        when(self.cells[c].kept == Pair(0, 0))
        self.cells[c].kept = Pair(1, 2)
        self.cells[c].swap()
        self.wire.only.send(self.cells[c].kept)

    @action(per=C)
    def receive(self, c: Member) -> None:
        """Take a whole message, compare it, and keep it in the grid."""
        message = self.wire.only.receive()
        when_first = if_else(message == Pair(2, 1), message, self.grid[c, c])
        self.grid[c, c] = when_first

    @action
    def turn(self) -> None:
        """Every pair is turned at once; the old ones are read after they changed."""
        self.grid.set(lambda c, d: Pair(self.grid[d, c].right, self.grid[d, c].left))
        here = self.C.first
        self.grid[here, here] = old(self).grid[here, here]

    @always(per=C)
    def is_sorted(self, c: Member) -> bool:
        """What is kept goes down."""
        return self.cells[c].kept.left >= self.cells[c].kept.right


def test_records_of_parts_of_members_and_of_messages_are_read_alike():
    """Native code and plain Python agree; messages are compared with ``==``."""
    compare_successors(Cells())
    report = check(Cells())

    assert report.exploration.distinct > 50
    assert report.verdicts["is-sorted"] is Verdict.EXHAUSTED


def test_a_change_of_all_records_sees_each_part_as_it_was():
    """A rule that reads the part that is written first reads the value before."""
    reference = Interpreter(Cells())
    start = next(reference.initial_states())
    turn = next(e for e in reference.events() if e.name == "turn")
    after = dict(zip(reference.places, reference.after(start, turn), strict=True))
    found = {(f.path, at): value for (f, at), value in after.items()}

    # (1, 0) was (1, 0) at [1, 0] and (0, 0) at [0, 1].
    assert (found["grid.left", (0, 1)], found["grid.right", (0, 1)]) == (0, 1)
    assert (found["grid.left", (1, 0)], found["grid.right", (1, 0)]) == (0, 0)
    assert (found["grid.left", (1, 1)], found["grid.right", (1, 1)]) == (0, 1)


class Deep(NamedTuple):
    """A record in a record."""

    pair: Pair
    more: int


def writes_a_part(self):
    self.last.epoch = 2


def writes_another_shape(self):
    self.last = Pair(0, 1)


def writes_a_number(self):
    self.last = 1


def compares_another_shape(self):
    when(self.last == Pair(0, 1))
    self.done = True


def compares_a_number(self):
    when(self.last == 1)
    self.done = True


def adds(self):
    self.lease.where(lambda w: self.lease[w].epoch < 2).add(1)


def chooses_another_shape(self):
    self.last = if_else(self.done, self.last, Pair(0, 1))


def goes_out_of_bounds(self):
    self.last = self.last._replace(epoch=self.last.epoch + 1)


def compares_what_no_state_holds(self):
    when(Pair(self.last.epoch, 0) != Pair(0, 1))
    self.done = True


def orders(self):
    when(self.last < Lease(Kind.FREE, 0, self.last.owner))
    self.done = True


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (writes_a_part, "self.NAME = self.NAME._replace(epoch=...)"),
        (writes_another_shape, "last holds Lease(...), not Pair"),
        (writes_a_number, "last holds Lease(...), not 1"),
        (compares_another_shape, "shapes differ"),
        (compares_a_number, "shapes differ"),
        (adds, "lease is a record, and add(...) is for numbers"),
        (chooses_another_shape, "shapes differ"),
        (goes_out_of_bounds, "last.epoch holds 0..2, and this value may be 1..3"),
        (orders, "use equal(a, b)"),
        (compares_what_no_state_holds, "use equal(a, b)"),
    ],
)
def test_what_no_record_means_is_refused_at_its_line(method, message):
    """The error names the record or its part, and what to write."""

    class Wrong(Protocol):
        """One record, and one for each worker."""

        W = Sort("worker")
        last = state(Lease(Kind.FREE, 0, nobody_of(W)), high=2)
        lease = state(Lease(Kind.FREE, 0, nobody_of(W)), per=W, high=2)
        done = state(False)
        act = action(method)

    with pytest.raises(ModelError, match=re.escape(message)) as error:
        trace(Wrong())

    assert error.value.where.startswith(f"{__file__}:")


P = Sort("process")


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: state(Pair(0, 0)), "integer state x.left needs its bound"),
        (lambda: state(Pair(0, 0), high={"lift": 2}), "did you mean 'left'"),
        (lambda: state(Pair(0, 0), high=(1, 2)), "takes a whole number, a parameter"),
        (lambda: state(Pair(0, 0), high={"left": "2"}), "high= of left takes a whole"),
        (lambda: state(Pair(0, True), high={"right": 1}), "which is no integer"),
        (lambda: state(0, high=(1, 2)), "takes a whole number, a parameter"),
        (lambda: state(0, high={"left": 1}), "takes a whole number, a parameter"),
        (lambda: state(0, high=True), "takes a whole number, a parameter"),
        (lambda: state(Deep(Pair(0, 0), 0), high=2), "a record holds no other"),
        (lambda: state(one_of(Pair(0, 0)), high=2), "write one_of(...) or"),
        (lambda: state(by_member(lambda p: Pair(0, 0)), per=P, high=2), "in the part"),
        (lambda: channels(Pair(0, 0), length=1, high=(1, 2)), "takes a whole number"),
        (lambda: network(Pair(0, 0), high=(1, 2)), "takes a whole number"),
        (lambda: network(Pair(0, 0), in_flight=2, high="2"), "takes a whole number"),
        (lambda: network(Pair(0, 0), high={"up": 2}), "there is no such part"),
        (lambda: channels(Deep(Pair(0, 0), 0), length=1, high=2), "a record holds no"),
        (lambda: network(Deep(Pair(0, 0), 0), high=2), "a record holds no other"),
        (lambda: channels(0, length=1, high={"x": 2}), "there is no such part"),
    ],
)
def test_a_declaration_that_declares_no_record_is_refused(declare, message):
    """Bounds of parts that there are not, and records in records."""

    def made() -> None:
        body = {"__module__": __name__, "P": P, "x": declare()}
        trace(type("Wrong", (Protocol,), body)())

    with pytest.raises(ModelError) as error:
        made()

    assert message in str(error.value)
    assert error.value.where.startswith(f"{__file__}:")


def test_a_record_may_start_with_any_member():
    """The model starts in each, as with a field of its own."""

    class Starts(Protocol):
        """A record with a member."""

        W = Sort("worker", size=3)
        last = state(Lease(one_of(Kind.FREE, Kind.HELD), 0, member_of(W)), high=1)

    assert len(list(Interpreter(Starts()).initial_states())) == 6
