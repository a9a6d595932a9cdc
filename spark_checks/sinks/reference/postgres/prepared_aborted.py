"""A DataSource writer whose ``abort`` rolls back what ``commit`` has decided.

The decision is written down, as it should be. But a ``commit`` that fails after it is
followed by ``abort``, which rolls back all that its messages name. The next driver
finds the batch decided, finds no transaction to commit, and takes that for one that is
committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource

from onceproof.model.protocols.parts.sinks.prepared import PreparedAborted
from onceproof.spark_checks.sinks.interface import Format, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
from onceproof.spark_checks.sinks.reference.postgres.prepared import (
    PreparingWriter,
    end,
)
from onceproof.spark_checks.stores.postgres.store import Postgres

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


class AbortingWriter(PreparingWriter):
    """Prepares in tasks, decides and commits in ``commit``, rolls all back after it."""

    def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803, ARG002 - Spark's name
        """Roll back what is still prepared, decided or not."""
        for message in messages:
            if message is not None:
                end(self.url, "ROLLBACK PREPARED {}", message.transaction)


class AbortingTransactions(DataSource):
    """The format ``aborting_transactions`` with the option ``address``."""

    @classmethod
    def name(cls) -> str:
        """Name the format."""
        return "aborting_transactions"

    def streamWriter(self, schema: StructType, overwrite: bool) -> AbortingWriter:  # noqa: N802, ARG002, FBT001 - Spark's signature
        """Make the writer."""
        return AbortingWriter(self.options["address"])


def build(target: Target) -> Format:
    """Read what is committed."""
    ledger = "batch_id bigint PRIMARY KEY, transactions text[]"
    url = tables.create(target, ledger=ledger)
    return Format(AbortingTransactions, {"address": url}, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-prepared-aborted",
    build=build,
    model=PreparedAborted,
    steps={
        "write": "prepare_rows",
        "sink.decide": "decide",
        "sink.commit_prepared": "commit_prepared",
    },
    refuted=frozenset(PreparedAborted.breaks),
    store=Postgres(),
)
