"""A fault that breaks a connection becomes a rule for an exchange of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.protocols.micro_batch_unreliable import MicroBatchUnreliable
from onceproof.model.protocols.parts.sinks.append import Append
from onceproof.model.protocols.parts.sinks.batch_ledger import (
    BatchLedger,
    LedgerLookedUpOnce,
    NumberedLog,
)
from onceproof.model.protocols.parts.sinks.ledger_apart import (
    LedgerAfter,
    PublishedByKey,
)
from onceproof.model.protocols.parts.sinks.open_transactions import OpenTransactions
from onceproof.model.protocols.parts.sinks.upsert import Upsert, UpsertWhole
from onceproof.properties.judges.by_search import check
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.plan.expansion import expanded
from onceproof.spark_checks.plan.planner import realise
from onceproof.spark_checks.plan.rules import (
    CUTS,
    LATE_REQUEST,
    LOSE_REPLY,
    LOSE_REQUEST,
)
from onceproof.spark_checks.plan.run_plan import NotReplayable
from onceproof.spark_checks.sinks.code_points import CodePoint
from onceproof.spark_checks.sinks.exchanges import (
    Exchange,
    SeenExchanges,
    kind_of_request,
)
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
        (ON_DRIVER, "late_commit_request", LATE_REQUEST, "write()"),
        (IN_TASKS, "lose_request", LOSE_REQUEST, "insert()"),
        (IN_TASKS, "lose_reply", LOSE_REPLY, "insert()"),
        (IN_TASKS, "late_request", LATE_REQUEST, "insert()"),
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
    often = replace(writes_again(*ON_DRIVER), parameters={"retries": 2})

    both = [
        rules[0]
        for names, _, rules in planned(often, faults=2)
        if names == ("lose_commit_request", "lose_commit_reply")
    ]

    assert both
    for first, second in both:
        assert (first.nth, second.nth) == (1, 2)


@pytest.mark.parametrize("model", [ON_DRIVER, IN_TASKS])
def test_code_that_tries_again_once_is_not_cut_twice(model):
    """Its last try would raise, and the model has no code that does both."""
    found = [names for names, _, _ in planned(writes_again(*model), faults=2)]

    cut = [names for names in found if all("lose" in name for name in names)]
    assert cut
    assert all(len(set(names)) == len(names) == 1 for names in cut)


def test_a_late_request_arrives_in_the_last_run():
    """Its arrival is a mark of its own, which the run that ends well has to leave."""
    sink = writes_again(*ON_DRIVER)
    raising = type(sink)(**{**vars(sink), "parameters": {"retries": 0}})

    found = [
        (runs, rules)
        for names, runs, rules in planned(raising)
        if names == ("late_commit_request",)
    ]

    assert [len(runs) for runs, _ in found] == [2]
    [(first, last), rules] = found[0]
    arrivals = [due.mark for due in last.expected if due.event == "late_step(0)"]
    assert first.fails
    assert not first.expected
    assert arrivals == [rules[0][0].landed] != [""]


def test_a_late_request_that_arrives_before_a_crash_is_not_replayed():
    """It reaches the store once a run has ended well; the reason says so."""
    sink = writes_again(*IN_TASKS)
    protocol = protocol_of(sink, Sizes(1, 1, 0, 1), faults=2)
    refused = set()
    for one in interleavings(protocol).classes:
        names = [event.name for event in one.trace.events]
        if "late_write" in names and "crash" in names[names.index("late_write") :]:
            with pytest.raises(NotReplayable) as raised:
                realise(one, protocol, sink, Kind())
            refused.add(str(raised.value))

    [why] = refused
    assert why == "a late request reaches the store only once a run has ended well"


def test_own_code_combines_with_a_crash():
    """A lost reply after a crash, and a crash after a lost reply."""
    kinds = {
        names: sum(len(some) for some in rules)
        for names, _, rules in planned(own_code(), faults=2)
    }

    assert kinds["crash", "lose_reply_in_commit"] == 1
    assert kinds["lose_reply_in_commit", "crash"] == 1
    assert kinds["lose_reply_in_commit", "lose_reply_in_commit"] == 2


def caught(*points):
    """Describe code that goes on after a lost reply, and then gets to points."""
    sink = own_code()
    again = CodePoint("line 2 of x.py, write()", 2)
    fault = "catch_lost_reply_in_commit(0, 1)"
    seen = replace(
        sink.seen,
        driver={0: (*sink.seen.driver[0], again)},
        leads={(0, str(again)): frozenset([fault])},
        caught={fault: frozenset(map(str, points))},
    )
    parameters = {**sink.parameters, **seen.sizes, "caught": 1}
    return again, replace(sink, seen=seen, parameters=parameters)


def test_code_that_goes_on_dies_after_the_cut_in_the_same_run():
    """At a line that it runs once more, and before the commit log's entry."""
    again, _ = caught()
    _, sink = caught(again)

    found = [
        (names[1], runs, rules[0])
        for names, runs, rules in planned(sink, faults=2)
        if names[0] == "catch_lost_reply_in_commit"
    ]

    assert {name for name, _, _ in found} >= {"crash", "crash_in_commit"}
    for name, runs, [cut] in found:
        assert [due.mark for due in runs[0].expected if due.fault] == [cut.mark]
        assert runs[0].end_mark is not None
        if name == "crash_in_commit":
            [dies] = [rule for rule in runs[0].rules if rule.do == "die"]
            assert (dies.line, dies.nth, dies.after) == (again.text, 2, cut.mark)


def test_code_that_goes_on_is_not_run_again():
    """A second fault in the batch would never come; nor does one elsewhere."""
    again, _ = caught()
    _, sink = caught(again)
    protocol = protocol_of(sink, Sizes(1, 1, 0, 1), faults=2)
    refused = {}
    for one in expanded(protocol).classes:
        events = [str(one.trace.events[at]) for at in one.faults]
        try:
            realise(one, protocol, sink, Kind())
        except NotReplayable as why:
            refused[tuple(events)] = str(why)

    assert refused["lose_reply_in_commit(0, 1)", "crash_in_commit(0, 1)"] == (
        "the code goes on after that error, so the batch is not run again"
    )
    assert refused["catch_lost_request_in_commit(0, 1)", "crash()"] == (
        "the code was not seen to go on after that broken connection"
    )
    assert refused["catch_lost_reply_in_commit(0, 1)", "crash_in_commit(0, 1)"] == (
        "after the broken connection the code does not get there"
    )
    alone = [events for events in refused if len(events) == 1]
    assert not [one for [one] in alone if one.startswith("catch")]


def test_the_story_names_the_exchange():
    """By its connection, and by the line that sent it."""
    [[how]] = {
        runs[0].how
        for names, runs, _ in planned(own_code())
        if names == ("lose_reply_in_commit",)
    }

    assert how == (
        "the store replied to request 1 of connection 1 (sent at line 2 of x.py, "
        "batch 0); the reply was lost"
    )


@pytest.mark.parametrize("faults", [1, 2])
@pytest.mark.parametrize(
    ("sink", "retries", "broken"),
    [
        (LedgerLookedUpOnce, 1, {"at-most-once", "effectively-once"}),
        (LedgerLookedUpOnce, 0, {"at-most-once", "effectively-once"}),
        (NumberedLog, 1, {"at-most-once", "effectively-once"}),
        (NumberedLog, 0, set()),
        (BatchLedger, 1, set()),
        (BatchLedger, 0, set()),
        (UpsertWhole, 1, set()),
        (Upsert, 1, {"atomic-visibility"}),
        (Append, 1, {"at-most-once", "effectively-once", "atomic-visibility"}),
        (LedgerAfter, 0, {"at-most-once", "effectively-once"}),
        (PublishedByKey, 0, set()),
    ],
)
def test_the_same_guarantees_judge_it(sink, retries, broken, faults):
    """Who looks up once is right where no request is late, and nothing is tried again.

    A log with numbers refuses what is late.
    """
    found = check(MicroBatchUnreliable(sink=sink, retries=retries, faults=faults))

    assert {n for n, v in found.verdicts.items() if not v.holds} == broken


def test_each_step_of_a_commit_may_be_late():
    """Rows that arrive late are there twice; an id that does changes nothing."""
    steps = {"sink.write_rows": "rows", "sink.write_ledger": "ledger"}
    sink = replace(writes_again(LedgerAfter, steps), parameters={"retries": 0})
    rows, ledger = (Exchange(f"{name}()", 1, 3, 1, 3) for name in steps.values())
    sink = replace(sink, exchanges=SeenExchanges({0: (rows, ledger)}))
    protocol = protocol_of(sink, Sizes(1, 1, 0, 1))
    found = {}
    for one in interleavings(protocol).classes:
        [fault] = [one.trace.events[at].name for at in one.faults]
        if fault in ("late_commit_request", "lose_commit_request"):
            [rule] = realise(one, protocol, sink, Kind())[0].rules
            end = Interpreter(protocol).look(one.trace.states[-1])
            found[rule.do, rule.line] = end.sink.rows[0]

    assert found == {
        (LOSE_REQUEST, "rows()"): 1,
        (LATE_REQUEST, "rows()"): 2,
        (LOSE_REQUEST, "ledger()"): 2,
        (LATE_REQUEST, "ledger()"): 2,
    }


@pytest.mark.parametrize(
    ("sink", "late"),
    [(LedgerLookedUpOnce, True), (LedgerAfter, True), (OpenTransactions, False)],
)
def test_a_commit_is_late_where_its_part_says_what_then_happens(sink, late):
    """What is not said is left out of the model, and the protocol's file says so."""
    found = interleavings(MicroBatchUnreliable(sink=sink, BATCH=1, PARTITION=1))

    names = {e.name for one in found.classes for e in one.trace.events}
    assert ("late_commit_request" in names) == late


def test_what_a_client_sends_again_by_itself_is_cut_again():
    """It has the next number of its kind; the sink's function is not called again."""
    last = Exchange(kind_of_request("EndTxn"), 1, 1, 2, 5)
    sink = replace(
        writes_again(*ON_DRIVER),
        exchanges=SeenExchanges({0: (last,)}),
        parameters={"retries": 2},
    )

    [(runs, [[first, second]])] = [
        (runs, rules)
        for names, runs, rules in planned(sink, faults=2)
        if names == ("lose_commit_reply", "lose_commit_reply")
    ]

    assert (first.line, first.nth, first.exchange) == (last.point, 1, 1)
    assert (second.line, second.nth, second.exchange) == (last.point, 1, 2)
    assert runs[0].how[0] == (
        "the store replied to request 5 of connection 2 (the client's EndTxn, "
        "batch 0); the reply was lost"
    )
