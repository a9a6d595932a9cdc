"""A table that is not there has a code in every client, and it is found."""

from __future__ import annotations

import pytest

from onceproof.spark_checks.inject.failures.error_condition import condition_of
from onceproof.spark_checks.inject.failures.failure_reason import named
from onceproof.spark_checks.replay.observations import _NOTHING_THERE
from tests.spark_checks.stores.conftest import needs


@pytest.fixture(scope="module")
def url():
    from onceproof.spark_checks import Postgres
    from onceproof.spark_checks.session.store_pool import StorePool

    stores = StorePool()
    running = stores.running(needs(Postgres()))
    yield running.place("onceproof_nothing").url
    stores.close()


def raised(read, about="orders"):
    with pytest.raises(Exception, match=about) as caught:
        read()
    return caught.value


def test_psycopg_and_sqlalchemy_say_that_a_table_is_not_there(url):
    """By the SQLSTATE of PostgreSQL, which readers then see nothing by."""
    import psycopg
    import sqlalchemy

    def plain():
        with psycopg.connect(url) as db:
            db.execute("SELECT * FROM orders")

    def wrapped():
        address = url.replace("postgresql://", "postgresql+psycopg://")
        engine = sqlalchemy.create_engine(address)
        try:
            with engine.connect() as db:
                db.execute(sqlalchemy.text("SELECT * FROM orders"))
        finally:
            engine.dispose()

    for read in (plain, wrapped):
        assert condition_of(raised(read)) in _NOTHING_THERE


def test_another_error_of_the_database_is_no_missing_table(url):
    """A reader that fails is said to fail."""
    import psycopg

    def broken():
        with psycopg.connect(url) as db:
            db.execute("SELEKT orders")

    assert condition_of(raised(broken)) not in _NOTHING_THERE
    assert condition_of(ValueError("orders")) == ""


def test_an_error_that_only_follows_on_a_missing_table_is_its_own(url):
    """Whoever handles the one and raises the other means the other."""
    import psycopg

    def handled():
        try:
            with psycopg.connect(url) as db:
                db.execute("SELECT * FROM orders")
        except psycopg.Error as error:
            message = "orders are broken"
            raise RuntimeError(message) from error

    assert condition_of(raised(handled)) == ""


@pytest.mark.spark
def test_an_error_of_java_shows_javas_own_words(pool):
    """And not the number of the object that it was called on."""
    with pool.session(attempts=2, partitions=2) as session:
        read = session.spark.read.format("jdbc").option("dbtable", "orders")
        error = raised(read.option("url", "jdbc:nowhere://x/y").load, "driver")

    assert "No suitable driver" in named(error)
    assert condition_of(error) == "08001"
