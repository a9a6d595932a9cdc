"""Where not all is replayed, every number and kind of fault has a share."""

from __future__ import annotations

import functools
from collections import Counter

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.choice import Choice, faults_of
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.plan.planner import realise
from onceproof.spark_checks.plan.rules import LINES, WORK
from onceproof.spark_checks.plan.run_plan import NotReplayable, hits_of
from onceproof.spark_checks.replay.smallest import Smallest
from onceproof.spark_checks.sinks.code_points import (
    CodePoint,
    SeenPoints,
    installed,
    place_of,
)
from onceproof.spark_checks.sinks.interface import ForeachBatch, ModelledSink
from onceproof.spark_checks.sinks.user_code_model import (
    InstrumentedMicroBatch,
    UserCode,
)
from tests.spark_checks.steering import SINKS, SMALL


@pytest.fixture(scope="module")
def found():
    sink = SINKS["foreach-batch-append"]
    return interleavings(protocol_of(sink, SMALL, faults=2))


def test_half_of_a_choice_holds_one_fault(found):
    """Of two faults there are many more interleavings."""
    there = Counter(len(faults_of(one)) for one in found.classes)

    _, chosen = Choice(most=8).of(found)

    assert there[1] >= 4
    assert there[2] > 3 * there[1]
    assert Counter(len(faults_of(one)) for one in chosen) == {1: 4, 2: 4}


def test_what_a_number_of_faults_does_not_fill_falls_to_the_other(found):
    """All with one fault, and of those with two as many as there is room for."""
    one = sum(len(faults_of(o)) == 1 for o in found.classes)

    _, chosen = Choice(most=3 * one).of(found)

    counts = Counter(len(faults_of(o)) for o in chosen)
    assert counts == {1: one, 2: 2 * one}


def test_each_kind_of_fault_has_its_share(found):
    """No kind is left out for another that is hit twice."""
    kinds = {faults_of(o) for o in found.classes if len(faults_of(o)) == 1}

    _, chosen = Choice(most=2 * len(kinds)).of(found)

    hit = Counter(faults_of(o) for o in chosen if len(faults_of(o)) == 1)
    assert hit == dict.fromkeys(kinds, 1)


def test_within_a_budget_those_that_differ_come_first(found):
    """All are there; the first ones are of one fault each, and of all its kinds."""
    kinds = {faults_of(one) for one in found.classes if len(faults_of(one)) == 1}

    ordered = Choice().most_valuable_first(found.classes)

    assert {o.number for o in ordered} == {o.number for o in found.classes}
    assert len(ordered) == len(found.classes)
    assert {faults_of(one) for one in ordered[: len(kinds)]} == kinds
    sizes = [len(faults_of(one)) for one in ordered]
    assert sizes == sorted(sizes)


def test_a_seed_chooses_within_a_kind_and_always_the_same(found):
    """What is replayed can be replayed again."""
    numbers = [
        [one.number for one in Choice(most=8, seed=seed).of(found)[1]]
        for seed in (1, 1, 2)
    ]

    assert numbers[0] == numbers[1] != numbers[2]
    assert numbers[0] == sorted(numbers[0])


def text(number, *, where="x.py", installed=False):
    return place_of(number, where, installed=installed) + "write()"


def looped(lines, times, **where):
    """Give the points of lines of which the middle ones make a loop."""
    body = [text(n, **where) for n in lines]
    rounds = [CodePoint(t, n) for n in range(1, times + 1) for t in body[1:-1]]
    return (CodePoint(body[0]), *rounds, CodePoint(body[-1]))


def described(seen, model, steps):
    return ModelledSink(
        "own",
        None,
        model,
        frozenset(),
        steps=steps,
        parameters=seen.sizes,
        code=("/x",),
        seen=seen,
        engine=InstrumentedMicroBatch,
    )


def planned(sink, sizes, *, faults=1):
    """Enumerate a user's interleavings, and plan each once."""
    protocol = protocol_of(sink, sizes, faults=faults)
    kind = kind_of(ForeachBatch(lambda *_: None, read=""), callback=True)

    @functools.cache
    def hits(one):
        try:
            return hits_of(realise(one, protocol, sink, kind))
        except NotReplayable:
            return None

    return interleavings(protocol), hits


def own_sink(driver, tasks=()):
    """Describe a user's sink by its points, in two batches and two tasks each."""
    ends = CodePoint("the return of put() of x.py")
    seen = SeenPoints(
        dict.fromkeys(range(2), driver),
        {(b, p): (*tasks, ends) for b in range(2) for p in range(2)} if tasks else {},
        last=dict.fromkeys(range(2), CodePoint("the return of write() of x.py")),
        callback=True,
    )
    model = UserCode(on_driver=1, in_tasks=int(bool(tasks)))
    steps = {"sink.run": LINES} | ({"write": WORK} if tasks else {})
    return described(seen, model, steps)


def own(driver, tasks=()):
    """Enumerate and plan the interleavings of a user's sink with these points."""
    return planned(own_sink(driver, tasks), Sizes(batches=2))


def reached(chosen, hits):
    """List each kind of fault with each line that it is injected at."""
    return {
        (faults_of(one), hit.place)
        for one in chosen
        for hit in hits(one) or ()
        if hit.line
    }


SHAPES = {
    "a loop on the driver": (looped(range(8), 5),),
    "many lines": (looped(range(40), 1),),
    "a loop in tasks": (
        looped(range(4), 1),
        looped(range(5), 4, where="in_task.py"),
    ),
}


@functools.cache
def shaped(name):
    return own(*SHAPES[name])


@pytest.mark.parametrize("most", [1, 9, 60])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_line_is_hit_by_every_kind_of_fault_whatever_the_seed(shape, most):
    """A cap is for repetitions: a mistake in one line is found with any seed."""
    found, hits = shaped(shape)
    there = reached(found.classes, hits)

    for seed in range(10):
        _, chosen = Choice(most=most, seed=seed).of(found, hits)

        assert reached(chosen, hits) == there


def test_the_first_and_the_last_time_of_a_line_come_before_those_between():
    """What a loop has half done is seen at its last round."""
    found, hits = shaped("a loop on the driver")

    _, chosen = Choice(most=1).of(found, hits)

    times = {
        hit.nth
        for one in chosen
        for hit in hits(one) or ()
        if faults_of(one) == ("crash_in_commit",) and hit.line == text(3)
    }
    assert times == {1, 5}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_line_is_hit_in_the_first_batch_and_in_the_last(shape):
    """The first finds nothing there yet, and the last has the most to lose."""
    found, hits = shaped(shape)

    _, chosen = Choice(most=1).of(found, hits)

    batches = {}
    for one in chosen:
        for hit in hits(one) or ():
            if hit.line:
                place = (faults_of(one), hit.place)
                batches.setdefault(place, set()).add(hit.batch)
    assert len(batches) > 6
    assert set(map(frozenset, batches.values())) == {frozenset({0, 1})}


def test_a_line_that_runs_after_a_fault_alone_is_hit_by_a_second_one():
    """Code that repairs what a crash left may be cut short as well."""
    first, second, repair = (CodePoint(text(n)) for n in (1, 2, 3))
    leads = {(0, repair.text): frozenset({"crash_in_commit(0, 1)"})}
    last = {0: CodePoint("the return of write() of x.py")}
    seen = SeenPoints(
        {0: (first, second, repair)}, last=last, callback=True, leads=leads
    )
    sink = described(seen, UserCode(on_driver=1), {"sink.run": LINES})
    found, hits = planned(sink, Sizes(batches=1), faults=2)

    def that_hit_it(some):
        return [o for o in some if any(h.line == repair.text for h in hits(o) or ())]

    _, few = Choice(most=1).of(found, hits)
    every = that_hit_it(found.classes)

    assert {hit.place for one in that_hit_it(few) for hit in hits(one)} >= {
        hit.place for one in every for hit in hits(one) if hit.line == repair.text
    }
    events = [[str(one.trace.events[at]) for at in one.faults] for one in every]
    assert events
    assert {(len(some), some[0]) for some in events} == {(2, "crash_in_commit(0, 1)")}


def test_what_room_is_left_goes_to_other_batches_first():
    """A line may go wrong in the second batch alone."""
    found, hits = shaped("a loop on the driver")

    for seed in range(10):
        _, chosen = Choice(most=60, seed=seed).of(found, hits)
        batches = {
            (hit.batch, hit.line)
            for one in chosen
            for hit in hits(one) or ()
            if faults_of(one) == ("crash_in_commit",)
        }
        assert {line for batch, line in batches if batch} == {
            text(n) for n in range(1, 8)
        }


def test_lines_of_packages_are_hit_as_far_as_there_is_room():
    """The user's own are all hit, and of the others as many as may be repeated."""
    mine = looped(range(6), 1)
    called = looped(range(50), 1, where="mylib/x.py", installed=True)
    found, hits = own((*mine, *called))

    _, chosen = Choice(most=5).of(found, hits)

    places = {place for _, place in reached(chosen, hits)}
    of_packages = [place for place in places if installed(place[3])]
    assert {p[3] for p in places if p not in of_packages} >= {p.text for p in mine[1:]}
    assert len(of_packages) == 20


def test_packages_lines_are_hit_once_each_before_any_is_hit_at_its_last_time():
    """A loop of theirs takes no line's place."""
    called = looped(range(12), 9, where="mylib/x.py", installed=True)
    found, hits = own(called)
    there = {place for _, place in reached(found.classes, hits)}

    _, few = Choice(most=len(there) // 4 + 1).of(found, hits)
    _, more = Choice(most=len(there)).of(found, hits)

    assert {place for _, place in reached(few, hits)} == there
    last = {h.nth for one in more for h in hits(one) or () if h.line == called[5].text}
    assert {1, 9} <= last


def test_a_line_that_one_task_alone_comes_to_is_hit():
    """Tasks of a batch are alike in the model, and not in their code."""
    ends = CodePoint("the return of put() of x.py")
    tasks = {
        (0, 0): (CodePoint("a"), CodePoint("b"), CodePoint("c"), ends),
        (0, 1): (CodePoint("a"), CodePoint("other"), ends),
    }
    seen = SeenPoints({}, tasks)
    sink = described(seen, UserCode(in_tasks=1), {"write": WORK})
    protocol = protocol_of(sink, SMALL)
    kind = kind_of(ForeachBatch(lambda *_: None, read=""), callback=True)
    hit = {
        (h.line, h.partition)
        for one in interleavings(protocol).classes
        if faults_of(one) == ("fail_in_task",)
        for h in hits_of(realise(one, protocol, sink, kind))
    }

    assert hit == {("b", 0), ("c", 0), ("other", 1)}


def test_interleavings_are_chosen_by_number(found):
    """Those that are named are replayed, and no others; what is first comes first."""
    first, others = Choice(only=frozenset((2, 5)), first=(5,)).of(found)

    assert [one.number for one in first] == [5]
    assert [one.number for one in others] == [2]


def test_one_is_picked_however_large_its_number(found):
    """A number beyond the last goes round."""
    many = len(found.classes)

    picked = [Choice(nth=n).of(found)[1][0].number for n in (0, 3, many, many + 3)]

    assert picked == [1, 4, 1, 4]


def test_the_drivers_deaths_are_tried_before_all_else():
    """They are what happens most; the order does not depend on what is found first."""
    found, hits = shaped("a loop in tasks")
    _, chosen = Choice(most=9).of(found, hits)

    orders = [
        sorted(some, key=Smallest(found.protocol).of) for some in (chosen, chosen[::-1])
    ]

    kinds = [faults_of(one) for one in orders[0]]
    dies = [all(name in KILLS for name in names) for names in kinds]
    assert orders[0] == orders[1]
    assert dies == sorted(dies, reverse=True)
    assert {"crash_in_commit", "crash_in_task", "fail_in_task"} <= {k for [k] in kinds}


KILLS = ("crash", "crash_in_commit", "crash_in_task")
