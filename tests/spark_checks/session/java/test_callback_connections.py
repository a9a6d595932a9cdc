"""A replay leaves no connection of Java's behind, and no thread that waits on it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.session.java.callback_connections import (
    CallbackConnections,
)
from onceproof.spark_checks.sinks.reference import reference_sinks

pytestmark = pytest.mark.spark


def started(spark, folder, handle):
    """Run a query over one row to its end."""
    (folder / "in").mkdir()
    (folder / "in" / "rows.txt").write_text("a\n", encoding="utf-8")
    events = spark.readStream.text(str(folder / "in"))
    writer = events.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    return writer.trigger(availableNow=True).foreachBatch(handle).start()


def test_a_query_that_has_ended_has_no_thread_here(pool, tmp_path):
    """The thread that served its calls lives on until its connection is closed."""
    connections, served = CallbackConnections(), []

    def handle(batch, _):
        served.append(threading.current_thread())
        batch.count()

    with pool.session(attempts=2, partitions=2) as warm:
        query = started(warm.spark, tmp_path, connections.noting(handle))
        assert query.awaitTermination(120)
        before = [thread.is_alive() for thread in served]
        connections.close()
        for thread in served:
            thread.join(10)

    assert before == [True]
    assert [thread.is_alive() for thread in served] == [False]


def test_a_call_from_elsewhere_has_no_connection(pool):
    """A thread of Python's own keeps the connection by which it asks Java."""
    connections = CallbackConnections()
    with pool.session(attempts=2, partitions=2) as warm:
        connections.note()
        connections.close()

        assert warm.spark.range(3).count() == 3


def test_a_replay_leaves_no_descriptor_and_no_thread(pool):
    """Each of its runs has a query; a few threads more are of the session."""

    def counted():
        time.sleep(0.5)
        return len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    sink = reference_sinks()["foreach-batch-append"]
    request = ReplayRequest(sizes=Sizes(batches=1))
    replay([sink], lambda _: None, request, pool=pool)
    files, threads = counted()
    [report] = replay([sink], lambda _: None, request, pool=pool)
    more_files, more_threads = counted()

    assert len(report.replayed) > 5
    assert more_files - files < 5
    assert more_threads - threads < 5
