"""Where nothing has been written yet, Spark's readers see nothing and do not fail."""

from __future__ import annotations

import pytest

from onceproof.spark_checks.replay.looks import NOTHING
from onceproof.spark_checks.replay.observations import Observer

pytestmark = pytest.mark.spark


def missing(spark, folder):
    return spark.read.parquet(str(folder / "nowhere"))


def empty(spark, folder):
    return spark.read.json(str(folder))


def without_files(spark, folder):
    (folder / "_spark_metadata").mkdir()
    return spark.read.parquet(str(folder))


def no_table(spark, folder):
    return spark.read.table(f"no_{folder.name}")


@pytest.mark.parametrize("read", [missing, empty, without_files, no_table])
def test_what_is_not_there_yet_shows_nothing(pool, tmp_path, read):
    """Spark has a name of its own for each, and they differ by version."""
    with pool.session(attempts=2, partitions=2) as session:
        spark = session.spark
        expected = spark.createDataFrame([("a", 0)], "id string, onceproof_unit int")
        observer = Observer(expected, ("id",))

        seen = observer.look(spark, {"": lambda spark: read(spark, tmp_path)})

        assert seen == NOTHING
