"""A path that a sink names as its reader is read in the format that it has."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.sinks.readers import readers_of
from onceproof.spark_checks.stores.tables.local_folder import FolderPlace


class _Spark:
    """A session that reads nothing, and says in which format it would."""

    def __init__(self):
        self.read = self

    def format(self, name):
        return SimpleNamespace(load=lambda path: (name, path))

    def table(self, name):
        return ("table", name)


def seen(read, place=None):
    return readers_of(SimpleNamespace(read=read), place)[""](_Spark())


def test_files_without_a_log_in_a_place_of_a_table_format_are_no_rows(tmp_path):
    """A commit that failed has left them: no reader of the format sees them."""
    place = FolderPlace(str(tmp_path / "place"), "delta")
    table = tmp_path / "place" / "orders"
    table.mkdir(parents=True)
    (table / "part-0.snappy.parquet").touch()

    assert seen(str(table), place) == ("delta", str(table))


@pytest.mark.parametrize("place", [None, FolderPlace("/elsewhere", "delta")])
def test_elsewhere_the_files_say_what_they_are(tmp_path, place):
    """By their ending, or by a log of Delta."""
    (tmp_path / "part-0.snappy.orc").touch()
    assert seen(tmp_path, place) == ("orc", str(tmp_path))

    (tmp_path / "_delta_log").mkdir()
    assert seen(tmp_path, place) == ("delta", str(tmp_path))


def test_a_place_without_a_format_says_nothing_of_its_paths(tmp_path):
    """A library reads them, and not Spark."""
    (tmp_path / "part-0.json").touch()

    assert seen(str(tmp_path), FolderPlace(str(tmp_path)))[0] == "json"


def test_files_of_several_formats_are_refused(tmp_path):
    """With what to write."""
    for ending in ("json", "parquet"):
        (tmp_path / f"part-0.{ending}").touch()

    with pytest.raises(UsageError, match=r"no one format.* help: give read="):
        seen(tmp_path)


def test_what_is_no_path_is_a_table(tmp_path):
    """Or a function, which is taken as it is."""
    assert seen("shop.orders", FolderPlace(str(tmp_path), "delta"))[0] == "table"
    assert seen(lambda spark: "mine") == "mine"
