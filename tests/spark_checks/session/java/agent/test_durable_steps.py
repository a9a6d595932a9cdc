"""One table says, for each version of Spark, where it takes its durable steps."""

from __future__ import annotations

import pytest

from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.model.protocols.parts.sinks.manifest import Manifest
from onceproof.spark_checks.session.java.agent.durable_steps import (
    TABLE,
    Method,
    lacks,
    places,
    step_names,
)
from onceproof.spark_checks.session.java.agent.script import script_of

VERSIONS = ("3.5.9", "4.0.5", "4.1.4", "4.2.1", "4.3.0")
OF_THE_MODEL = {"log_offsets", "start_batch", "write", "commit_task", "log_commit"}
P = "org.apache.spark.sql.execution.streaming"
COMMITS_LOG = {
    "3.5.9": f"{P}.HDFSMetadataLog",
    "4.0.5": f"{P}.HDFSMetadataLog",
    "4.1.4": f"{P}.checkpointing.HDFSMetadataLog",
    "4.3.0": f"{P}.checkpointing.HDFSMetadataLog",
}


def test_steps_that_the_model_has_are_called_as_its_actions_are():
    assert {
        name
        for name in step_names()
        if hasattr(MicroBatch, name) or hasattr(Manifest, name)
    } == {*OF_THE_MODEL, "add_to_manifest", "abort_task", "abort"}


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_takes_each_step_somewhere(version):
    taken = {place.step for place in places(version) if place.method is not None}

    assert taken == set(step_names())


@pytest.mark.parametrize(("version", "owner"), COMMITS_LOG.items())
def test_a_class_is_looked_for_where_the_version_has_it(version, owner):
    [log] = [place for place in places(version) if place.step == "log_commit"]

    assert log.method == Method(owner, "write")


def test_what_a_version_lacks_is_said_by_name():
    missing = [lacks(place, lambda _: True) for place in places("3.5.9")]

    assert [sentence for sentence in missing if sentence] == [
        f"{step} (Python DataSource): this version of Spark has no such step"
        for step in ("write", "commit_task", "abort_task")
    ]


def test_a_wrong_name_in_the_table_is_said_with_class_and_method(tmp_path):
    table = tmp_path / "steps.toml"
    table.write_text(TABLE.read_text().replace("#runBatch", "#ranBatch"))
    [place] = [p for p in places("4.1.4", table) if p.step == "start_batch"]

    sentence = lacks(place, lambda method: method.name != "ranBatch")

    assert (
        sentence == f"start_batch: there is no {P}.runtime.MicroBatchExecution.ranBatch"
    )


def test_the_script_calls_at_the_entry_and_at_the_return_of_each_method():
    script = script_of([p for p in places("4.1.4") if p.step == "log_commit"])

    assert script.count("\nENDRULE") == 2
    assert "AT ENTRY" in script
    assert "AT EXIT" in script
    assert 'apply("log_commit|return|1.getName|1|commits|", $*)' in script


def test_a_file_is_written_when_its_task_begins_to_commit():
    """An error after that is one of Spark's own, which deletes the file."""
    [files] = [p for p in places("4.1.4") if p.name == "write (files)"]
    called, returned = script_of([files]).split("\n\n")

    assert "METHOD executeTask\nAT ENTRY" in called
    assert "METHOD commitTask\nAT ENTRY" in returned


def test_places_that_a_version_lacks_are_not_in_its_script():
    assert "PythonBatchWriter" not in script_of(places("3.5.9"))
    assert "PythonBatchWriter" in script_of(places("4.1.4"))
