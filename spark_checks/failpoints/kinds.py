"""The kinds of sink that can be put under test: how each starts, and how it is struck.

All that differs between kinds is here: another kind is another class of this file.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.spark_checks.failpoints.checkpoint import undo_file_commit
from onceproof.spark_checks.failpoints.driver import mortal
from onceproof.spark_checks.failpoints.rules import RUN_PROPERTY
from onceproof.spark_checks.failpoints.runs import NotReplayable, Run
from onceproof.spark_checks.sinks.interface import (
    Files,
    Foreach,
    ForeachBatch,
    Format,
    UnderTest,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSource
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from onceproof.model.language.steps import Event
    from onceproof.spark_checks.failpoints.rules import Plan


@dataclass(frozen=True)
class Start:
    """What a query is started with: ``still`` is held while a driver is forked."""

    spark: SparkSession
    writer: DataStreamWriter
    plan: Plan
    still: AbstractContextManager[object]


class Kind(ABC):
    """One sink under test, as the plan of its faults sees it."""

    @abstractmethod
    def start(self, start: Start) -> StreamingQuery:
        """Start the query into the sink."""

    def before_log_commit(self, run: Run, batch: int) -> None:
        """End the run when the sink is done with a batch, and its log is not."""
        run.springs(batch)

    def before_tasks(self, run: Run, batch: int) -> bool:  # noqa: ARG002 - for subclasses
        """End the run before a batch's tasks start; say whether that can be done."""
        return False

    def inside(self, run: Run, written: set[int], step: Event, *, again: bool) -> None:
        """End the run before a step that Spark takes by itself.

        ``written`` holds the partitions whose tasks are done by then; ``again`` says
        that an earlier run committed the batch to the sink.
        """
        del run, written, again
        message = f"{step} happens inside Spark, out of reach"
        raise NotReplayable(message)

    def undo(self, checkpoint: Path, batch: int, written: set[int]) -> None:
        """Take back a commit that ``inside`` asked to be taken back."""
        raise NotImplementedError

    def edits(self) -> Path | None:
        """Name the folder that ``undo`` edits, if any."""
        return None

    def no_abort(self, run: Run, batch: int) -> None:
        """Let no abort be called: a driver that is dead calls none."""
        del run, batch

    def mortal_only(self) -> str:
        """Say why no task that is given up can live on, if none can."""
        return ""


class ForeachBatchKind(Kind):
    """The callback runs in a child that dies for the driver."""

    def __init__(self, sink: ForeachBatch) -> None:
        """Put ``sink`` under test."""
        self._write = sink.write

    def start(self, start: Start) -> StreamingQuery:
        """Start the query, with the callback in children."""
        callback = mortal(self._write, start.plan, start.still)
        return start.writer.foreachBatch(callback).start()

    def before_log_commit(self, run: Run, batch: int) -> None:
        """Let the driver die as the callback returns."""
        run.stops(self._write.__qualname__, "return", batch, "die")

    def before_tasks(self, run: Run, batch: int) -> bool:
        """Let the driver die as the callback is called."""
        run.stops(self._write.__qualname__, "call", batch, "die")
        return True


class ForeachKind(Kind):
    """The writer is called in tasks alone."""

    def __init__(self, sink: Foreach) -> None:
        """Put ``sink`` under test."""
        self._writer = sink.writer

    def start(self, start: Start) -> StreamingQuery:
        """Start the query."""
        return start.writer.foreach(self._writer).start()


class FormatKind(Kind):
    """A format that Spark knows by name: all it does is out of reach."""

    def __init__(self, sink: Format) -> None:
        """Put ``sink`` under test."""
        self._options = sink.options
        self._name = sink.name if isinstance(sink.name, str) else ""

    def start(self, start: Start) -> StreamingQuery:
        """Start the query."""
        return start.writer.format(self._name).options(**self._options).start()


class DataSourceKind(FormatKind):
    """A Python DataSource: its commit and abort run in Python, and can be struck."""

    def __init__(self, sink: Format, source: type[DataSource]) -> None:
        """Put the ``source`` of ``sink`` under test."""
        super().__init__(sink)
        self._source = source

    def start(self, start: Start) -> StreamingQuery:
        """Register the source and start the query."""
        start.spark.dataSource.register(self._source)
        writer = start.writer.option(RUN_PROPERTY, start.plan.run)
        return writer.format(self._source.name()).options(**self._options).start()

    def no_abort(self, run: Run, batch: int) -> None:
        """Let the process die that would call abort, of any writer of the module."""
        from pyspark.sql.datasource import DataSourceStreamWriter  # noqa: PLC0415

        module = vars(sys.modules[self._source.__module__])
        for what in module.values():
            if (
                isinstance(what, type)
                and issubclass(what, DataSourceStreamWriter)
                and "abort" in vars(what)
            ):
                run.rule(what.abort.__qualname__, "call", batch, "die")


class FilesKind(Kind):
    """Spark's file sink: a run that is done is made to look as if it had died."""

    def __init__(self, sink: Files) -> None:
        """Put ``sink`` under test."""
        self._sink = sink

    def start(self, start: Start) -> StreamingQuery:
        """Start the query."""
        return start.writer.format(self._sink.format).start(self._sink.path)

    def inside(self, run: Run, written: set[int], step: Event, *, again: bool) -> None:
        """Let the batch be done, and ask for what its commit left to be taken back."""
        batch = step.members[0]
        if again:
            message = "Spark skips a batch that its manifest names, tasks and all"
            raise NotReplayable(message)
        run.undo = (batch, written)
        run.how.append(f"edit: manifest and commits of batch {batch} taken back")

    def undo(self, checkpoint: Path, batch: int, written: set[int]) -> None:
        """Edit the manifest, the files and the checkpoint."""
        undo_file_commit(Path(self._sink.path), checkpoint, batch, written)

    def edits(self) -> Path | None:
        """Name the folder of the files."""
        return Path(self._sink.path)

    def mortal_only(self) -> str:
        """Say that the writer is Spark's own."""
        return "no failpoint keeps a task of Spark's own file writer alive"


def kind_of(sink: UnderTest) -> Kind:
    """Give the kind of a sink under test.

    Raises ``UsageError`` for what is none.
    """
    if isinstance(sink, Format) and isinstance(sink.name, type):
        return DataSourceKind(sink, sink.name)
    kind = _KINDS.get(type(sink))
    if kind is None:
        message = f"{type(sink).__name__} is no kind of sink; see {__name__}"
        raise UsageError(message)
    return kind(sink)


_KINDS: dict[type[object], Callable[[Any], Kind]] = {
    ForeachBatch: ForeachBatchKind,
    Foreach: ForeachKind,
    Format: FormatKind,
    Files: FilesKind,
}
