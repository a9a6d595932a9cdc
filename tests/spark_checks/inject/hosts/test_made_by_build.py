"""What a build makes anew, and the sink's code keeps, is found by comparing builds."""

from __future__ import annotations

import datetime as dt
import functools
import os
import sys
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.sql.datasource import DataSource

from onceproof.model.errors import UsageError
from onceproof.spark_checks import Foreach, ForeachBatch, Format
from onceproof.spark_checks.inject.hosts import made_at_import
from onceproof.spark_checks.inject.hosts.built_sink import Builds
from onceproof.spark_checks.inject.hosts.made_by_build import (
    differing,
    made_by_build,
    require_data,
)
from onceproof.spark_checks.sinks.interface import Target

SETTINGS = {"run": ""}


@dataclass
class Place:
    """A place in a store that is another one for each build."""

    url: str
    port: int


def reader(spark):
    return None


def in_a_closure(target):
    run = uuid.uuid4().hex
    return ForeachBatch(lambda batch, batch_id: run, read=reader)


def in_a_closure_of_a_helper(target):
    run = uuid.uuid4()

    def insert(batch):
        return {"run": run}

    def write(batch, batch_id):
        insert(batch)

    return ForeachBatch(write, read=reader)


def in_a_list(target):
    runs = [{"at": dt.datetime.now(dt.UTC)}]
    return ForeachBatch(lambda batch, batch_id: runs, read=reader)


def in_a_default(target):
    def write(batch, batch_id, run=uuid.uuid4().int):  # noqa: B008
        return run

    return ForeachBatch(write, read=reader)


def in_a_partial(target):
    def write(run, batch, batch_id):
        return run

    return ForeachBatch(functools.partial(write, uuid.uuid4().hex), read=reader)


class Writer:
    """A writer of rows that has an id of its own."""

    def __init__(self, made):
        self.run = made
        self.rows = object()

    def process(self, row):
        return self.run


class Slotted:
    __slots__ = ("run",)

    def process(self, row):
        return self.run


def in_an_attribute_of_a_function(target):
    def write(batch, batch_id):
        return write.run

    write.run = uuid.uuid4().hex
    return ForeachBatch(write, read=reader)


def in_a_namespace(target):
    state = SimpleNamespace(run=uuid.uuid4().hex, lock=object())
    return ForeachBatch(lambda batch, batch_id: state, read=reader)


class RunId(str):
    """A text of a kind of its own."""

    __slots__ = ()


def in_a_text_of_its_own_kind(target):
    run = RunId(uuid.uuid4())
    return ForeachBatch(lambda batch, batch_id: run, read=reader)


def in_a_new_module_variable(target):
    globals()["NEW"] = uuid.uuid4().hex
    return ForeachBatch(lambda batch, batch_id: None, read=reader)


def in_an_object(target):
    return Foreach(Writer(uuid.uuid4().hex), read=reader)


def in_a_slot(target):
    writer = Slotted()
    writer.run = uuid.uuid4().hex
    return Foreach(writer, read=reader)


def in_an_object_by_its_method(target):
    writer = Writer(uuid.uuid4().hex)
    return ForeachBatch(writer.process, read=reader)


def in_a_class_that_is_made_here(target):
    class Orders(DataSource):
        run = uuid.uuid4().hex

    return Format(Orders, {}, read=reader)


def in_a_closure_of_a_class(target):
    run = uuid.uuid4().hex

    class Orders(DataSource):
        def streamWriter(self, schema, overwrite):  # noqa: N802
            return run

    return Format(Orders, {}, read=reader)


def in_an_option(target):
    return Format("orders", {"run": uuid.uuid4().hex}, read=reader)


def in_a_module(target):
    SETTINGS["run"] = uuid.uuid4().hex
    return ForeachBatch(lambda batch, batch_id: SETTINGS, read=reader)


def in_the_environment(target):
    os.environ["ORDERS_RUN"] = uuid.uuid4().hex
    return ForeachBatch(lambda batch, batch_id: os.environ, read=reader)


def in_a_folder(target):
    folder = tempfile.mkdtemp()
    return ForeachBatch(lambda batch, batch_id: folder, read=reader)


ANEW = (
    (in_a_closure, "run in <lambda>()"),
    (in_a_closure_of_a_helper, "run in insert()"),
    (in_a_list, "runs in <lambda>()"),
    (in_a_default, "a default of write()"),
    (in_a_partial, "write"),
    (in_an_attribute_of_a_function, "write.run"),
    (in_a_namespace, "state in <lambda>().run"),
    (in_a_text_of_its_own_kind, "run in <lambda>()"),
    (in_a_new_module_variable, f"{__name__}.NEW"),
    (in_an_object, "Writer.run"),
    (in_a_slot, "Slotted.run"),
    (in_an_object_by_its_method, "Writer.run"),
    (in_a_class_that_is_made_here, "Orders.run"),
    (in_a_closure_of_a_class, "run in streamWriter()"),
    (in_an_option, "options"),
    (in_a_module, f"{__name__}.SETTINGS"),
    (in_the_environment, "the environment's ORDERS_RUN"),
    (in_a_folder, "folder in <lambda>()"),
)


def from_the_target(target):
    table, url = f"orders_{target.name}", f"{target.store.url}?sslmode=disable"
    port, folder = target.store.port, target.path / "begun"
    writer = Writer([table, url, port, str(folder), target.name.upper()])

    bucket = target.name.replace("_", "-")

    def write(batch, batch_id, bucket=bucket):
        return table, url, port, folder, writer, bucket

    return ForeachBatch(write, read=reader)


def lasting(target):
    folder = target.lasting(tempfile.mkdtemp())
    below = f"{folder}/begun"
    return ForeachBatch(lambda batch, batch_id: below, read=reader)


def of_the_readers_alone(target):
    run = uuid.uuid4().hex
    return ForeachBatch(lambda batch, batch_id: None, read=lambda spark: run)


def of_installed_packages(target):
    times = tempfile.TemporaryDirectory()
    return ForeachBatch(lambda batch, batch_id: times, read=reader)


def lasting_in_another_form(target):
    run = target.lasting(uuid.uuid4())
    since = target.lasting(dt.datetime.now(dt.UTC))
    kept = run.hex, since.isoformat(), {since: f"run {run}"}
    return ForeachBatch(lambda batch, batch_id: kept, read=reader)


class Odd:
    """An object that cannot be read."""

    __slots__ = ("run",)

    def __getattr__(self, name):
        raise RuntimeError(name)


def of_odd_objects(target):
    odd, large = Odd(), [b"x" * 100_000, list(range(50_000))]
    return ForeachBatch(lambda batch, batch_id: (odd, large), read=reader)


def where_the_code_runs(target):
    return ForeachBatch(lambda batch, batch_id: uuid.uuid4(), read=reader)


SAME = (
    from_the_target,
    lasting,
    lasting_in_another_form,
    of_odd_objects,
    of_the_readers_alone,
    of_installed_packages,
    where_the_code_runs,
)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Build a sink in a place of its own, and tell what it made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("ORDERS_RUN", raising=False)
    monkeypatch.setitem(globals(), "SETTINGS", dict(SETTINGS))
    here = sys.modules[__name__].__name__

    def build(function, number):
        name = f"onceproof_{uuid.uuid4().hex}"
        path = tmp_path / str(number) / name
        place = Place(f"postgresql://me@127.0.0.1:4{number}771/{name}", 40771 + number)
        target = Target(path, name, store=place)
        globals().pop("NEW", None)
        modules, environment = made_at_import.of_modules([here]), dict(os.environ)
        sink = function(target)
        after = made_at_import.of_modules([here])
        both = (environment, dict(os.environ))
        return made_by_build(sink, target, (modules, after), both)

    return build


@pytest.mark.parametrize(("build", "name"), ANEW, ids=[name for _, name in ANEW])
def test_what_each_build_makes_anew_is_named(made, build, name):
    """Its value is another one in each build, and the name says where it is kept."""
    builds = Builds()

    for number in (1, 2, 3):
        builds.note(made(build, number))

    [found] = builds.differing
    assert found.startswith(name)


@pytest.mark.parametrize("build", SAME)
def test_what_names_the_place_or_lasts_is_the_same(made, build):
    """So are readers, objects of packages, and what the code makes as it runs."""
    assert not differing(made(build, 1), made(build, 2))


def test_a_value_that_one_build_has_and_another_has_not_is_not_compared():
    """A build that takes another way has other code: its lines tell."""
    assert not differing({"run": "1"}, {"folder": "2"})
    assert differing({"run": "1", "a": "1"}, {"run": "2", "a": "1"}) == ("run",)


def test_a_path_of_the_target_is_known_in_any_form(made, tmp_path):
    """As a path, a text, or bytes."""

    def build(target):
        kept = Path(target.path), str(target.path).encode(), {str(target.path)}
        return ForeachBatch(lambda batch, batch_id: kept, read=reader)

    assert not differing(made(build, 1), made(build, 2))


@pytest.mark.parametrize("value", [7, "abc", True, object(), [1, 2]])
def test_what_could_not_be_told_from_other_data_cannot_last(value):
    """Short texts are in many others."""
    with pytest.raises(UsageError, match="takes a text"):
        require_data(value)


def test_builds_are_compared_with_those_of_their_kind():
    """A place whose connections break is described in other words."""
    builds = Builds()

    builds.note({"client": "direct"})
    builds.note({"client": "through a port"}, breaks=True)
    assert not builds.differing

    builds.note({"client": "another"}, breaks=True)
    assert builds.differing == ("client",)
