"""A store whose connections break is the same store, and says what it is made of."""

from __future__ import annotations

import pytest

from onceproof.spark_checks import Postgres, Unreliable
from onceproof.spark_checks.session.processes.client_processes import missing
from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.layered import breaks, itself
from onceproof.spark_checks.stores.postgres.store import PostgresPlace


def test_it_is_the_same_store_and_equal_ones_are_one():
    """So the server is started once."""
    store = Unreliable(Postgres())

    assert store == Unreliable(Postgres())
    assert hash(store) == hash(Unreliable(Postgres()))
    assert itself(store) == itself(Postgres()) == Postgres()
    assert (store.name, store.missing()) == ("postgres", Postgres().missing())
    assert breaks(store)
    assert not breaks(Postgres())
    assert not breaks(None)


@pytest.mark.parametrize("given", [Postgres, None, "postgres", Unreliable(Postgres())])
def test_what_is_no_store_is_refused(given):
    """With what to write."""
    with pytest.raises(StoreError, match=r"as in Unreliable\(Postgres\(\)\)"):
        Unreliable(given)


@pytest.mark.parametrize(
    ("url", "moved"),
    [
        ("postgresql://u:p@db:5433/x", "postgresql://u:p@127.0.0.1:9/x"),
        ("postgresql://u:p%40@[::1]/x", "postgresql://u:p%40@127.0.0.1:9/x"),
        (
            "postgresql://db/x?sslmode=verify-full&options=-c%20a",
            "postgresql://db:9/x?sslmode=verify-full&options=-c%20a&hostaddr=127.0.0.1",
        ),
    ],
)
def test_the_url_goes_through_the_proxy(url, moved):
    """All else stays; a name that is verified stays, too."""
    assert PostgresPlace(url, "s").through(9).url == moved


def test_several_hosts_cannot_be_broken():
    """It says what to do."""
    place = PostgresPlace("postgresql://a:1,b:2/x", "s")

    with pytest.raises(StoreError, match="name one host in the URL"):
        _ = place.addresses


def test_this_system_can_tell_who_holds_a_connection():
    """Elsewhere a store is refused that is unreliable."""
    assert missing() == ""
