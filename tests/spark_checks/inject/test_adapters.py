"""What a replay edits of a kind of sink lies in a folder of this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceproof.model.language.steps import Event
from onceproof.spark_checks import Files
from onceproof.spark_checks.inject.adapters import kind_of
from onceproof.spark_checks.plan.run_draft import RunDraft
from onceproof.spark_checks.plan.run_plan import NotReplayable

STEP = Event("sink.add_to_manifest", (0,), fault=False, fair=False)


@pytest.mark.parametrize("path", ["/data/out", "out", "./out"])
def test_the_manifest_of_a_folder_is_edited(path):
    """The batch is done, and what its commit left is taken back."""
    kind, run = kind_of(Files("parquet", path, read=path)), RunDraft(0, 1)

    kind.inside(run, {0}, STEP, again=False)

    assert kind.edits() == Path(path)
    assert run.undo == (0, {0})


@pytest.mark.parametrize("path", ["s3a://bucket/out", "hdfs://host:8020/out"])
def test_a_manifest_in_a_store_is_not_edited(path):
    """What would need it is not replayed, and says why."""
    kind, run = kind_of(Files("parquet", path, read=path)), RunDraft(0, 1)

    with pytest.raises(NotReplayable, match="happens inside Spark, out of reach"):
        kind.inside(run, {0}, STEP, again=False)

    assert kind.edits() is None
    assert run.undo is None
