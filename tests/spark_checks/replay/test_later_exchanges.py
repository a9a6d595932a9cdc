"""Exchanges that a sink's code has only after a fault can be cut by a second one."""

from __future__ import annotations

import pytest

from onceproof.spark_checks.replay.later_exchanges import with_later_exchanges
from onceproof.spark_checks.replay.run_evidence import Resumed, RunRecord, Sent
from onceproof.spark_checks.sinks.exchanges import (
    BEYOND,
    THREADS,
    Exchange,
    SeenExchanges,
    of_task,
)
from tests.spark_checks.replay.test_recovery import (
    AGAIN,
    FIRST,
    after,
    after_a_task,
    run,
)

REPAIR = Exchange("line 9", 1, 1, 1, 1)


@pytest.mark.parametrize("partition", [None, 1])
def test_the_exchanges_of_a_second_try_are_cut_after_the_first_one_only(partition):
    """They come after all others, and the fault that leads to them is known."""
    driver = partition is None
    every = {0: (FIRST,)} if driver else {}
    seen = SeenExchanges(every, {} if driver else {(0, 1): (FIRST,)})
    members = (0, 1) if driver else (0, 0, 0, 1)

    lost = Resumed(0, -1 if driver else 1, (), (FIRST, AGAIN))
    found = with_later_exchanges(seen, [after_a_task(members, lost)])

    assert found.later == {(0, partition): (AGAIN,)}
    [keys] = found.caught.values()
    assert keys == {AGAIN.key}
    sort = "DRIVER_EXCHANGE" if driver else "TASK_EXCHANGE"
    assert found.sizes[sort] == 3
    assert found.sizes[sort] == 1 + seen.sizes[sort]


def restarted(fault, *exchanges, batch=0, partition=-1, **uncut):
    """Give the outcome of a fault whose restarted run had these exchanges."""
    words = {"threads": THREADS}
    known = {words[name]: number for name, number in uncut.items()}
    sent = (Sent(batch, partition, exchanges),)
    return after(fault, run(fault), RunRecord((), "", "", sent=sent, uncut=known))


@pytest.mark.parametrize("partition", [None, 1])
def test_an_exchange_of_a_restarted_run_is_added_with_the_faults_that_lead_to_it(
    partition,
):
    """It comes last, once, and no fault is known to lead to what was there before."""
    driver, number = partition is None, -1 if partition is None else 1
    every = {0: (FIRST,)} if driver else {}
    tasks = {} if driver else {(0, 1): (FIRST,)}
    seen = SeenExchanges(every, tasks, sent={(0, partition): {FIRST.alike: 1}})
    both = (FIRST, REPAIR)
    outcomes = [restarted(f, *both, partition=number) for f in ("crash(1)", "fail(2)")]

    found = with_later_exchanges(seen, outcomes)

    assert found.later == {(0, partition): (REPAIR,)}
    assert found.leads == {(0, partition, REPAIR.key): {"crash(1)", "fail(2)"}}
    assert found.places == {FIRST.place, REPAIR.place}
    assert not found.unknown


def test_what_another_batch_has_without_a_fault_is_new_in_this_one():
    """A process that starts with batch 1 sets up what batch 0 did before."""
    seen = SeenExchanges({0: (FIRST,)}, sent={(0, None): {FIRST.alike: 1}})

    found = with_later_exchanges(seen, [restarted("crash(1)", FIRST, batch=1)])

    assert found.of_driver(1) == (FIRST,)
    assert found.places == {FIRST.place}


@pytest.mark.parametrize("partition", [None, 1])
def test_a_part_of_the_code_that_exchanges_something_after_a_fault_alone_is_cut(
    partition,
):
    """Without a fault only the others do, or nobody does in that batch."""
    driver, number = partition is None, -1 if partition is None else 1
    others = SeenExchanges(
        {} if driver else {0: (FIRST,)}, {(0, 0): (FIRST,)} if driver else {}
    )
    outcomes = [restarted("crash(1)", REPAIR, AGAIN, batch=1, partition=number)]

    found = with_later_exchanges(others, outcomes)

    sort = "DRIVER_EXCHANGE" if driver else "TASK_EXCHANGE"
    assert found.sizes[sort] == 3
    assert found.places == {FIRST.place, REPAIR.place, AGAIN.place}


def test_a_point_that_a_repair_reaches_more_often_is_new_there():
    """The first time is known, and the second is not."""
    seen = SeenExchanges({0: (FIRST,)}, sent={(0, None): {FIRST.alike: 1}})

    found = with_later_exchanges(seen, [restarted("crash(1)", FIRST, AGAIN)])

    assert found.later == {(0, None): (AGAIN,)}


def test_another_task_that_sends_the_same_is_not_new():
    """After a restart with one partition its task has what all had."""
    one, other = (
        Exchange("line 1", 1, 1, 1, 1, sender=of_task(number)) for number in (0, 1)
    )
    seen = SeenExchanges({0: (one,)}, sent={(0, None): {one.alike: 1}})

    assert not with_later_exchanges(seen, [restarted("crash(1)", other)]).leads


def test_what_a_restarted_run_sends_and_nobody_can_cut_is_unknown():
    """It counts once, as the most that any run has, and not if it was known before."""
    outcomes = [restarted("crash(1)", threads=2), restarted("crash(2)", threads=1)]
    known = SeenExchanges(not_cut={THREADS: 1})

    assert with_later_exchanges(SeenExchanges(), outcomes).not_cut == {THREADS: 2}
    assert with_later_exchanges(known, outcomes).not_cut == {THREADS: 1}


def test_of_too_many_exchanges_of_a_repair_those_in_the_middle_are_unknown():
    """As for a line that sends as many without a fault."""
    many = [Exchange("line 9", 1, n, 1, n) for n in range(1, 73)]

    found = with_later_exchanges(SeenExchanges(), [restarted("crash(1)", *many)])

    assert len(found.later[0, None]) == 64
    assert found.not_cut == {BEYOND: 8}
