"""An archive of Spark's classes is used where there is one, and never needed."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.cli import class_archive_training
from onceproof.spark_checks.session.java import class_archive
from onceproof.spark_checks.session.java.jvm import java_version


@pytest.fixture
def place(tmp_path, monkeypatch):
    found = tmp_path / "below" / "spark.jsa"
    monkeypatch.setenv(class_archive.VARIABLE, str(found))
    return found


def test_without_an_archive_java_starts_as_ever(place):
    assert class_archive.archive(17) == place
    assert class_archive.options(17) == ""


def test_an_archive_is_used_by_a_java_that_can(place):
    place.parent.mkdir()
    place.touch()

    assert (
        class_archive.options(17) == f" -XX:SharedArchiveFile={shlex.quote(str(place))}"
    )
    assert class_archive.options(11) == ""


def test_an_archive_may_lie_below_a_folder_with_a_blank(place, monkeypatch):
    """Spark splits the options that it hands to Java at blanks, but for quoted ones."""
    place = place.with_name("of mine") / "spark.jsa"
    place.parent.mkdir(parents=True)
    place.touch()
    monkeypatch.setenv(class_archive.VARIABLE, str(place))

    options = f"-Xmx1g{class_archive.options(17)}"

    assert options == f"-Xmx1g -XX:SharedArchiveFile='{place}'"
    assert class_archive.used_in(options) == str(place)
    assert class_archive.used_in("-Xmx1g") == ""


def test_a_place_that_cannot_be_written_to_is_refused_at_once(place, monkeypatch):
    """Nothing is run for it."""
    monkeypatch.setattr(subprocess, "Popen", None)

    place.parent.touch()
    with pytest.raises(UsageError, match="below cannot be written to"):
        class_archive_training.make(17)

    place.parent.unlink()
    place.mkdir(parents=True)
    with pytest.raises(UsageError, match="is a folder"):
        class_archive_training.make(17)


def test_the_replays_that_show_the_classes_are_run(tmp_path, monkeypatch):
    """In a process of their own, whose error is the answer."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    code, output = class_archive_training._run(tmp_path / "draft")

    assert code != 0
    assert f"no Java at JAVA_HOME={tmp_path}" in output.splitlines()[-1]


@pytest.mark.spark
@pytest.mark.grid
def test_an_archive_is_made_and_used(place):
    """By a session that starts after it."""
    java = java_version()

    made = class_archive_training.make(java)

    assert made == place
    assert class_archive.used_in(class_archive.options(java)) == str(place)
    assert b"org/apache/spark/sql/execution/streaming" in place.read_bytes()


def test_what_does_not_come_about_leaves_nothing(place, monkeypatch):
    """Java may write no archive, and may be too old to."""
    monkeypatch.setattr(
        class_archive_training, "_run", lambda _: (1, "one\nthe disk is full\n")
    )

    with pytest.raises(UsageError, match="was made: the disk is full"):
        class_archive_training.make(17)
    with pytest.raises(UsageError, match="Java 11 makes no archive"):
        class_archive_training.make(11)

    assert not list(place.parent.iterdir())
