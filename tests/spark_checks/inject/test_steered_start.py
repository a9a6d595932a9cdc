"""A query that a user's function starts is held to its checkpoint and its places."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql.streaming.readwriter import DataStreamWriter

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.start import Start
from onceproof.spark_checks.inject.steered_start import steered
from onceproof.spark_checks.plan.rules import RUN_PROPERTY, RuleSet

CHECKPOINT = "checkpointLocation"
ELSEWHERE = "/elsewhere"


class JavaWriter:
    """Notes the options that reach Java, and starts nothing."""

    def __init__(self):
        self.given = {}

    def option(self, key, value):
        self.given[key] = value
        return self

    def start(self, *path):
        return path

    def toTable(self, name):  # noqa: N802 - Spark's name
        return name


@pytest.fixture
def writer(monkeypatch, tmp_path):
    """Give a writer that is steered, as it is while a user's function runs."""
    monkeypatch.setattr(DataStreamWriter, "trigger", lambda self, **_: self)
    monkeypatch.setattr(DataStreamWriter, "_sq", lambda _, started: started)
    made = object.__new__(DataStreamWriter)
    made._jwrite = JavaWriter()
    plan = RuleSet((), str(tmp_path), "run", allowed=(str(tmp_path),))
    with steered(Start(None, tmp_path / "checkpoint", plan)):
        yield made


WAYS = {
    "option": lambda w, key, value: w.option(key, value).start(),
    "options": lambda w, key, value: w.options(**{key: value}).start(),
    "start": lambda w, key, value: w.start(**{key: value}),
    "toTable": lambda w, key, value: w.toTable("t", **{key: value}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        (CHECKPOINT, ELSEWHERE),
        (CHECKPOINT.upper(), ELSEWHERE),
        ("Path", ELSEWHERE),
        ("kafka.bootstrap.servers", "db.example.com:9092"),
    ],
)
def test_what_is_not_the_sinks_own_is_refused(writer, way, key, value):
    """However an option is given, and in whatever case."""
    with pytest.raises(UsageError, match=value):
        WAYS[way](writer, key, value)

    assert value not in writer._jwrite.given.values()


@pytest.mark.parametrize("way", WAYS)
def test_the_checkpoint_of_the_run_may_be_named(writer, way, tmp_path):
    """It is the one that a query gets that names none."""
    mine = str(tmp_path / "checkpoint")

    WAYS[way](writer, CHECKPOINT, mine)

    assert writer._jwrite.given == {CHECKPOINT: mine, RUN_PROPERTY: "run"}


def test_a_place_and_a_table_are_given_by_name_or_by_place(writer, tmp_path):
    """A place is looked at, and reaches Spark as it is."""
    place = str(tmp_path / "t")

    assert writer.start(place) == writer.start(path=place) == (place,)
    assert writer.toTable("t") == writer.toTable(tableName="t") == "t"
    for args, named in (((ELSEWHERE,), {}), ((), {"path": ELSEWHERE})):
        with pytest.raises(UsageError, match=ELSEWHERE):
            writer.start(*args, **named)


def test_a_writer_is_as_it_was_afterwards(tmp_path):
    """Another query of the process is none of ours."""
    before = dict(vars(DataStreamWriter))

    with steered(Start(None, Path("checkpoint"), RuleSet((), str(tmp_path), "run"))):
        pass

    assert dict(vars(DataStreamWriter)) == before
