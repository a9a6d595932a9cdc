"""Several stores are one: each place has a place in all, and each server runs once."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from onceproof.spark_checks import Kafka, Postgres, Together, Unreliable
from onceproof.spark_checks.session.store_pool import StorePool
from onceproof.spark_checks.sinks.readers import readers_of
from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.layered import breaks, itself
from onceproof.spark_checks.stores.postgres.store import PostgresPlace
from onceproof.spark_checks.stores.spark_needs import NO_NEEDS, SparkNeeds
from onceproof.spark_checks.stores.tables.local_folder import FolderPlace
from onceproof.spark_checks.stores.together import JointPlace


@dataclass(frozen=True)
class Shelf:
    """A store that only takes notes."""

    name: str = "shelf"
    notes: list[str] = field(default_factory=list, compare=False)
    wants: SparkNeeds = NO_NEEDS
    lacks: tuple[str, ...] = ()
    place_fails: bool = field(default=False, compare=False)
    drop_fails: bool = field(default=False, compare=False)
    start_fails: bool = field(default=False, compare=False)
    unbreakable = "it is a shelf"

    def missing(self):
        return self.lacks

    def version(self):
        return "1.0"

    def needs(self, settings, folder):
        assert folder.is_dir()
        return self.wants

    def start(self, folder):
        assert folder.is_dir()
        if self.start_fails:
            message = f"{self.name} does not start"
            raise StoreError(message)
        self.notes.append("start")
        return RunningShelf(self)


class RunningShelf:
    process = None

    def __init__(self, shelf):
        self.shelf = shelf

    def place(self, name):
        if self.shelf.place_fails:
            message = f"{self.shelf.name} is full"
            raise StoreError(message)
        self.shelf.notes.append(f"place {name}")
        return FolderPlace(f"/{self.shelf.name}/{name}", self.shelf.name)

    def drop(self, place):
        self.shelf.notes.append(f"drop {place.path}")
        if self.shelf.drop_fails:
            message = f"{self.shelf.name} keeps {place.path}"
            raise StoreError(message)

    def stop(self):
        self.shelf.notes.append("stop")


@pytest.fixture
def pool():
    made = StorePool()
    yield made
    made.close()


def two(**words: Any) -> tuple[Shelf, Shelf, Together]:
    one, other = Shelf("one"), Shelf("other", **words)
    return one, other, Together(orders=one, events=other)


def test_a_place_has_a_place_in_each_store(pool):
    """By the name that the store was given; it travels to other processes."""
    _, _, store = two()

    place = pickle.loads(pickle.dumps(pool.running(store).place("p")))

    assert (place.orders.path, place.events.path) == ("/one/p", "/other/p")
    assert place.allowed == ("/one/p", "/other/p")


def test_an_unknown_name_of_a_place_is_answered_with_the_nearest():
    """As everywhere."""
    place = JointPlace({"orders": 1, "events": 2})

    with pytest.raises(AttributeError, match=r"no store 'order'; did you mean 'orde"):
        _ = place.order
    assert not hasattr(place, "url")
    assert not hasattr(place, "__len__")


def test_a_store_that_runs_is_shared_with_who_has_it_alone(pool):
    """A server is started once, and ended once."""
    one, other, store = two()
    pool.running(one)

    pool.running(store)
    pool.running(Together(a=other, b=one))
    pool.close()

    assert [one.notes, other.notes] == [["start", "stop"], ["start", "stop"]]


def test_dropping_a_place_drops_it_in_each_store(pool):
    """One that cannot be dropped does not keep the others."""
    one, other, store = two(drop_fails=True)
    one_more = Shelf("more")
    store = Together(events=other, orders=one, more=one_more)
    running = pool.running(store)

    with pytest.raises(StoreError, match="other keeps /other/p"):
        running.drop(running.place("p"))

    assert one.notes[-1] == "drop /one/p"
    assert one_more.notes[-1] == "drop /more/p"


def test_a_place_is_made_in_all_stores_or_in_none(pool):
    """What was made before one fails is dropped."""
    one, _, store = two(place_fails=True)

    with pytest.raises(StoreError, match="other is full"):
        pool.running(store).place("p")

    assert one.notes[-2:] == ["place p", "drop /one/p"]


def test_it_starts_its_stores_by_itself_and_ends_them(tmp_path):
    """Where one does not start, those before it are ended."""
    one, other, store = two()
    store.start(tmp_path).stop()
    broken = Together(orders=one, events=Shelf("broken", start_fails=True))
    again = tmp_path / "again"
    again.mkdir()

    with pytest.raises(StoreError, match="broken does not start"):
        broken.start(again)

    assert one.notes == ["start", "stop", "start", "stop"]
    assert other.notes == ["start", "stop"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "two stores or more"),
        ({"orders": Postgres()}, "two stores or more"),
        ({"orders": Postgres, "events": Kafka()}, "orders is <class"),
        ({"orders": Postgres(), "events": "a:secret@b"}, "events is a text"),
        ({"allowed": Postgres(), "events": Kafka()}, "cannot be called allowed"),
        ({"places": Postgres(), "events": Kafka()}, "cannot be called places"),
        ({"_a": Postgres(), "events": Kafka()}, "cannot be called _a"),
        ({"a": Kafka(), "b": Kafka()}, "a and b are one store"),
        (
            {"a": Postgres(), "b": Unreliable(Postgres())},
            "a and b are one store",
        ),
        (
            {"both": Together(a=Postgres(), b=Kafka()), "c": Kafka()},
            "name them all in one Together",
        ),
        (
            {
                "a": Unreliable(Postgres()),
                "b": Unreliable(Postgres("postgresql://h/x")),
            },
            "a and b cannot be broken in one test",
        ),
    ],
)
def test_what_cannot_be_put_together_is_refused(given, message):
    """With what to write; a text is not shown, as it may hold a password."""
    with pytest.raises(StoreError, match=message):
        Together(**given)


def test_it_says_what_it_is_made_of():
    """In names, in what is missing, and in versions."""
    one = Shelf("one", lacks=("install x",))
    other = Shelf("other", lacks=("install x", "install y"))
    store = Together(orders=one, events=other)

    assert store.name == "one-other"
    assert store.missing() == ("install x", "install y")
    assert store.version() == "one 1.0, other 1.0"
    assert (
        repr(Together(a=Postgres(), b=Kafka())) == "Together(a=Postgres(), b=Kafka())"
    )
    assert len({Together(a=Postgres(), b=Kafka()) for _ in range(2)}) == 1


def test_needs_of_the_stores_are_put_together(pool):
    """A jar that two need is named once; lists grow."""
    clients = Path("/c/kafka-clients-3.9.jar")
    one = Shelf(
        "one",
        wants=SparkNeeds(
            (Path("/c/one-1.0.jar"), clients), (("spark.sql.extensions", "a.A"),), "2.0"
        ),
    )
    other = Shelf(
        "other",
        wants=SparkNeeds(
            (clients,), (("spark.sql.extensions", "b.B"), ("spark.x", "1"))
        ),
    )

    found = pool.needs(Together(orders=one, events=other), {})

    assert found.jars == (Path("/c/one-1.0.jar"), clients)
    assert dict(found.settings) == {"spark.sql.extensions": "a.A,b.B", "spark.x": "1"}
    assert found.version == "one 2.0, other 1.0"
    assert pool.needs(Together(a=Shelf("c"), b=Shelf("d")), {}) == NO_NEEDS


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (
            SparkNeeds((Path("/c/clients-3.9.jar"),)),
            SparkNeeds((Path("/c/clients-4.0.jar"),)),
            "clients as clients-4.0.jar, and another of the stores as clients-3.9",
        ),
        (
            SparkNeeds(settings=(("spark.sql.catalog.c", "x"),)),
            SparkNeeds(settings=(("spark.sql.catalog.c", "y"),)),
            "needs spark.sql.catalog.c as y",
        ),
    ],
)
def test_needs_that_cannot_be_in_one_session_are_refused(pool, one, other, message):
    """Two versions of one library, or two values of one setting."""
    store = Together(orders=Shelf("one", wants=one), events=Shelf("other", wants=other))

    with pytest.raises(StoreError, match=message):
        pool.needs(store, {})


def test_connections_to_one_of_the_stores_break():
    """The others are reached as they are."""
    store = Together(orders=Unreliable(Postgres()), events=Kafka())
    place = JointPlace(
        {"orders": PostgresPlace("postgresql://u:p@db:5433/x", "s"), "events": "topic"}
    )

    moved = store.moved(place, 9)

    assert breaks(store)
    assert not breaks(itself(store))
    assert itself(store) == Together(orders=Postgres(), events=Kafka())
    assert store.breakable(place).addresses == (("db", 5433),)
    assert moved.orders.url == "postgresql://u:p@127.0.0.1:9/x"
    assert moved.events == "topic"


def test_all_of_them_at_once_cannot_be_unreliable():
    """It says which form is meant."""
    with pytest.raises(StoreError, match=r"Together\(orders=Unreliable\(Postgres"):
        Unreliable(Together(orders=Postgres(), events=Kafka()))


def test_a_path_in_one_of_the_places_is_read_in_its_format(tmp_path):
    """As it is where that store is alone."""
    place = JointPlace(
        {"a": FolderPlace("/nowhere", "iceberg"), "b": FolderPlace(str(tmp_path), "x")}
    )

    class Session:
        read = property(lambda self: self)

        def format(self, name):
            self.asked = name
            return self

        def load(self, path):
            return self.asked, path

    class Sink:
        read = str(tmp_path / "t")

    assert readers_of(Sink, place)[""](Session()) == ("x", str(tmp_path / "t"))
