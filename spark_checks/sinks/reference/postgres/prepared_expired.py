"""A DataSource writer with a clean-up that gives up what earlier runs left prepared.

A prepared transaction holds locks until someone ends it, so people roll back old ones:
by a job, or as here by the sink itself as it begins to commit. What an earlier run had
decided, and not yet committed, is rolled back with the rest. The batch is then taken
for committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from pyspark.sql.datasource import DataSource

from onceproof.model.protocols.parts.sinks.prepared import PreparedExpired
from onceproof.spark_checks.sinks.interface import Format, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.sinks.reference.postgres.prepared import (
    PreparedRows,
    PreparingWriter,
    end,
    prepare_rows,
)
from onceproof.spark_checks.stores.postgres.store import Postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.types import StructType

LEFT = "SELECT gid FROM pg_prepared_xacts WHERE starts_with(gid, %s)"


def roll_back_old(url: str, prefix: str, new: set[str]) -> None:
    """Roll back the prepared transactions of a prefix that are not new."""
    with psycopg.connect(url) as db:
        left = {gid for (gid,) in db.execute(LEFT, (prefix,))}
    for transaction in sorted(left - new):
        end(url, "ROLLBACK PREPARED {}", transaction)


class ExpiringWriter(PreparingWriter):
    """Prepares in tasks; cleans up, decides and commits in ``commit``."""

    def __init__(self, url: str, prefix: str) -> None:
        """Write to the database at ``url``; ids of transactions begin with a prefix."""
        super().__init__(url)
        self.prefix = prefix

    def write(self, iterator: Iterator[Any]) -> PreparedRows:
        """Prepare the rows of a partition."""
        return PreparedRows(prepare_rows(self.url, list(iterator), prefix=self.prefix))

    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Roll back what earlier runs left, and commit after that."""
        new = {message.transaction for message in messages}
        roll_back_old(self.url, self.prefix, new)
        super().commit(messages, batchId)


class ExpiringTransactions(DataSource):
    """The format ``expiring_transactions`` with options ``address`` and ``prefix``."""

    @classmethod
    def name(cls) -> str:
        """Name the format."""
        return "expiring_transactions"

    def streamWriter(self, schema: StructType, overwrite: bool) -> ExpiringWriter:  # noqa: N802, ARG002, FBT001 - Spark's signature
        """Make the writer."""
        return ExpiringWriter(self.options["address"], self.options["prefix"])


def build(target: Target) -> Format:
    """Read what is committed."""
    ledger = "batch_id bigint PRIMARY KEY, transactions text[]"
    url = tables.create(target, ledger=ledger)
    options = {"address": url, "prefix": target.name}
    return Format(ExpiringTransactions, options, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-prepared-expired",
    build=build,
    model=PreparedExpired,
    steps={
        "write": "prepare_rows",
        "sink.decide": "decide",
        "sink.commit_prepared": "commit_prepared",
    },
    refuted=frozenset(PreparedExpired.breaks),
    store=Postgres(),
)
