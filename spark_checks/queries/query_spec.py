"""A streaming query as data: what it computes, and what a batch run would show."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame


class OutputMode(StrEnum):
    """What a batch of a query writes."""

    APPEND = "append"
    UPDATE = "update"
    COMPLETE = "complete"


def itself(second: int) -> int:
    """Return the second: an event is late if the watermark has passed it."""
    return second


@dataclass(frozen=True)
class QuerySpec:
    """A query, which runs as a stream and as a batch over the same events."""

    name: str
    """Its name, such as ``window-append``."""
    run: Callable[..., DataFrame]
    """Takes one DataFrame of events, or two; returns the result."""
    mode: OutputMode = OutputMode.APPEND
    """What each batch writes."""
    key: tuple[str, ...] = ()
    """The columns that identify a row: in update mode a later row replaces it."""
    inputs: int = 1
    """How many inputs it has: one, or two, which are watermarked apart."""
    stateful: bool = True
    """Whether it keeps state from batch to batch."""
    closes: Callable[[int], int] | None = None
    """For the second of an event, when its result takes no more events; None if it is
    late once the watermark has passed it."""
    watermarked: bool = True
    """Whether lateness drops events."""
    batch: Callable[..., DataFrame] | None = None
    """The same as a batch query, where Spark does not run ``run`` on a batch."""
    only_rocksdb: bool = False
    """Whether only the RocksDB provider can keep its state."""
    since: str = ""
    """The first version of PySpark that runs it, such as ``4.1``; empty for all."""
    writes: int = 1
    """How many actions a batch of it has in foreachBatch."""
    settings: dict[str, str] = field(default_factory=dict, hash=False)
    """Spark's settings that it needs."""

    def __post_init__(self) -> None:
        """Take texts for the mode and the key, too. Raises ``UsageError``."""
        modes = [str(mode) for mode in OutputMode]
        if self.mode not in modes:
            message = f"mode is one of {', '.join(modes)}, not {self.mode!r}"
            raise UsageError(message)
        key = (self.key,) if isinstance(self.key, str) else tuple(self.key)
        object.__setattr__(self, "mode", OutputMode(self.mode))
        object.__setattr__(self, "key", key)

    def of_batch(self, *events: Any) -> DataFrame:
        """Return the result of a batch run over all events."""
        return (self.batch or self.run)(*events)


FIELDS = tuple(one.name for one in fields(QuerySpec))
"""The names of what a query has."""
