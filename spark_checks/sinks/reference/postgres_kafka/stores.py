"""What the sinks on two stores share: the table of orders, and who reads the two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.spark_checks.sinks.reference.kafka import topics
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.stores.kafka.store import Kafka
from onceproof.spark_checks.stores.postgres.store import Postgres
from onceproof.spark_checks.stores.together import Together

if TYPE_CHECKING:
    from onceproof.spark_checks.sinks.interface import Readers, Target

STORE = Together(orders=Postgres(), events=Kafka())


def create(target: Target, *, ledger: str = "") -> str:
    """Make the table of orders, which are flights here; return the URL."""
    return tables.create(replace(target, store=target.store.orders), ledger=ledger)


def readers(target: Target) -> Readers:
    """Return who reads the two: each order is owed a row and an event."""
    place = target.store
    return {
        "orders": tables.reader(place.orders.url),
        "events": topics.reader(place.events),
    }
