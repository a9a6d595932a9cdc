"""Hadoop's file committers do in the model what they do on a file system."""

from __future__ import annotations

import pytest

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.protocols.output_commit import OutputCommit
from onceproof.model.protocols.parts.jobs.committers import (
    Committer,
    DynamicPartitionOverwrite,
    FileCommitterV1,
    FileCommitterV1Overwriting,
    FileCommitterV2,
)
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict
from tests.model.zoo.spark import KeyedByAttempt

TASK = "start_task(0, 0, 0) write(0, 0, 0) ask(0, 0, 0) commit_task(0, 0, 0) "
COMMIT = "commit_job() committer.merge(0) finish() "


def files(protocol: OutputCommit, story: str) -> int:
    """Play a story of one partition; count the files that readers see at its end."""
    reference = Interpreter(protocol)
    events = {str(event): event for event in reference.events()}
    now = next(iter(reference.initial_states()))
    for word in story.replace(", ", ",").split():
        after = reference.after(now, events[word.replace(",", ", ")])
        assert after is not None, word
        now = after
    return int(reference.look(now).committer.files[0])


def job(committer: type[Committer], **parts: object) -> OutputCommit:
    """Make a job of one partition."""
    return OutputCommit(PARTITION=1, committer=committer, **parts)


def test_a_task_that_commits_again_replaces_its_folder():
    """An earlier attempt's folder is deleted first, so its files are there once."""
    both = (
        "start_task(0, 0, 0) lose_input() start_task(0, 1, 0) write(0, 0, 0) "
        "ask(0, 0, 0) write(0, 1, 0) ask(0, 1, 0) commit_task(0, 0, 0) "
        "commit_task(0, 1, 0) "
    )

    first = files(job(FileCommitterV1, coordinator=KeyedByAttempt), both + COMMIT)
    second = files(job(FileCommitterV2, coordinator=KeyedByAttempt), both)

    assert (first, second) == (1, 2)


def test_the_folder_of_a_dead_run_is_published_by_the_next():
    """Nothing was visible as the driver died, and the job is there twice at last.

    Spark 4.1.4 with Hadoop 3.4.2 does so: a file in ``_temporary/0/task_...`` of
    another job is published by a write in mode "append".
    """
    story = TASK + "crash() run_again() " + TASK
    once = "commit_job() committer.merge(0) "

    before = files(job(FileCommitterV1), story + "commit_job()")
    after = files(job(FileCommitterV1), story + once + "committer.merge(0) finish()")
    anew = files(job(FileCommitterV1Overwriting), story + once + "finish()")

    assert (before, after, anew) == (0, 2, 1)


def test_a_commit_that_raises_cleans_up_and_is_not_tried_again():
    """The job is run again from its beginning, and finds no folder that was left."""
    story = TASK + "commit_job() fail_commit() run_again() " + TASK + COMMIT

    assert files(job(FileCommitterV1), story) == 1


def test_what_a_commit_moved_before_it_died_stays():
    """The next run adds to it."""
    story = TASK + "commit_job() committer.merge(0) crash() run_again() "

    assert files(job(FileCommitterV1), story + TASK + COMMIT) == 2
    assert files(job(FileCommitterV1Overwriting), story + TASK + COMMIT) == 1


def test_a_crash_after_a_delete_leaves_a_partition_empty():
    """Its folder under the job's id is not found again; the next run replaces all."""
    story = TASK + "commit_job() committer.delete_partition(0) crash() run_again() "
    again = (
        "commit_job() committer.delete_partition(0) committer.rename_partition(0) "
        "finish()"
    )
    protocol = job(DynamicPartitionOverwrite)

    before = files(protocol, story + TASK + "commit_job()")
    after = files(protocol, story + TASK + again)

    assert (before, after) == (0, 1)


@pytest.mark.ci
def test_dynamic_overwrite_with_two_faults_breaks_what_it_states_and_no_more():
    """Files are there once at last."""
    protocol = OutputCommit(committer=DynamicPartitionOverwrite, faults=2)

    verdicts = check(protocol).verdicts

    refuted = {name for name, v in verdicts.items() if v is Verdict.REFUTED}
    assert refuted == {"atomic-visibility", "durable", "committer.old-or-new"}
    assert verdicts["effectively-once"] is Verdict.EXHAUSTED


@pytest.mark.parametrize("faults", [1, 2])
def test_a_job_that_overwrites_is_there_once_at_last(faults):
    """However it dies, no file is there twice; a part of it is seen, and vanishes."""
    protocol = OutputCommit(committer=FileCommitterV1Overwriting, faults=faults)

    verdicts = check(protocol).verdicts

    refuted = {name for name, v in verdicts.items() if v is Verdict.REFUTED}
    assert refuted == {"atomic-visibility", "durable"}
    assert verdicts["effectively-once"] is Verdict.EXHAUSTED
