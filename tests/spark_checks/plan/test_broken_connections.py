"""A fault that breaks a connection becomes a rule for an exchange of a run."""

from __future__ import annotations

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.protocols.micro_batch import MicroBatchUnreliable
from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.model.protocols.parts.sinks.batch_ledger import (
    BatchLedger,
    LedgerLookedUpOnce,
)
from onceproof.model.protocols.parts.sinks.upsert import Upsert
from onceproof.properties.judges.by_search import check
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.plan.planner import realise
from onceproof.spark_checks.plan.rules import CUTS, LOSE_REPLY, LOSE_REQUEST
from onceproof.spark_checks.plan.run_plan import NotReplayable
from tests.spark_checks.plan.test_fault_kinds import Kind, own_code, writes_again

ON_DRIVER = (LedgerLookedUpOnce, {"sink.write_batch": "write"})
IN_TASKS = (Append, {"write": "insert"})


def planned(sink, faults=1, attempts=1):
    """Give each interleaving's faults by name, its runs, and what they cut."""
    protocol = protocol_of(sink, Sizes(1, 1, 0, attempts), faults=faults)
    for one in interleavings(protocol).classes:
        names = tuple(one.trace.events[at].name for at in one.faults)
        try:
            runs = realise(one, protocol, sink, Kind())
        except NotReplayable:
            continue
        rules = [[rule for rule in run.rules if rule.do in CUTS] for run in runs]
        yield names, runs, rules


@pytest.mark.parametrize(
    ("model", "fault", "do", "point"),
    [
        (ON_DRIVER, "lose_commit_request", LOSE_REQUEST, "write()"),
        (ON_DRIVER, "lose_commit_reply", LOSE_REPLY, "write()"),
        (IN_TASKS, "lose_request", LOSE_REQUEST, "insert()"),
        (IN_TASKS, "lose_reply", LOSE_REPLY, "insert()"),
    ],
)
def test_code_that_tries_again_goes_on_in_its_run(model, fault, do, point):
    """The last exchange of the step is cut; the run does not end by it."""
    found = [
        (runs, rules)
        for names, runs, rules in planned(writes_again(*model))
        if names == (fault,)
    ]

    assert found
    for runs, rules in found:
        assert len(runs) == 1
        [rule] = rules[0]
        assert (rule.do, rule.line, rule.exchange, rule.nth) == (do, point, 3, 1)
        assert not runs[0].fails
        assert [due.mark for due in runs[0].expected if due.fault] == [rule.mark]


def test_code_that_raises_ends_its_run():
    """Spark starts again then, as after any error."""
    sink = writes_again(*ON_DRIVER)
    raising = type(sink)(**{**vars(sink), "parameters": {"retries": 0}})

    found = [
        runs for names, runs, _ in planned(raising) if names == ("lose_commit_reply",)
    ]

    assert [len(runs) for runs in found] == [2]
    assert found[0][0].fails


def test_a_call_that_was_tried_again_is_counted():
    """The second of two faults hits the second call."""
    both = [
        rules[0]
        for names, _, rules in planned(writes_again(*ON_DRIVER), faults=2)
        if names == ("lose_commit_request", "lose_commit_reply")
    ]

    assert both
    for first, second in both:
        assert (first.nth, second.nth) == (1, 2)


def test_own_code_combines_with_a_crash():
    """A lost reply after a crash, and a crash after a lost reply."""
    kinds = {
        names: sum(len(some) for some in rules)
        for names, _, rules in planned(own_code(), faults=2)
    }

    assert kinds["crash", "lose_reply_in_commit"] == 1
    assert kinds["lose_reply_in_commit", "crash"] == 1
    assert kinds["lose_reply_in_commit", "lose_reply_in_commit"] == 2


def test_the_story_names_the_exchange():
    """By its connection, and by the line that sent it."""
    [[how]] = {
        runs[0].how
        for names, runs, _ in planned(own_code())
        if names == ("lose_reply_in_commit",)
    }

    assert how == (
        "the store answered request 1 of connection 1 (sent at line 2 of x.py, "
        "batch 0); the answer was lost"
    )


@pytest.mark.parametrize("faults", [1, 2])
@pytest.mark.parametrize(
    ("sink", "retries", "broken"),
    [
        (LedgerLookedUpOnce, 1, {"at-most-once", "effectively-once"}),
        (LedgerLookedUpOnce, 0, set()),
        (BatchLedger, 1, set()),
        (Upsert, 1, {"atomic-visibility"}),
        (Append, 1, {"at-most-once", "effectively-once", "atomic-visibility"}),
    ],
)
def test_the_same_guarantees_judge_it(sink, retries, broken, faults):
    """Who looks up once is wrong only where it tries again by itself."""
    found = check(MicroBatchUnreliable(sink=sink, retries=retries, faults=faults))

    assert {n for n, v in found.verdicts.items() if not v.holds} == broken
