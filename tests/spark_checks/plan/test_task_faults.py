"""A task whose rows nobody can count is not hit where that would matter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.protocols.micro_batch import Task
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.plan.planner import realise
from onceproof.spark_checks.plan.run_plan import NotReplayable
from onceproof.spark_checks.plan.schedule import Schedule
from onceproof.spark_checks.sinks.interface import Files, ForeachBatch, Query
from tests.spark_checks.steering import SINKS, SMALL

QUERY = Query(lambda events, checkpoint: None, read="")
CALLBACK = ForeachBatch(lambda batch, batch_id: None, read="")
OF_TASKS = ("fail_task", "fail_job", "lose_contact")
PLANNED = "planned"
NOT_KNOWN = "how many of a task's rows Spark's own writer has sent is not known"


def answers(sink, under_test):
    """Say for each fault of an attempt whether rows hang on it, and what came of it."""
    protocol = protocol_of(sink, SMALL)
    found = set()
    for one in interleavings(protocol).classes:
        schedule = Schedule(one, protocol, sink.steps)
        try:
            realise(one, protocol, sink, kind_of(under_test))
            answer = PLANNED
        except NotReplayable as error:
            answer = str(error)
        for at, event in enumerate(schedule.events):
            if event.name in OF_TASKS:
                _, partition, attempt = event.members
                wrote = schedule.look(at).task[partition, attempt] == Task.WRITTEN
                matters = wrote or event.name == "lose_contact"
                found.add((event.name, matters, answer))
    return found


@pytest.mark.parametrize("name", ["foreach-batch-append", "foreach-batch-ledger"])
def test_rows_that_sparks_own_writer_sends_are_hit_before_the_first_alone(name):
    """Unless tasks write nothing that readers could see."""
    sink = replace(SINKS[name], steps={})
    hides = name == "foreach-batch-append"

    found = answers(sink, QUERY)

    refused = {answer for _, matters, answer in found if matters and hides}
    assert refused == ({NOT_KNOWN} if hides else set())
    assert ("fail_task", False, PLANNED) in found
    assert hides or ("lose_contact", True, PLANNED) in found


def test_rows_that_the_sinks_own_code_writes_are_known():
    """Each fault of an attempt is injected."""
    sink = SINKS["foreach-batch-append"]

    found = answers(sink, CALLBACK)

    assert {answer for _, _, answer in found} == {PLANNED}


def test_files_of_a_task_that_dies_are_deleted_by_spark(tmp_path):
    """So its rows are known; only a task that lives on cannot be had."""
    found = answers(SINKS["parquet-folder"], Files("parquet", str(tmp_path), read=""))

    assert ("fail_task", True, PLANNED) in found
    assert all(answer != PLANNED for name, _, answer in found if name == "lose_contact")
