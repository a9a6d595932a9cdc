"""One crash is replayed for all points at which it leaves the same, and no other is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.choice import Choice, faults_of
from onceproof.spark_checks.plan.merged_points import alike, merged
from onceproof.spark_checks.plan.rules import LINES, WORK
from onceproof.spark_checks.plan.run_plan import InjectionPoint
from onceproof.spark_checks.sinks.code_points import CodePoint, SeenPoints, place_of
from tests.spark_checks.plan.test_choice import own_sink, planned

TEXTS = tuple(f"{place_of(n, 'x.py', installed=False)}write()" for n in range(5))


def points(*unchanged):
    """Give five lines; nothing is left behind right before those that are named."""
    return tuple(CodePoint(t, unchanged=n in unchanged) for n, t in enumerate(TEXTS))


def hit(number, **how):
    """Give a death of the driver's process before a line in its first batch."""
    place = InjectionPoint("die", LINES, "call", line=TEXTS[number])
    return replace(place, **how)


def lines(found):
    return [TEXTS.index(point.text) for point in found]


def own(driver):
    """Give the interleavings of a sink with these points, and where each is hit."""
    sink = own_sink(driver)
    return *planned(sink, Sizes(batches=2)), sink.seen


def stands_in(driver):
    """Pair the place of each crash that is merged with the one replayed for it."""
    found, hits, seen = own(driver)
    at = {one.number: hits(one) for one in found.classes}
    return [
        (at[number][0], at[other][0])
        for number, other in merged(found.classes, hits, seen).items()
    ]


@pytest.mark.parametrize(
    ("unchanged", "number", "expected"),
    [
        ((), 2, [2]),
        ((2,), 2, [1, 2]),
        ((2,), 1, [1, 2]),
        ((1, 2, 4), 0, [0, 1, 2]),
        ((1, 2, 4), 4, [3, 4]),
        ((0, 1), 1, [0, 1]),
        ((1, 2, 3, 4), 3, [0, 1, 2, 3, 4]),
    ],
)
def test_a_death_is_alike_from_what_was_left_last_to_what_is_left_next(
    unchanged, number, expected
):
    """What happens before a point parts it from the one before."""
    seen = SeenPoints({0: points(*unchanged)})

    assert lines(alike(seen, hit(number))) == expected


def test_only_a_death_is_alike():
    """An error is raised in code that may handle it, and each line's own way."""
    seen = SeenPoints({0: points(1, 2)})

    assert alike(seen, hit(1))
    assert not alike(seen, hit(1, do="raise"))
    assert not alike(seen, hit(1, batch=1)), "another batch has points of its own"


def test_what_follows_a_tasks_last_line_is_its_own():
    """The return of a task's code is where Spark takes over."""
    ends = CodePoint("the return of put() of x.py", unchanged=True)
    seen = SeenPoints({}, {(0, 1): (*points(4), ends)})

    found = alike(seen, hit(3, function=WORK, partition=1))

    assert lines(found) == [3, 4]


def test_the_last_point_is_replayed_for_those_before_it():
    """It is right before something happens.

    A crash before the first line is another event of the model, before the sink runs.
    """
    pairs = stands_in(points(1, 2, 3))

    assert {(one.line, other.line) for one, other in pairs} == {
        (TEXTS[1], TEXTS[3]),
        (TEXTS[2], TEXTS[3]),
    }
    for one, other in pairs:
        assert one.do == other.do == "die"
        assert (one.batch, one.partition) == (other.batch, other.partition)


def test_nothing_is_merged_where_something_is_left_behind_at_each_line():
    """Nothing is known of code whose process could not be watched, either."""
    assert not stands_in(points())


def test_what_is_merged_is_not_chosen_unless_it_is_asked_for():
    """A counterexample of such a point is replayed as it is."""
    found, hits, seen = own(points(1, 2))
    gone = merged(found.classes, hits, seen)

    first, chosen = Choice().of(found, hits, gone)

    assert gone
    assert not first
    assert {one.number for one in chosen} == {
        one.number for one in found.classes if one.number not in gone
    }
    number = next(iter(gone))
    _, asked = Choice(only=frozenset({number})).of(found, hits, gone)
    assert [one.number for one in asked] == [number]


def test_each_kind_of_crash_still_hits_each_group_of_lines():
    """Nothing but repetitions is left out."""
    found, hits, seen = own(points(1, 2, 4))
    gone = merged(found.classes, hits, seen)

    def groups(classes):
        return {
            (faults_of(one), place.batch, alike(seen, place) or place.place)
            for one in classes
            for place in hits(one) or ()
        }

    _, chosen = Choice().of(found, hits, gone)

    assert groups(chosen) == groups(found.classes)
