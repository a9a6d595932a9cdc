"""Readers must see the columns that identify an event; the message says why."""

from __future__ import annotations

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inputs.event_files import Input, InputFiles
from onceproof.spark_checks.replay.observations import Observers

pytestmark = pytest.mark.spark

LINES = (('{"id": "a", "city": "Ulm"}',), ('{"id": "b", "city": "Ulm"}',))


def counted(events):
    return events.groupBy("city").count()


@pytest.mark.parametrize(
    ("key", "result", "message"),
    [
        (
            ("city",),
            None,
            "no column 'city', and it is part of the key; readers see id",
        ),
        ((), None, "no column 'city', and without key= all columns of an event"),
        ((), counted, "no column 'city', and result= has it; readers see id"),
    ],
)
def test_a_column_that_readers_lack_is_named_with_the_reason(
    pool, tmp_path, key, result, message
):
    """Who gave no key is not referred to one."""
    given = Input("id string, city string", LINES, 1, lambda frame: frame, key)
    with pool.session(attempts=2, partitions=2) as session:
        spark = session.spark
        observer = Observers(spark, InputFiles(tmp_path / "in", given)).of(result)
        seen = spark.createDataFrame([("a",)], "id string")

        with pytest.raises(UsageError) as refused:
            observer.look(spark, {"": lambda _: seen})

    assert message in str(refused.value)
