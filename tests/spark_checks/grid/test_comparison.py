"""What readers see is judged by batch equivalence: missing, wrong and repeated rows."""

from __future__ import annotations

import pytest

from onceproof.properties.guarantees import BATCH_EQUIVALENCE, RECOVERABLE
from onceproof.properties.judges.by_history import broken
from onceproof.spark_checks.grid.comparison import Comparison


def _row(key, total):
    return (("key", key), ("total", str(total)))


A, B, WRONG = _row("a", 1), _row("b", 2), _row("b", 3)


@pytest.mark.parametrize(
    ("seen", "right"),
    [
        ((A, B), True),
        ((B, A), True),
        ((A,), False),
        ((A, WRONG), False),
        ((A, B, B), False),
        ((A, B, WRONG), False),
    ],
)
def test_readers_must_see_just_what_the_batch_run_shows(seen, right):
    """A row that is missing, wrong or there twice breaks it."""
    history = Comparison((A, B), seen).history("at rest", rested=True)

    assert (broken(BATCH_EQUIVALENCE, history) is None) == right


@pytest.mark.parametrize(("times", "right"), [(1, False), (2, True), (3, False)])
def test_equal_rows_count_as_often_as_they_are_expected(times, right):
    """A query may show one row twice."""
    compared = Comparison((A, A), (A,) * times)

    history = compared.history("at rest", rested=True)

    assert compared.equal == right
    assert (broken(BATCH_EQUIVALENCE, history) is None) == right
    assert sum(row.events for row in history.rows) == 2
    assert sum(n * times for times, n in history.seen(0).items()) == times


def test_a_query_that_does_not_come_back_is_not_recoverable():
    """Whatever it has written before."""
    compared = Comparison((A, B), (A, B))

    assert broken(RECOVERABLE, compared.history("at rest", rested=True)) is None
    assert broken(RECOVERABLE, compared.history("at rest", rested=False))
