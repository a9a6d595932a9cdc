"""What lies in a reader's folder while the examples of a page are run."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

from onceproof.properties.evidence.store import write
from onceproof.spark_checks import (
    S3,
    Delta,
    DuckDB,
    Iceberg,
    Kafka,
    Postgres,
    Together,
)
from onceproof.spark_checks.session.store_pool import StorePool
from tests.spark_checks.projects import recorded
from tests.spark_checks.stores.needed import needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from onceproof.spark_checks.stores.interface import SinkStore

KEPT = 1
"""How many runs a failing test keeps, with what they left."""


@contextmanager
def nothing(_: Path) -> Iterator[None]:
    """An empty folder."""
    yield


@contextmanager
def two_sinks(folder: Path) -> Iterator[None]:
    """Two sinks; one has left evidence, and was changed since."""
    (folder / "sinks").mkdir()
    orders, audit = (folder / "sinks" / f"{name}.py" for name in ("orders", "audit"))
    orders.write_text("def orders(target):\n    return target\n")
    audit.write_text("def audit(target):\n    return target\n")
    command = (
        "pytest tests/test_orders.py::test_orders --onceproof-evidence=docs/evidence"
    )
    write([recorded(folder, command=command)], folder / "docs" / "evidence")
    orders.write_text("def orders(target):\n    return target.path\n")
    yield


def machine_for(store: SinkStore) -> Callable[[Path], AbstractContextManager[None]]:
    """Give a machine that can start a store; the page is skipped where it cannot."""

    @contextmanager
    def given(_: Path) -> Iterator[None]:
        needs(store)
        yield

    return given


@contextmanager
def own_server(folder: Path) -> Iterator[None]:
    """A server that runs, and its URL; afterwards one run's table is left on it."""
    import psycopg

    stores = StorePool()
    try:
        place = stores.running(needs(Postgres())).place("shop")
        (folder / "settings.py").write_text(f"DATABASE_URL = {place.url!r}\n")
        yield
        with psycopg.connect(place.url) as db:
            found = db.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'shop'"
            )
            left = found.fetchall()
        assert len(left) == KEPT, f"the page's sinks leave tables: {left}"
    finally:
        stores.close()


@contextmanager
def two_tables(folder: Path) -> Iterator[None]:
    """A source of six payments, and a sink that repeats one and lacks the last."""
    source = [
        {"payment_id": f"p{n}", "amount": n, "at": f"2026-01-0{1 + n // 4}T0{n}:00:00"}
        for n in range(1, 7)
    ]
    source[4]["at"] = source[5]["at"] = "2026-01-02T18:00:00"
    sink = [*source[:5], source[1]]
    for name, rows in (("landing", source), ("warehouse", sink)):
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / f"{name}.json").write_text(lines)
    yield


GIVEN = {
    "docs/how-to/delta.md": machine_for(Delta()),
    "docs/how-to/duckdb.md": machine_for(DuckDB()),
    "docs/how-to/guarantee-sheet.md": two_sinks,
    "docs/how-to/iceberg.md": machine_for(Iceberg()),
    "docs/how-to/kafka.md": machine_for(Kafka()),
    "docs/how-to/two-stores.md": machine_for(Together(a=Postgres(), b=Kafka())),
    "docs/how-to/lost-replies.md": machine_for(Postgres()),
    "docs/how-to/own-server.md": own_server,
    "docs/how-to/postgres.md": machine_for(Postgres()),
    "docs/how-to/reconcile.md": two_tables,
    "docs/how-to/s3.md": machine_for(S3()),
}
