"""A DataSource writer that commits prepared transactions, and writes no decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamWriter

from onceproof.model.protocols.parts.sinks.prepared import PreparedUndecided
from onceproof.spark_checks.sinks.interface import Format, ModelledSink, Target
from onceproof.spark_checks.sinks.reference.postgres import tables
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


class HastyWriter(DataSourceStreamWriter):
    """Prepares in tasks, commits in ``commit``, rolls back in ``abort``."""

    def __init__(self, url: str) -> None:
        """Write to the database at ``url``."""
        self.url = url

    def write(self, iterator: Iterator[Any]) -> PreparedRows:
        """Prepare the rows of a partition."""
        return PreparedRows(prepare_rows(self.url, list(iterator)))

    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803, ARG002 - Spark's name
        """Commit one transaction after the other."""
        for message in messages:
            commit_prepared(self.url, message.transaction)

    def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803, ARG002 - Spark's name
        """Roll back what is still prepared."""
        for message in messages:
            if message is not None:
                end(self.url, "ROLLBACK PREPARED {}", message.transaction)


class HastyTransactions(DataSource):
    """The format ``hasty_transactions`` with the option ``address``."""

    @classmethod
    def name(cls) -> str:
        """Name the format."""
        return "hasty_transactions"

    def streamWriter(self, schema: StructType, overwrite: bool) -> HastyWriter:  # noqa: N802, ARG002, FBT001 - Spark's signature
        """Make the writer."""
        return HastyWriter(self.options["address"])


def build(target: Target) -> Format:
    """Read what is committed."""
    url = tables.create(target)
    return Format(HastyTransactions, {"address": url}, read=tables.reader(url))


SINK = ModelledSink(
    name="postgres-prepared-undecided",
    build=build,
    model=PreparedUndecided,
    steps={"write": "prepare_rows", "sink.commit_prepared": "commit_prepared"},
    refuted=frozenset({"at-most-once", "effectively-once", "atomic-visibility"}),
    store=Postgres(),
)
