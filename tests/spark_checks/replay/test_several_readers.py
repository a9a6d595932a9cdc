"""A sink with several readers owes each event to each of them."""

from __future__ import annotations

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.sink_description import describe, described
from onceproof.spark_checks.inputs.event_files import Input, InputFiles
from onceproof.spark_checks.replay.observations import Observations, Observers
from onceproof.spark_checks.sinks.interface import ForeachBatch

LINES = (('{"id": "a"}', '{"id": "b"}'), ('{"id": "c"}',))


SEEN = {
    "each": ("abc", "abc"),
    "one missing": ("abc", "ab"),
    "others twice": ("ab", "aabbc"),
    "one from nowhere": ("abcd", "abc"),
}
"""What two readers see, by a name."""


@pytest.fixture(scope="module")
def observed(pool, tmp_path_factory):
    """Return the observer of two readers, and what it counts of each case."""
    given = Input("id string", LINES, 1, lambda frame: frame, ("id",))
    with pool.session(attempts=2, partitions=2) as session:
        spark = session.spark
        source = InputFiles(tmp_path_factory.mktemp("several") / "in", given)
        observer = Observers(spark, source).of(None, ("orders", "events"))

        def look(orders, events):
            readers = {
                "orders": lambda spark: spark.createDataFrame([*orders], "id string"),
                "events": lambda spark: spark.createDataFrame([*events], "id string"),
            }
            seen = observer.look(spark, readers)
            return Observations(("at rest",), (seen,), ({0, 1},), rested=True)

        looks = [look(map(list, one), map(list, two)) for one, two in SEEN.values()]
        found = dict(zip(SEEN, observer.histories(looks), strict=True))
        yield spark, observer, found


@pytest.mark.spark
def test_each_event_is_counted_for_each_reader(observed):
    """What one of them sees makes up for nothing that another does not."""
    _, _, found = observed

    assert {name: history.seen(0) for name, history in found.items()} == {
        "each": {1: 6},
        "one missing": {0: 1, 1: 5},
        "others twice": {0: 1, 1: 3, 2: 2},
        "one from nowhere": {1: 6},
    }
    assert [history.unexplained for history in found.values()] == [(0,)] * 3 + [(1,)]
    assert {history.counted for history in found.values()} == {"effect"}


@pytest.mark.spark
def test_an_effect_is_named_with_its_reader(observed):
    """A report says where an event is missing."""
    history = observed[-1]["one missing"]

    missing = [row for row in history.rows if row.outcomes[0].visible == 0]
    assert [row.example for row in missing] == ["reader=events, id=c"]
    assert {row.unit for row in missing} == {1}


@pytest.mark.spark
def test_a_reader_that_lacks_a_column_is_named(observed):
    """The other one may have it."""
    spark, observer, _ = observed
    readers = {
        "orders": lambda spark: spark.createDataFrame([("a",)], "id string"),
        "events": lambda spark: spark.createDataFrame([("a",)], "key string"),
    }

    with pytest.raises(UsageError, match="see as 'events' has no column 'id'"):
        observer.look(spark, readers)


def test_readers_travel_by_their_names():
    """Functions stay where they are; paths and names of tables are data."""
    sink = ForeachBatch(print, read={"orders": print, "events": "a_table"})

    found = described(describe(sink)).read

    assert list(found) == ["orders", "events"]
    assert found["events"] == "a_table"
    assert callable(found["orders"])
    assert described(describe(ForeachBatch(print, read="t"))).read == "t"


@pytest.mark.parametrize("read", [{}, {1: "t"}, {"": "t"}, {"of orders": "t"}])
def test_readers_without_a_name_are_refused(read):
    """With the form that is meant."""
    with pytest.raises(UsageError, match=r"read=\{'orders': "):
        describe(ForeachBatch(print, read=read))
