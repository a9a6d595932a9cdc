"""What a query is started with, and what is known of it once it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject import sandbox
from onceproof.spark_checks.inject.refusal import refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from onceproof.spark_checks.inject.forked_driver import ForkedDriver
    from onceproof.spark_checks.plan.rules import RuleSet


@dataclass(frozen=True)
class Start:
    """What a query is started with.

    In the process of the tests, ``driver`` is the process that Spark calls back
    and ``batches`` gives the events of one batch, of those that are ``offered``.
    In a host, ``called_back`` has a writer call a function of the user's.
    """

    events: DataFrame
    """The streaming DataFrame that the query reads."""
    checkpoint: Path
    """The checkpoint that the query must use."""
    plan: RuleSet
    """The rules of the run."""
    driver: ForkedDriver | None = None
    """In the process of the tests, the host that Spark's callbacks are forwarded to."""
    batches: Callable[[int], DataFrame] | None = None
    """In the process of the tests, returns the events of one batch."""
    offered: int = 0
    """How many batches the input holds."""
    called_back: Callable[[DataStreamWriter, Any], None] | None = None
    """In a host, makes a writer call a function of the user's code."""

    @property
    def writer(self) -> DataStreamWriter:
        """Begin a query that ends when all events are read."""
        writer = self.events.writeStream.trigger(availableNow=True)
        return writer.option("checkpointLocation", str(self.checkpoint))

    @property
    def forked_driver(self) -> ForkedDriver:
        """The driver that is called back."""
        if self.driver is None:
            message = "the query runs in a host, which has no driver to call back"
            raise RuntimeError(message)
        self.driver.called_back()
        return self.driver

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that name a place which is not the sink's own.

        Raises ``UsageError``.
        """
        for key, value in options.items():
            if not sandbox.permitted(key, str(value), self.plan.allowed):
                raise UsageError(refusal(self.plan.sink, str(value)))


class StartedQuery(Protocol):
    """A query, or what is run like one."""

    def awaitTermination(self, timeout: int) -> bool | None:  # noqa: N802 - Spark's name
        """Wait for the end; say whether it came."""

    def stop(self) -> None:
        """End it."""
