"""On a cluster, executors die and tasks are slow: readers see the same as elsewhere."""

from __future__ import annotations

import pytest

from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.plan import ways
from onceproof.spark_checks.plan.choice import Choice
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.session.processes.process_sessions import members
from onceproof.spark_checks.session.session_pool import SessionPool
from tests.spark_checks.steering import SINKS, SMALL, numbered

pytestmark = pytest.mark.spark

NAME = "datasource-staged"
ENDS = ("sink.publish(0)", "log_commit(0)")
WORDS = {
    ways.EXECUTOR_KILLED: (
        "log_offsets(0)",
        "write(0, 0, 0)",
        "fail_task(0, 0, 0)",
        "write(0, 0, 1)",
        "write(0, 1, 0)",
        *ENDS,
    ),
    ways.COPIED: (
        "log_offsets(0)",
        "lose_contact(0, 0, 0)",
        "write(0, 0, 1)",
        "write(0, 1, 0)",
        *ENDS,
        "zombie_write(0, 0, 0)",
    ),
}


@pytest.fixture(scope="module")
def cluster():
    """Give a pool whose session runs on a cluster; none of it is there afterwards."""
    made = SessionPool(ENTRY_POINTS, cluster=True)
    with made.session(attempts=2, partitions=2) as session:
        workers = session.workers
    yield made
    made.close()
    assert not any(members(number) for number in workers)


def replayed(pool, name, only):
    choice = Choice(only=None if only is None else frozenset(only))
    request = ReplayRequest(sizes=SMALL, choice=choice)
    return replay([SINKS[name]], lambda _: None, request, pool=pool)[0]


def assert_alike(shared, clustered):
    """All that readers saw is the same in both ways."""
    others = {o.interleaving.number: o for o in shared.outcomes}
    assert clustered.drift == shared.drift == []
    for outcome in clustered.replayed:
        other = others[outcome.interleaving.number]
        assert outcome.spark.shape() == other.spark.shape(), outcome.failpoints


@pytest.mark.grid
def test_a_killed_executor_and_a_copied_task_show_what_a_dead_task_shows(pool, cluster):
    only = {way: numbered(NAME, *word, faults=1) for way, word in WORDS.items()}
    shared = replayed(pool, NAME, only.values())

    clustered = replayed(cluster, NAME, only.values())

    assert [outcome.not_replayed for outcome in clustered.outcomes] == ["", ""]
    assert_alike(shared, clustered)
    found = {o.interleaving.number: o.ways for o in clustered.outcomes}
    assert found == {number: (way,) for way, number in only.items()}


@pytest.mark.grid
@pytest.mark.parametrize(
    "name",
    ["datasource-staged", "datasource-unprotected", "foreach-writer"],
)
def test_all_interleavings_of_a_sink_are_alike_on_a_cluster(pool, cluster, name):
    shared, clustered = replayed(pool, name, None), replayed(cluster, name, None)

    assert not clustered.missed
    assert len(clustered.replayed) == len(shared.replayed)
    assert_alike(shared, clustered)
