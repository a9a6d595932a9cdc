"""What would refute a sink is replayed again, and what failed by our doing is, too."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from types import SimpleNamespace

import pytest

from onceproof.properties.guarantees import (
    AT_LEAST_ONCE,
    EFFECTIVELY_ONCE,
    GUARANTEES,
)
from onceproof.properties.judges.by_history import broken
from onceproof.properties.ledger import EventOutcome, History, Row
from onceproof.properties.schema import read_as
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.replay.confirmation import RUNS, Helps, confirm
from onceproof.spark_checks.replay.outcome import Outcome, RunRecord, UnjudgedOutcome
from onceproof.spark_checks.replay.sink_report import SinkReport

ONES = [SimpleNamespace(number=n) for n in (1, 2)]


def history(*visible, **rest):
    outcomes = tuple(EventOutcome(promised=True, visible=n) for n in visible)
    moments = ("after a fault",) * (len(visible) - 1) + ("at rest",)
    row = Row(0, accepted=True, outcomes=outcomes)
    return History(moments, (row,), (0,) * len(visible), **rest)


def outcome(one, *visible, **rest):
    return Outcome(one, None, history(*visible, **rest), (), 0.0)


@dataclass
class Anew:
    found: list
    asked: list = field(default_factory=list)

    def __call__(self, one):
        self.asked.append(one.number)
        return outcome(one, self.found.pop(0))


def report(*outcomes):
    model = SimpleNamespace(verdicts={})
    made = SinkReport(None, None, None, model, None, outcomes=list(outcomes))
    made.__dict__["_smallest"] = SimpleNamespace(of=lambda one: one.number)
    return made


def test_what_breaks_again_is_refuted():
    """One more run is enough."""
    found = report(outcome(ONES[0], 1), outcome(ONES[1], 2))
    anew = Anew([2])

    confirm(found, [EFFECTIVELY_ONCE, EFFECTIVELY_ONCE], anew)

    assert anew.asked == [2]
    assert found.verdict(EFFECTIVELY_ONCE) is Verdict.REFUTED
    assert not found.missed


@pytest.mark.parametrize(
    ("others", "message"), [([1, 1], "1 of 3"), ([1, 2], "2 of 3")]
)
def test_what_does_not_break_again_decides_nothing(others, message):
    """It is neither refuted nor held, and told with its share of runs."""
    found = report(outcome(ONES[0], 2), outcome(ONES[1], 1))

    confirm(found, [EFFECTIVELY_ONCE], Anew(list(others)))

    assert found.verdict(EFFECTIVELY_ONCE) is Verdict.UNDECIDED
    assert found.unsteady == {
        "effectively-once": {1: f"breaks effectively-once in {message} runs"}
    }
    assert found.missed == found.outcomes[:1]
    assert len(found.again[1]) == RUNS - 1


def test_the_next_that_breaks_refutes():
    """What is unsteady does not hide what is not."""
    found = report(outcome(ONES[0], 2), outcome(ONES[1], 2))
    anew = Anew([1, 1, 2])

    confirm(found, [EFFECTIVELY_ONCE], anew)

    assert anew.asked == [1, 1, 2]
    assert found.verdict(EFFECTIVELY_ONCE) is Verdict.REFUTED


def failed(reason, *, again=True):
    return UnjudgedOutcome(
        Outcome(ONES[0], None, None, (), 0.0, not_replayed=reason, again=again)
    )


def test_what_failed_by_our_doing_is_tried_again():
    """Once; the second run is the one that counts."""
    well = UnjudgedOutcome(outcome(ONES[0], 1))
    runs = [failed("a lost connection"), well]

    found = Helps().tried(lambda: runs.pop(0))

    assert found.outcome == replace(well.outcome, failed_first="a lost connection")
    assert not runs


def test_what_fails_twice_is_not_tried_for_ever():
    """The reason is told, and others that fail for it are not tried again."""
    helps = Helps()
    runs = [failed("it hangs"), failed("it hangs"), failed("it hangs")]

    first = helps.tried(lambda: runs.pop(0))
    second = helps.tried(lambda: runs.pop(0))

    assert not runs
    assert {r.outcome.not_replayed for r in (first, second)} == {"it hangs"}


def test_what_failed_by_the_sinks_doing_is_not_tried_again():
    """It would be the same."""
    one = failed("never injected", again=False)
    runs = [one]

    assert Helps().tried(lambda: runs.pop(0)) is one


@pytest.mark.parametrize(
    ("seen", "unread", "breaks"),
    [
        ((0, 1), (0,), None),
        ((1, 0), (1,), None),
        ((2, 0), (1,), 0),
        ((1, 0), (), 1),
    ],
)
def test_nothing_is_broken_where_nobody_could_read(seen, unread, breaks):
    """A reader that fails has not seen nothing."""
    found = broken(EFFECTIVELY_ONCE, history(*seen, unread=unread))

    assert (found and found[1]) == breaks


def test_a_run_that_does_not_end_has_not_recovered_whoever_reads():
    """That is known without readers."""
    from onceproof.properties.guarantees import RECOVERABLE

    found = history(0, unread=(0,), rested=False)

    assert broken(RECOVERABLE, found)
    assert not broken(AT_LEAST_ONCE, replace(found, rested=True))


def test_what_cannot_be_read_at_the_end_holds_nothing():
    """The reason is kept."""
    told = RunRecord((), "", "at rest", unreadable="ValueError: half a file")
    blind = replace(outcome(ONES[0], 0, unread=(0,)), runs=(told,))
    found = report(blind, outcome(ONES[1], 1))

    assert found.verdict(EFFECTIVELY_ONCE) is Verdict.UNDECIDED
    assert found.missed == [blind]
    assert blind.unread == "ValueError: half a file"


def two_events(unread, one, other):
    """Observe two events of one batch at two moments; ``one`` and ``other`` say how
    often each was visible where nobody read."""
    rows = [
        Row(
            0,
            accepted=True,
            outcomes=tuple(
                EventOutcome(promised=True, visible=hidden if i in unread else 1)
                for i in range(2)
            ),
        )
        for hidden in (one, other)
    ]
    return History(("after a fault", "at rest"), tuple(rows), (0, 0))


@pytest.mark.parametrize("prop", GUARANTEES, ids=lambda prop: prop.name)
@pytest.mark.parametrize("unread", [(0,), (1,), (0, 1)], ids=str)
def test_a_guarantee_is_held_only_if_each_moment_it_speaks_of_was_read(prop, unread):
    """It is held where nothing that readers might have seen there would break it."""
    blind = replace(two_events(unread, 0, 0), unread=unread)
    found = report(Outcome(ONES[0], None, blind, (), 0.0), outcome(ONES[1], 1))

    hidden = [two_events(unread, *seen) for seen in product(range(3), repeat=2)]
    might_break = any(broken(prop, one) for one in hidden)

    assert might_break or unread == (0,)
    assert found.verdict(prop) is (Verdict.UNDECIDED if might_break else Verdict.HELD)


def test_what_breaks_where_somebody_could_read_is_refuted():
    """A moment that nobody could read does not excuse another."""
    found = report(outcome(ONES[0], 1, 2, unread=(0,)))

    assert found.verdict(EFFECTIVELY_ONCE) is Verdict.REFUTED


def test_a_history_says_in_a_file_what_could_not_be_read():
    """It comes back as it was."""
    found = history(1, 0, unread=(1,))

    data = json.loads(json.dumps(asdict(found)))

    assert read_as(History, data) == found
