"""What would refute a sink is replayed again, and what failed by our doing is, too."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from types import SimpleNamespace

import pytest

from onceproof.properties.guarantees import (
    AT_LEAST_ONCE,
    AT_MOST_ONCE,
    EFFECTIVELY_ONCE,
    GUARANTEES,
)
from onceproof.properties.judges.by_history import broken
from onceproof.properties.ledger import EventOutcome, History, Row
from onceproof.properties.schema import read_as
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.plan.run_plan import InterleavingPlan
from onceproof.spark_checks.replay.confirmation import RUNS, Findings, Retries
from onceproof.spark_checks.replay.deviation import Deviation
from onceproof.spark_checks.replay.outcome import Outcome
from onceproof.spark_checks.replay.run_evidence import RunEvidence, RunRecord
from onceproof.spark_checks.replay.sink_report import SinkReport
from onceproof.spark_checks.replay.smallest import Smallest

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

    def __call__(self, some):
        self.asked += [[one.number for one in some]] * bool(some)
        return [outcome(one, self.found.pop(0)) for one in some]


class ByNumber(Smallest):
    """Compares interleavings by their numbers alone."""

    def __init__(self):
        pass

    def of(self, one):
        return one.number


def findings(*outcomes):
    made = Findings(ByNumber())
    made.outcomes.extend(outcomes)
    return made


def report(found):
    model = SimpleNamespace(verdicts={})
    outcomes, unsteady = tuple(found.outcomes), found.unsteady
    made = SinkReport(None, None, None, model, None, outcomes, unsteady=unsteady)
    made.__dict__["_smallest"] = ByNumber()
    return made


def test_what_breaks_again_is_refuted():
    """One more run is enough."""
    found = findings(outcome(ONES[0], 1), outcome(ONES[1], 2))
    anew = Anew([2])

    found.confirm([EFFECTIVELY_ONCE, EFFECTIVELY_ONCE], anew)

    assert anew.asked == [[2]]
    assert report(found).verdict(EFFECTIVELY_ONCE) is Verdict.REFUTED
    assert not report(found).missed


@pytest.mark.parametrize(
    ("others", "message"), [([1, 1], "1 of 3"), ([1, 2], "2 of 3")]
)
def test_what_does_not_break_again_decides_nothing(others, message):
    """It is neither refuted nor held, and reported with its share of runs."""
    found = findings(outcome(ONES[0], 2), outcome(ONES[1], 1))

    found.confirm([EFFECTIVELY_ONCE], Anew(list(others)))

    assert report(found).verdict(EFFECTIVELY_ONCE) is Verdict.UNDECIDED
    assert found.unsteady == {
        "effectively-once": {1: f"breaks effectively-once in {message} runs"}
    }
    assert report(found).missed == found.outcomes[:1]
    assert len(found.again[1]) == RUNS - 1


def test_the_next_that_breaks_refutes():
    """What is unsteady does not hide what is not."""
    found = findings(outcome(ONES[0], 2), outcome(ONES[1], 2))
    anew = Anew([1, 1, 2])

    found.confirm([EFFECTIVELY_ONCE], anew)

    assert anew.asked == [[1], [1], [2]]
    assert report(found).verdict(EFFECTIVELY_ONCE) is Verdict.REFUTED


def test_what_breaks_several_claims_is_replayed_side_by_side():
    """Two runs that do not wait for each other, and no third."""
    found = findings(outcome(ONES[0], 2), outcome(ONES[1], 0))
    anew = Anew([2, 0])

    found.confirm([AT_MOST_ONCE, AT_LEAST_ONCE, EFFECTIVELY_ONCE], anew)

    assert anew.asked == [[1, 2]]
    assert report(found).verdict(AT_MOST_ONCE) is Verdict.REFUTED
    assert report(found).verdict(AT_LEAST_ONCE) is Verdict.REFUTED


def left(reason="", *, again=True, failed_first="", folder=None):
    """Make the evidence of a run: it went as planned without a ``reason``."""
    deviation = Deviation(reason, help=bool(reason) and again)
    plan = InterleavingPlan(ONES[0])
    return RunEvidence(plan, deviation, folder, failed_first=failed_first)


@dataclass
class Runs:
    """Gives what each run left, one after the other."""

    reasons: list
    again: bool = True
    made: list = field(default_factory=list)

    def __call__(self, failed_first):
        reason = self.reasons.pop(0)
        one = left(reason, again=self.again, failed_first=failed_first)
        self.made.append(one)
        return one


def test_what_failed_by_our_doing_is_tried_again():
    """Once; the second run is the one that counts, and says why the first failed."""
    runs = Runs(["a lost connection", ""])

    found = Retries().tried(runs)

    assert found is runs.made[1]
    assert found.failed_first == "a lost connection"


def test_what_fails_twice_is_not_tried_for_ever():
    """The reason is kept, and others that fail for it are not tried again."""
    retries = Retries()
    runs = Runs(["it hangs", "it hangs", "it hangs"])

    first, second = retries.tried(runs), retries.tried(runs)

    assert first is runs.made[0]
    assert second is runs.made[2]
    assert not runs.reasons


def test_what_failed_by_the_sinks_doing_is_not_tried_again():
    """It would be the same."""
    runs = Runs(["never injected"], again=False)

    assert Retries().tried(runs) is runs.made[0]


@pytest.mark.parametrize("second", ["", "it hangs"])
def test_of_two_runs_one_folder_stays(tmp_path, second):
    """It is the folder of the run that counts."""
    folders = [tmp_path / "first", tmp_path / "second"]
    runs = []

    def go(failed_first):
        folder = folders[len(runs)]
        folder.mkdir()
        reason = second if runs else "it hangs"
        runs.append(left(reason, failed_first=failed_first, folder=folder))
        return runs[-1]

    found = Retries().tried(go)

    assert [folder for folder in folders if folder.exists()] == [found.folder]


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
    last = RunRecord((), "", "at rest", unreadable="ValueError: half a file")
    blind = replace(outcome(ONES[0], 0, unread=(0,)), runs=(last,))
    found = report(findings(blind, outcome(ONES[1], 1)))

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
    found = report(
        findings(Outcome(ONES[0], None, blind, (), 0.0), outcome(ONES[1], 1))
    )

    hidden = [two_events(unread, *seen) for seen in product(range(3), repeat=2)]
    might_break = any(broken(prop, one) for one in hidden)

    assert might_break or unread == (0,)
    assert found.verdict(prop) is (Verdict.UNDECIDED if might_break else Verdict.HELD)


def test_what_breaks_where_somebody_could_read_is_refuted():
    """A moment that nobody could read does not excuse another."""
    found = report(findings(outcome(ONES[0], 1, 2, unread=(0,))))

    assert found.verdict(EFFECTIVELY_ONCE) is Verdict.REFUTED


def test_a_history_says_in_a_file_what_could_not_be_read():
    """It comes back as it was."""
    found = history(1, 0, unread=(1,))

    data = json.loads(json.dumps(asdict(found)))

    assert read_as(History, data) == found
