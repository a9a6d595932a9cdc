"""What readers see is said with its number, its total and its moment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceproof.properties.guarantees import ATOMIC_VISIBILITY, EFFECTIVELY_ONCE
from onceproof.properties.ledger import EventOutcome, History, Row
from onceproof.properties.words.readers import (
    at_moment,
    breach,
    readers_see,
)

STRAY = "1 row that should not be there"


def history(*seen, strays=0):
    rows = tuple(
        Row(0, True, (EventOutcome(True, times),), number) for times, number in seen
    )
    return History(("at rest",), rows, (strays,), rested=True)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (history((1, 8)), "readers see all 8 events once"),
        (history((1, 1)), "readers see 1 event once"),
        (history((1, 4), (2, 4)), "readers see 4 of 8 events twice"),
        (
            history((0, 2), (1, 4), (3, 2)),
            "readers see 2 of 8 events not at all and 2 others 3 times",
        ),
        (
            history((1, 8), strays=3),
            "readers see all 8 events once and 3 rows that should not be there",
        ),
        (
            history((0, 1), (2, 1), strays=1),
            f"readers see 1 of 2 events not at all, 1 other twice and {STRAY}",
        ),
        (
            replace(history((0, 2)), counted="row"),
            "readers see 2 of 2 rows not at all",
        ),
        (
            replace(history((0, 2)), unread=(0,), errors=("ValueError: half a file",)),
            "the reader failed: ValueError: half a file",
        ),
        (
            replace(history((0, 2)), unread=(0,)),
            "the reader failed: it raised an error",
        ),
    ],
)
def test_readers_see_so_many_of_all_events(found, message):
    """What is seen once is not worth a word, unless all is."""
    assert readers_see(found, 0) == message


def test_a_query_that_never_came_to_its_end_is_not_said_to_have_finished():
    """The last look at it is after its last restart."""
    assert at_moment("at rest") == "after the query finished"
    assert at_moment("at rest", rested=False) == "after the last restart"
    assert at_moment("after crash()", rested=False) == "after crash()"


def test_a_guarantee_that_counts_do_not_show_is_explained():
    """Half of a unit is no wrong count by itself."""
    assert breach(EFFECTIVELY_ONCE, 0, "seen") == "seen"
    meaning = ATOMIC_VISIBILITY.clauses[0].text
    assert breach(ATOMIC_VISIBILITY, 0, "seen") == (
        f"seen; atomic-visibility means that {meaning}"
    )
