"""Real runs are behaviours of the right model, and of no model with a mistake in it.

The runs were recorded by an agent in Spark: see ``recorded_runs``.
"""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

import pytest

from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.spark_checks.plan.enumeration import protocol_of
from onceproof.spark_checks.replay.conformance.omissions import (
    OMISSIONS,
    OMISSIONS_WITH_STATE,
    UNMODELLED,
)
from onceproof.spark_checks.replay.conformance.step_meanings import MEANINGS
from onceproof.spark_checks.session.java.agent.durable_steps import step_names
from tests.spark_checks.replay.conformance import wrong_models
from tests.spark_checks.replay.conformance.recorded_runs import (
    KINDS,
    SIZES,
    checks,
    recorded,
)
from tests.spark_checks.replay.conformance.wrong_models import (
    CommitBeforeTheSink,
    CommitsInMemory,
    LoggedIsDone,
    ManifestByTasks,
    ManifestOnce,
    NextBatchFirst,
    NoSecondAttempt,
    OffsetsAfterTheBatch,
    OffsetsInMemory,
    OneTaskAtATime,
    TasksOutliveTheDriver,
)
from tests.spark_checks.steering import SINKS

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "inside-spark.md"
STAGED, MANIFEST = "datasource-staged", "parquet-manifest"
WRONG = {
    OffsetsAfterTheBatch: (STAGED, "log_offsets(0) needs driver == committing"),
    OffsetsInMemory: (
        STAGED,
        "start_batch(0) needs offsets == 0 + 1, but offsets is 0",
    ),
    CommitsInMemory: (STAGED, "start_batch(1) needs commits == 1, but commits is 0"),
    CommitBeforeTheSink: (STAGED, "start_commit(0) needs driver == committing"),
    OneTaskAtATime: (STAGED, "write(0, 0, 0) needs task[0, 0] == running"),
    NoSecondAttempt: (STAGED, "write(0, 0, 1) needs task[0, 1] == running"),
    LoggedIsDone: (STAGED, "start_batch(0) needs commits == 0, but commits is 1"),
    TasksOutliveTheDriver: (STAGED, "but task[1, 0] is committed"),
    NextBatchFirst: (STAGED, "log_commit(0) needs 0 == 1 or offsets == 0 + 2"),
    ManifestByTasks: (MANIFEST, "needs sink.due[0], but sink.due[0] is False"),
    ManifestOnce: (MANIFEST, "needs not sink.manifest[0]"),
}
"""By wrong model, whose runs reject it, and by what part of a guard."""


def wrong_protocol(model, sink):
    """Put a wrong model in the place of a sink's, or of its engine's."""
    place = "engine" if issubclass(model, MicroBatch) else "model"
    return protocol_of(dataclasses.replace(SINKS[sink], **{place: model}), SIZES)


def test_each_wrong_model_is_tried():
    found = {
        model
        for _, model in inspect.getmembers(wrong_models, inspect.isclass)
        if model.__module__ == wrong_models.__name__
    }

    assert found == set(WRONG)


@pytest.mark.parametrize("sink", KINDS)
def test_each_recorded_run_is_a_behaviour_of_the_model(sink):
    runs, checked = recorded(sink), checks(sink)

    found = [(run.name, checked.check(run.steps, run.ends)) for run in runs]

    assert len(found) > 10
    assert [one for one in found if not one[1].conforms] == []


@pytest.mark.parametrize("model", WRONG, ids=lambda model: model.__name__)
def test_a_wrong_model_is_rejected_and_the_part_that_fails_is_named(model):
    sink, part = WRONG[model]
    checked = checks(sink, wrong_protocol(model, sink))

    for run in recorded(sink):
        trace = checked.check(run.steps, run.ends)
        if trace.unexplained:
            break

    assert trace.unexplained, "no run rejects it"
    assert not trace.conforms
    assert "no behaviour of the model explains this step" in trace.unexplained[0]
    assert any(part in line for line in trace.unexplained), trace.unexplained


@pytest.mark.parametrize(
    "step", ["log_offsets", "start_batch", "write", "sink_commit", "log_commit"]
)
def test_a_run_without_a_step_that_the_model_needs_is_rejected(step):
    """The first one of its kind is left out, as if Spark had not taken it."""
    run = next(run for run in recorded(STAGED) if len(run.ends) == 1)
    left_out = next(one for one in run.steps if one.step == step)
    steps = tuple(
        one
        for one in run.steps
        if (one.step, one.batch, one.partition)
        != (left_out.step, left_out.batch, left_out.partition)
    )

    trace = checks(STAGED).check(steps, run.ends)

    assert trace.checked
    assert trace.unexplained
    assert len(steps) < len(run.steps)


def test_a_commit_log_that_names_less_than_was_logged_is_rejected():
    run = next(run for run in recorded(STAGED) if len(run.ends) == 1)
    [end] = run.ends
    shorter = dataclasses.replace(end, committed=frozenset({0}))

    trace = checks(STAGED).check(run.steps, (shorter,))

    assert "the commit log names 1 batches" in trace.unexplained[0]


def test_what_the_model_has_no_room_for_is_undecided():
    """A batch, or an attempt, that the model has not is neither explained nor wrong."""
    run = next(run for run in recorded(STAGED) if len(run.ends) == 1)
    more = [
        dataclasses.replace(one, batch=7) if one.step == "log_offsets" else one
        for one in run.steps
    ]

    trace = checks(STAGED).check(more, run.ends)

    assert trace.unchecked == "log_offsets is of batch 7, and the model has 2"
    assert not trace.checked
    assert not trace.conforms


def test_nothing_is_said_where_nothing_was_reported():
    trace = checks(STAGED).check((), recorded(STAGED)[0].ends)

    assert trace.unchecked == "the agent has reported no step"
    assert not trace.conforms


def test_the_page_lists_what_is_left_out_on_purpose():
    """What the code leaves out and what the page says are one list."""
    page = PAGE.read_text(encoding="utf-8")
    listed = " ".join(page.replace("`", "").split())

    assert all(f"| {step} | {why} |" in listed for step, why in UNMODELLED.items())
    assert all(f"- {one.why}" in listed for one in (*OMISSIONS, *OMISSIONS_WITH_STATE))


def test_each_durable_step_is_a_step_of_the_model_or_left_out_on_purpose():
    named = {meaning.step for meaning in MEANINGS}
    left_out = {name.partition(" of ")[0] for name in UNMODELLED}

    assert set(step_names()) == named | left_out
