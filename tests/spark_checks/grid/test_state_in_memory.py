"""State that a run has in Java's memory ends with its driver.

Spark's maintenance writes snapshots from that memory: into the checkpoint of the next
cell, if it still has that of the cell before, for both are in one folder.
"""

from __future__ import annotations

import re

import pytest

from onceproof.spark_checks.grid.cell_runs import CellRuns
from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.queries.catalogue import named
from onceproof.spark_checks.queries.configuration import parsed
from onceproof.spark_checks.session import spark_internals
from onceproof.spark_checks.session.java.agent.agent import missing_agent
from onceproof.spark_checks.session.session_pool import SessionPool

RUN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
STORES = "org.apache.spark.sql.execution.streaming.state.StateStore$"


def runs_in_memory():
    """Return the ids of the runs whose state stores Java has."""
    jvm = spark_internals.gateway().jvm
    stores = getattr(jvm, "java.lang.Class").forName(STORES).getDeclaredFields()
    [loaded] = [one for one in stores if one.getName() == "loadedProviders"]
    loaded.setAccessible(True)
    return set(RUN.findall(loaded.get(None).keySet().mkString(" ")))


@pytest.mark.spark
@pytest.mark.ci
@pytest.mark.parametrize(
    ("agent", "fault"),
    [
        (False, GridFault.BEFORE_COMMITS),
        (True, GridFault.BEFORE_COMMITS),
        (True, GridFault.TASK_BEFORE_STATE),
    ],
)
def test_state_in_memory_ends_with_the_driver(agent, fault):
    """A cell runs several times, and cells follow each other in one session."""
    if agent and missing_agent():
        pytest.skip(missing_agent())
    pool = SessionPool(ENTRY_POINTS, agent=agent)
    try:
        with pool.session(attempts=2, partitions=2) as session:
            runs = CellRuns(
                session.fork(),
                pool.folder("grid"),
                named("window-append"),
                parsed("default"),
                agent=session.agent,
            )
            try:
                runs.without_fault()
                first = runs_in_memory()
                cell = runs.with_fault(PlacedFault(fault, 1))
                second = runs_in_memory()
            finally:
                runs.close()
    finally:
        pool.close()

    assert not cell.refuted
    assert first
    assert not first & second
    # One run recovers or has a task that dies, and one reads further input; one whose
    # driver died is not there.
    assert 1 <= len(second) <= 2
