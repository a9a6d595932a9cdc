"""With an agent, faults are planned at Spark's own durable steps."""

from __future__ import annotations

import pytest

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.plan.plans import Plans
from onceproof.spark_checks.plan.spark_steps import at_step, inside_spark, is_step
from onceproof.spark_checks.sinks.interface import Files, Format
from tests.spark_checks.steering import SINKS

TWO = Sizes(batches=2)
FILES = Files("parquet", "/data", read="/data")
NO_ZOMBIE = "no failpoint keeps a task of Spark's own file writer alive"


def everything(step, of):
    return True


def plans_of(name, under_test, has, *, faults=1):
    """Plan all interleavings of a sink, in a session that has some steps."""
    sink, files = SINKS[name], isinstance(under_test, Files)
    protocol = protocol_of(sink, TWO, faults=faults)
    kind = inside_spark(kind_of(under_test), has, files=files)
    plans = Plans(protocol, sink, kind)
    return [plans.of(one) for one in interleavings(protocol).classes]


@pytest.mark.parametrize("name", ["parquet-manifest", "parquet-folder"])
def test_all_interleavings_of_the_file_sink_are_in_reach(name):
    plans = plans_of(name, FILES, everything)

    assert {plan.refusal for plan in plans} == {""}


@pytest.mark.parametrize(
    "lacked", [("write", "files"), ("commit_task", "files"), ("log_commit", "")]
)
def test_where_a_step_is_lacking_edits_and_traps_serve(lacked):
    def has(step, of):
        return (step, of) != lacked

    plans = plans_of("parquet-manifest", FILES, has)

    refused = [plan.refusal for plan in plans if plan.refusal]
    assert set(refused) == {NO_ZOMBIE}
    assert any(run.undo for plan in plans for run in plan.runs)


def test_no_checkpoint_is_edited_and_no_trap_laid_with_an_agent():
    plans = plans_of("parquet-manifest", FILES, everything)

    runs = [run for plan in plans for run in plan.runs]
    assert not any(run.undo or run.trap is not None for run in runs)
    assert all(is_step(hit.function) for plan in plans for hit in plan.hits)


def test_a_driver_that_dies_takes_nothing_back():
    plans = plans_of("parquet-manifest", FILES, everything)
    at_manifest = [
        run
        for plan in plans
        for run in plan.runs
        if run.end_mark and at_step("add_to_manifest") in run.how[-1]
    ]

    assert at_manifest
    for run in at_manifest:
        kept = {rule.function for rule in run.rules if rule.after}
        assert kept == {at_step("abort"), at_step("abort_task")}


def test_a_task_that_fails_is_taken_back_by_spark():
    """Its attempt gets an error, for the model has it clean up."""
    plans = plans_of("parquet-manifest", FILES, everything)
    failed = [
        rule
        for plan in plans
        for run in plan.runs
        for rule in run.rules
        if "-failed-" in rule.mark
    ]

    assert failed
    assert {rule.do for rule in failed} == {"raise"}


def test_a_job_that_fails_with_tasks_done_is_refused():
    """Spark deletes what those tasks have written; the model leaves it."""
    plans = plans_of("parquet-folder", FILES, everything, faults=2)

    refused = {plan.refusal for plan in plans if plan.refusal}
    assert refused <= {
        "Spark deletes the files of a job that fails; the model does not",
        "a task is given up twice, and the model does not distinguish the two",
        "the driver is down already",
    }


def test_a_source_of_ones_own_is_crashed_at_both_logs():
    plans = plans_of("datasource-staged", Format("x", {}, read=""), everything)

    ends = {
        hit.function for plan in plans for hit in plan.hits if is_step(hit.function)
    }
    assert {at_step("log_commit"), at_step("start_batch")} <= ends
