"""Where not all is replayed, every number and kind of fault has a share."""

from __future__ import annotations

from collections import Counter

import pytest

from onceproof.model.interleavings import interleavings
from onceproof.spark_checks.choice import Choice, faults_of
from onceproof.spark_checks.replay import protocol_of
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
    """No kind is left out for another that is struck twice."""
    kinds = {faults_of(o) for o in found.classes if len(faults_of(o)) == 1}

    _, chosen = Choice(most=2 * len(kinds)).of(found)

    struck = Counter(faults_of(o) for o in chosen if len(faults_of(o)) == 1)
    assert struck == dict.fromkeys(kinds, 1)


def test_a_seed_chooses_within_a_kind_and_always_the_same(found):
    """What is replayed can be replayed again."""
    numbers = [
        [one.number for one in Choice(most=8, seed=seed).of(found)[1]]
        for seed in (1, 1, 2)
    ]

    assert numbers[0] == numbers[1] != numbers[2]
    assert numbers[0] == sorted(numbers[0])
