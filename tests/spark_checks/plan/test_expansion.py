"""Interleavings of code with many points are made from those of code with few."""

from __future__ import annotations

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.traces import follow
from onceproof.spark_checks.plan.expansion import expanded
from onceproof.spark_checks.sinks.user_code_model import (
    InstrumentedMicroBatch,
    UserCode,
)

SHAPES = [
    {"sink": UserCode(on_driver=1), "LINE": 4, "faults": 1},
    {"sink": UserCode(on_driver=1), "LINE": 3, "faults": 2, "BATCH": 1},
    {"sink": UserCode(in_tasks=1), "WORK": 3, "faults": 1},
    {"sink": UserCode(in_tasks=1), "WORK": 2, "faults": 2, "BATCH": 1},
    {
        "sink": UserCode(on_driver=1, in_tasks=1, committer=1),
        "LINE": 3,
        "WORK": 2,
        "UNDO": 4,
        "BATCH": 1,
    },
    {"sink": UserCode()},
]


def words(found):
    """Give what happens in each interleaving that outlives a crash."""
    return sorted(
        tuple(str(one.trace.events[at]) for at in one.word) for one in found.classes
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_they_are_just_those_that_the_model_has(shape):
    """Enumerated in full they are the same, and each can happen."""
    protocol = InstrumentedMicroBatch(**shape)

    found, full = expanded(protocol), interleavings(protocol)

    assert words(found) == words(full)
    assert sum(one.size for one in found.classes) == sum(o.size for o in full.classes)
    assert [one.number for one in found.classes] == list(
        range(1, len(full.classes) + 1)
    )
    for one in found.classes:
        follow(Interpreter(protocol), one.trace.start, one.trace.events)


def test_code_may_have_very_many_points():
    """What is installed is followed, and has lines without number."""
    found = expanded(
        InstrumentedMicroBatch(sink=UserCode(on_driver=1, in_tasks=1), WORK=900)
    )

    assert len(found.classes) > 900


def test_too_many_are_refused_with_what_to_do():
    """And not enumerated for hours."""
    with pytest.raises(UsageError, match="ask for fewer faults"):
        expanded(InstrumentedMicroBatch(sink=UserCode(on_driver=1), LINE=900, faults=2))
