"""The agent at the steps of state stores: each is seen, and a driver dies at it."""

from __future__ import annotations

import pytest
from pyspark.errors import StreamingQueryException

from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.session.java.agent.agent import StepRule, missing_agent
from onceproof.spark_checks.session.java.agent.step_report import read_steps
from onceproof.spark_checks.session.session_pool import SessionPool

pytestmark = [pytest.mark.spark, pytest.mark.ci]

STATE = "org.apache.spark.sql.execution.streaming.state"
PROVIDERS = {
    "HDFS": f"{STATE}.HDFSBackedStateStoreProvider",
    "RocksDB": f"{STATE}.RocksDBStateStoreProvider",
}
ROWS, BATCHES, PARTITIONS = 10, 4, 2
OFTEN = "50ms"


@pytest.fixture(scope="module")
def session():
    """Give a session with the agent."""
    if missing_agent():
        pytest.skip(missing_agent())
    pool = SessionPool(ENTRY_POINTS, agent=True)
    with pool.session(attempts=2, partitions=PARTITIONS) as made:
        yield made
    pool.close()


@pytest.fixture
def query(session, tmp_path):
    """Run a query that keeps each id once; a run of it may have rules."""
    forked = session.spark.newSession()
    source = tmp_path / "in"
    for _ in range(BATCHES):
        forked.range(0, ROWS, 1, 1).write.mode("append").parquet(str(source))
    (tmp_path / "marks").mkdir()

    def run(provider, number, rules=()):
        conf = forked.conf
        conf.set("spark.sql.streaming.stateStore.providerClass", PROVIDERS[provider])
        conf.set("spark.sql.streaming.stateStore.maintenanceInterval", OFTEN)
        conf.set("spark.sql.shuffle.partitions", PARTITIONS)
        context = forked.sparkContext
        context.setLocalProperty("onceproof.run", tmp_path.name)
        session.agent.arm(
            tmp_path.name, number, tmp_path, tmp_path / "marks", list(rules), 20.0
        )
        try:
            started = (
                forked.readStream.schema("id long")
                .option("maxFilesPerTrigger", 1)
                .parquet(str(source))
                .dropDuplicates(["id"])
                .writeStream.trigger(availableNow=True)
                .option("checkpointLocation", str(tmp_path / "checkpoint"))
                .format("parquet")
                .start(str(tmp_path / "out"))
            )
        finally:
            context.setLocalProperty("onceproof.run", None)
        try:
            started.awaitTermination(60)
        finally:
            session.agent.disarm(tmp_path.name)

    run.seen = lambda: sorted(
        row.id for row in forked.read.parquet(str(tmp_path / "out")).collect()
    )
    return run


@pytest.mark.grid
@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_version_of_the_state_is_a_step(provider, query, tmp_path):
    query(provider, 0)

    steps = read_steps(tmp_path)
    commits = [
        (one.batch, one.partition)
        for one in steps
        if (one.step, one.event) == ("commit_state", "return")
    ]
    assert sorted(commits) == [
        (batch, partition)
        for batch in range(BATCHES)
        for partition in range(PARTITIONS)
    ]
    assert "maintenance" in {one.step for one in steps}
    assert query.seen() == list(range(ROWS))


@pytest.mark.parametrize("event", ["call", "return"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_driver_that_dies_as_state_is_committed_goes_on_from_it(
    provider, event, query, tmp_path
):
    """Before and after the step: the next run sees each id once."""
    dies = StepRule("commit_state", event, 1, "die", partition=1, mark="0-stopped")

    with pytest.raises(StreamingQueryException):
        query(provider, 0, [dies])
    first = read_steps(tmp_path)
    query(provider, 1)

    assert (tmp_path / "marks" / "0-stopped").exists()
    assert ("log_commit", "return", 1) not in {
        (one.step, one.event, one.batch) for one in first
    }
    again = [one for one in read_steps(tmp_path) if one.run == 1]
    committed = {one.batch for one in again if one.step == "commit_state"}
    assert committed == set(range(1, BATCHES))
    assert query.seen() == list(range(ROWS))
