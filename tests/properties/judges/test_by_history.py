"""Claims about steps, judged of what was observed of a real run."""

from __future__ import annotations

import pytest

from onceproof.properties.judges.by_history import broken
from onceproof.properties.ledger import EventOutcome, History, Row
from onceproof.properties.property import Clause, Property

GROWS = Property(
    "grows",
    (
        Clause(
            "step",
            "with every step more is visible",
            lambda before, after: total(before) < total(after),
        ),
    ),
)


def total(ledger):
    """Count what is visible of all events."""
    return sum(ledger.visible(event) for event in ledger.events())


def history(*seen, unexplained=()):
    """Observe one event, so often visible at each moment."""
    outcomes = tuple(EventOutcome(promised=False, visible=times) for times in seen)
    return History(
        moments=tuple(f"moment {n}" for n in range(len(seen))),
        rows=(Row(unit=0, accepted=True, outcomes=outcomes),),
        unexplained=unexplained or (0,) * len(seen),
    )


@pytest.mark.parametrize(
    ("seen", "unexplained", "expected"),
    [
        ((0, 1, 2), (), None),
        ((0, 1, 1), (), None),
        ((1, 1), (), None),
        ((0, 1, 0), (), (0, 2)),
        ((0, 1, 1), (0, 0, 1), (0, 2)),
    ],
)
def test_from_a_moment_to_one_that_is_alike_there_is_no_step(
    seen, unexplained, expected
):
    """A step is a change: of an event, or of effects that belong to none."""
    assert broken(GROWS, history(*seen, unexplained=unexplained)) == expected
