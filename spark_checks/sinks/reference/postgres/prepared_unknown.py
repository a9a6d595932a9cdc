"""A DataSource writer that decides on a batch, and forgets which transactions it is.

Their ids are random, and only the messages of one run have them. A driver that starts
again finds the batch decided, cannot find what to commit, and takes it for committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from pyspark.sql.datasource import DataSource, DataSourceStreamWriter

from onceproof.model.protocols.parts.sinks.prepared import PreparedUnknown
from onceproof.spark_checks.sinks.interface import Format, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.sinks.reference.postgres.ledger_apart import in_ledger
from onceproof.spark_checks.sinks.reference.postgres.prepared import (
    PreparedRows,
    commit_prepared,
    end,
    prepare_rows,
)
from onceproof.spark_checks.stores.postgres.store import Postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.types import StructType


def decide(url: str, batch_id: int) -> None:
    """Decide that a batch is committed, whatever it is made of."""
    with psycopg.connect(url) as db:
        db.execute("INSERT INTO ledger VALUES (%s)", (batch_id,))


class ForgetfulWriter(DataSourceStreamWriter):
    """Prepares in tasks; decides and commits in ``commit``; rolls back in ``abort``."""

    def __init__(self, url: str) -> None:
        """Write to the database at ``url``."""
        self.url = url

    def write(self, iterator: Iterator[Any]) -> PreparedRows:
        """Prepare the rows of a partition."""
        return PreparedRows(prepare_rows(self.url, list(iterator)))

    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Commit what is prepared now, unless the batch is decided."""
        if in_ledger(self.url, batchId):
            self.roll_back(messages)
            return
        decide(self.url, batchId)
        for message in messages:
            commit_prepared(self.url, message.transaction)

    def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Roll back what is prepared, unless the batch is decided."""
        if not in_ledger(self.url, batchId):
            self.roll_back(messages)

    def roll_back(self, messages: list[Any]) -> None:
        """Roll back what a run has prepared."""
        for message in messages:
            if message is not None:
                end(self.url, "ROLLBACK PREPARED {}", message.transaction)


class ForgottenTransactions(DataSource):
    """The format ``forgotten_transactions`` with the option ``address``."""

    @classmethod
    def name(cls) -> str:
        """Name the format."""
        return "forgotten_transactions"

    def streamWriter(self, schema: StructType, overwrite: bool) -> ForgetfulWriter:  # noqa: N802, ARG002, FBT001 - Spark's signature
        """Make the writer."""
        return ForgetfulWriter(self.options["address"])


def build(target: Target) -> Format:
    """Read what is committed."""
    url = tables.create(target, ledger="batch_id bigint PRIMARY KEY")
    return Format(ForgottenTransactions, {"address": url}, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-prepared-unknown",
    build=build,
    model=PreparedUnknown,
    steps={
        "write": "prepare_rows",
        "sink.decide": "decide",
        "sink.commit_prepared": "commit_prepared",
    },
    refuted=frozenset(PreparedUnknown.breaks),
    store=Postgres(),
)
