"""A DataSource writer whose tasks prepare transactions, and whose commit commits them.

The decision which transactions make up a batch is a row of its own, written before the
first of them is committed.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors, sql
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamWriter,
    WriterCommitMessage,
)

from onceproof.model.protocols.parts.sinks.prepared import Prepared
from onceproof.spark_checks.sinks.interface import Format, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.stores.postgres.store import Postgres

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Row
    from pyspark.sql.types import StructType


@dataclass
class PreparedRows(WriterCommitMessage):
    """The transaction that a task has prepared."""

    transaction: str
    """Its global id."""


def prepare_rows(url: str, rows: list[Row], *, prefix: str = "onceproof") -> str:
    """Write rows in a transaction of a new id, and prepare it."""
    name = f"{prefix}_{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("BEGIN")
        tables.insert(db, rows)
        db.execute(sql.SQL("PREPARE TRANSACTION {}").format(sql.Literal(name)))
    return name


def decided(url: str, batch_id: int) -> list[str] | None:
    """Return the transactions that make up a batch, if that is decided."""
    with psycopg.connect(url) as db:
        known = "SELECT transactions FROM ledger WHERE batch_id = %s"
        found = db.execute(known, (batch_id,)).fetchone()
    return None if found is None else list(found[0])


def decide(url: str, batch_id: int, transactions: list[str]) -> None:
    """Decide which transactions make up a batch."""
    with psycopg.connect(url) as db:
        db.execute("INSERT INTO ledger VALUES (%s, %s)", (batch_id, transactions))


def commit_prepared(url: str, transaction: str) -> None:
    """Commit a transaction, unless it is committed."""
    end(url, "COMMIT PREPARED {}", transaction)


def end(url: str, statement: str, transaction: str) -> None:
    """Commit a prepared transaction, or roll it back, if it is there."""
    with psycopg.connect(url, autocommit=True) as db, suppress(errors.UndefinedObject):
        db.execute(sql.SQL(statement).format(sql.Literal(transaction)))


class PreparingWriter(DataSourceStreamWriter):
    """Prepares in tasks; decides and commits in ``commit``; rolls back in ``abort``."""

    def __init__(self, url: str) -> None:
        """Write to the database at ``url``."""
        self.url = url

    def write(self, iterator: Iterator[Any]) -> PreparedRows:
        """Prepare the rows of a partition."""
        return PreparedRows(prepare_rows(self.url, list(iterator)))

    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Commit what was decided first; roll back what was prepared since."""
        prepared = [message.transaction for message in messages]
        chosen = decided(self.url, batchId)
        if chosen is None:
            decide(self.url, batchId, prepared)
            chosen = prepared
        for transaction in chosen:
            commit_prepared(self.url, transaction)
        for transaction in set(prepared) - set(chosen):
            end(self.url, "ROLLBACK PREPARED {}", transaction)

    def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Roll back what was prepared and is not decided."""
        kept = decided(self.url, batchId) or []
        for message in messages:
            if message is not None and message.transaction not in kept:
                end(self.url, "ROLLBACK PREPARED {}", message.transaction)


class PreparedTransactions(DataSource):
    """The format ``prepared_transactions`` with the option ``address``."""

    @classmethod
    def name(cls) -> str:
        """Name the format."""
        return "prepared_transactions"

    def streamWriter(self, schema: StructType, overwrite: bool) -> PreparingWriter:  # noqa: N802, ARG002, FBT001 - Spark's signature
        """Make the writer."""
        return PreparingWriter(self.options["address"])


def build(target: Target) -> Format:
    """Read what is committed."""
    ledger = "batch_id bigint PRIMARY KEY, transactions text[]"
    url = tables.create(target, ledger=ledger)
    return Format(PreparedTransactions, {"address": url}, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-prepared",
    build=build,
    model=Prepared,
    steps={
        "write": "prepare_rows",
        "sink.decide": "decide",
        "sink.commit_prepared": "commit_prepared",
    },
    refuted=frozenset({"atomic-visibility"}),
    store=Postgres(),
)
