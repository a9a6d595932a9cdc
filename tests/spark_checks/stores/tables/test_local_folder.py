"""Tables in a folder: a place of its own for each interleaving."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from onceproof.spark_checks import (
    Delta,
    DeltaRs,
    DuckDB,
    Iceberg,
    PyIceberg,
    Unreliable,
)
from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.tables.local_folder import RunningFolder


@pytest.fixture
def running(tmp_path):
    return RunningFolder(tmp_path)


def test_a_place_is_an_empty_folder_of_its_own(running, tmp_path):
    """Nothing else may be written to."""
    one, other = running.place("onceproof_1"), running.place("onceproof_2")

    assert one.allowed == (one.path,) == (str(tmp_path / "onceproof_1"),)
    assert one.path != other.path
    assert list(Path(one.path).iterdir()) == []
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_place_that_is_dropped_takes_its_tables_along(running):
    """And no other; a run may have removed it itself."""
    one, other = running.place("onceproof_1"), running.place("onceproof_2")
    Path(one.path, "table").mkdir()

    running.drop(one)
    running.drop(one)

    assert not Path(one.path).exists()
    assert Path(other.path).is_dir()


@pytest.mark.parametrize(
    "store", [Delta(), DeltaRs(), DuckDB(), Iceberg(), PyIceberg()]
)
def test_no_store_of_folders_is_unreliable(store):
    """That is refused where it is written down."""
    with pytest.raises(StoreError, match="files in a folder, which nobody connects"):
        Unreliable(store)
