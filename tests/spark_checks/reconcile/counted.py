"""Counts as Spark gives them, made without Spark."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

from onceproof.spark_checks.reconcile.circumstances import Circumstances
from onceproof.spark_checks.reconcile.event_counts import EventCount, EventCounts
from onceproof.spark_checks.reconcile.reconciliation import judged
from onceproof.spark_checks.reconcile.request import Pair, ReconcileRequest

READ = Circumstances(
    source="parquet:landing",
    sink="jdbc:postgresql://host/db; dbtable=payments",
    began=dt.datetime(2026, 2, 1, 3, 4, 5, tzinfo=dt.UTC),
    ended=dt.datetime(2026, 2, 1, 3, 5, 6, tzinfo=dt.UTC),
    master="local[*]",
    command="onceproof reconcile --source parquet:landing --key id",
    versions={"onceproof": "1.0", "Spark": "4.1.4"},
)


def outcome(by=None, *, sources=1, visible=1, events=10, owed=True, sums=None):
    """Some events of a group; by default each is owed, and seen once."""
    amounts = (Decimal(events), Decimal(events * visible)) if sums is None else sums
    return EventCount(
        by=by,
        owed=owed,
        sources=sources,
        alike=True,
        visible=visible,
        changed=False,
        identified=True,
        events=events,
        rows=events * sources,
        sums=(amounts,),
    )


def reconciled(*outcomes, examples=None, by="day", sums=("amount",), **more):
    """What outcomes are judged as."""
    request = ReconcileRequest(
        key=(Pair("id", "id"), Pair("part", "p")),
        by=by,
        sums=tuple(Pair(name, name) for name in sums),
        **more,
    )
    return judged(EventCounts(tuple(outcomes), examples or {}), request)
