"""What a source is: how a query reads the events from it, and what it needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from onceproof.spark_checks.stores.interface import RunningStore, SinkStore


class QueryInput(Protocol):
    """The input of one query: it holds the batches that were offered, in order."""

    def offer(self, begin: int, end: int) -> None:
        """Let it hold the batches from ``begin`` to ``end``, too."""

    def hold_again(self, end: int) -> None:
        """Hold the first batches up to ``end`` again, as before more were offered.

        The folder of the input has been put back by then.
        """

    def frames(self, spark: SparkSession) -> list[DataFrame]:
        """Return the streams of events: one for each input of the query."""

    def ends(self, begin: int, end: int) -> list[int]:
        """Return what a run is offered, run by run, to read from ``begin`` to ``end``.

        A source that offers one batch to each run by ``availableNow`` needs several.
        """

    def read(self, checkpoint: Path, offered: int) -> int:
        """Return how many batches a query that rests has read, of those offered.

        A source that makes its events itself may have been read beyond what was
        offered.
        """

    def read_by(self, sources: Sequence[str]) -> int:
        """Return how many batches have been read where an entry of the offset log ends.

        ``sources`` are its lines, one for each input of the query.
        """

    def close(self) -> None:
        """Remove what it holds outside of its folder."""


@dataclass(frozen=True)
class EventSource:
    """A kind of source."""

    opened: Callable[[Path, int, RunningStore | None], QueryInput]
    """Takes a folder, how many inputs the query has, and the store that runs; returns
    the query's input."""
    store: SinkStore | None = None
    """The store that it reads from, which is started if need be."""
    triggers: tuple[str, ...] = ("available-now", "processing-time")
    """The triggers with which a query on it comes to an end."""
    one_batch_a_run: bool = False
    """Whether a run by ``available-now`` reads one batch beyond those that the offset
    log names as it starts, and then ends."""
