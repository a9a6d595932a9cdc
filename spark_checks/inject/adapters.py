"""The kinds of sink that can be put under test: how each starts, and how it is hit.

All that differs between kinds is here: another kind is another class of this file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from onceproof.model.errors import UsageError
from onceproof.spark_checks.inject.batch_job import Scheduler
from onceproof.spark_checks.inject.checkpoint_edits import MANIFEST, undo_file_commit
from onceproof.spark_checks.inject.sink_description import DataSourceClass
from onceproof.spark_checks.inject.steered_start import steered
from onceproof.spark_checks.plan.rules import CALLBACK, RUN_PROPERTY, UNDO
from onceproof.spark_checks.plan.run_plan import NO_SUCH_POINT, NotReplayable
from onceproof.spark_checks.plan.sink_kind import CALLED, STARTS, SinkKind
from onceproof.spark_checks.sinks.allowed_places import is_path
from onceproof.spark_checks.sinks.interface import (
    BatchJob,
    Files,
    Foreach,
    ForeachBatch,
    Format,
    Query,
    UnderTest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql.datasource import DataSource

    from onceproof.model.language.steps import Event
    from onceproof.spark_checks.inject.start import Start, StartedQuery
    from onceproof.spark_checks.plan.run_draft import RunDraft


_JOB = "the function of the job"
_FILE_FORMATS = ("csv", "json", "orc", "parquet", "text")


class Adapter(SinkKind, ABC):
    """One sink under test, which can be started, too."""

    runs_in_spark: ClassVar[bool] = True
    """Whether a streaming query of Spark's writes to the sink."""

    @abstractmethod
    def start(self, start: Start) -> StartedQuery:
        """Start the query into the sink."""


class ForeachBatchKind(Adapter):
    """The callback runs in a host, which dies in the place of the driver."""

    on_driver = CALLED

    def __init__(self, sink: ForeachBatch) -> None:
        """Put ``sink`` under test: its function is called in a host."""

    def start(self, start: Start) -> StartedQuery:
        """Start the query, with the callback in a host."""
        return start.writer.foreachBatch(start.forked_driver).start()

    def before_log_commit(self, run: RunDraft, batch: int) -> None:
        """Let the driver die as the callback returns."""
        run.stops(CALLBACK, "return", batch, "die")

    def before_tasks(self, run: RunDraft, batch: int) -> bool:
        """Let the driver die as the callback is called."""
        run.stops(CALLBACK, "call", batch, "die")
        return True


class ForeachKind(Adapter):
    """The writer is called in tasks alone; it is sent to them from a host."""

    on_driver = STARTS

    def __init__(self, sink: Foreach) -> None:
        """Put ``sink`` under test."""
        self._writer = sink.writer

    def start(self, start: Start) -> StartedQuery:
        """Start the query."""
        return start.writer.foreach(self._writer).start()


class FormatKind(Adapter):
    """A format that Spark knows by name: all it does is out of reach."""

    def __init__(self, sink: Format) -> None:
        """Put ``sink`` under test."""
        self._options = sink.options
        self._name = sink.name if isinstance(sink.name, str) else ""

    def start(self, start: Start) -> StartedQuery:
        """Start the query."""
        start.check(self._options)
        return start.writer.format(self._name).options(**self._options).start()


class DataSourceKind(FormatKind):
    """A Python DataSource: faults can be injected into its commit and abort."""

    on_driver = STARTS

    def __init__(
        self, sink: Format, source: type[DataSource] | DataSourceClass
    ) -> None:
        """Put the ``source`` of ``sink`` under test."""
        super().__init__(sink)
        self._source = source

    def start(self, start: Start) -> StartedQuery:
        """Register the source and start the query."""
        start.check(self._options)
        if isinstance(self._source, DataSourceClass):
            message = "the class of the source is in a host"
            raise TypeError(message)
        start.events.sparkSession.dataSource.register(self._source)
        writer = start.writer.option(RUN_PROPERTY, start.plan.run)
        return writer.format(self._source.name()).options(**self._options).start()

    def no_abort(self, run: RunDraft, batch: int) -> None:
        """Let the process die that would call abort, of any writer of the module."""
        run.rule(UNDO, "call", batch, "die")
        if isinstance(self._source, DataSourceClass):
            for name in self._source.aborts:
                run.rule(name, "call", batch, "die")


class ManifestKind(Adapter):
    """Spark's file sink: a finished run is edited to look as if it had died."""

    @abstractmethod
    def table(self, checkpoint: Path) -> Path:
        """Name the folder of the files."""

    def inside(
        self, run: RunDraft, written: set[int], step: Event, *, again: bool
    ) -> None:
        """Let the batch be done, and ask for what its commit left to be taken back."""
        batch = step.members[0]
        if again:
            message = "Spark skips a batch that its manifest names, tasks and all"
            raise NotReplayable(message, NO_SUCH_POINT)
        run.undo = (batch, written)
        run.how.append(f"edit: manifest and commits of batch {batch} taken back")

    def undo(self, checkpoint: Path, batch: int, written: frozenset[int]) -> None:
        """Edit the manifest, the files and the checkpoint."""
        undo_file_commit(self.table(checkpoint), checkpoint, batch, written)

    def mortal_only(self) -> str:
        """Return why no task can live on: the writer is Spark's own."""
        return "no failpoint keeps a task of Spark's own file writer alive"

    def unseen_rows(self) -> str:
        """Know it: Spark deletes the files of a task that dies."""
        return ""


class FilesKind(ManifestKind):
    """Spark's file sink, put under test by itself."""

    def __init__(self, name: str, path: str, options: Mapping[str, str]) -> None:
        """Put the files of a format ``name`` below ``path`` under test."""
        self._name = name
        self._path = path
        self._options = options
        self._in_store = "://" in path and not is_path(path)

    def inside(
        self, run: RunDraft, written: set[int], step: Event, *, again: bool
    ) -> None:
        """Edit the folder afterwards; in a store nothing is edited."""
        kind: type[SinkKind] = Adapter if self._in_store else ManifestKind
        kind.inside(self, run, written, step, again=again)

    def start(self, start: Start) -> StartedQuery:
        """Start the query."""
        start.check({**self._options, "path": self._path})
        writer = start.writer.format(self._name).options(**self._options)
        return writer.start(self._path)

    def edits(self) -> Path | None:
        """Name the folder of the files, unless it is in a store."""
        return None if self._in_store else Path(self._path)

    def table(self, checkpoint: Path) -> Path:
        """Name the folder that was given."""
        del checkpoint
        return Path(self._path)


class QueryKind(Adapter):
    """A function that starts a query: what it calls of Spark is steered."""

    on_driver = STARTS

    def __init__(self, sink: Query, *, callback: bool) -> None:
        """Put ``sink`` under test; ``callback`` says that it uses foreachBatch."""
        self._start = sink.start
        self._callback = callback

    def start(self, start: Start) -> StartedQuery:
        """Call the function, and see that it uses the checkpoint that it is given."""
        with steered(start):
            query = self._start(start.events, str(start.checkpoint))
        if not hasattr(query, "awaitTermination"):
            message = f"start() must return the query that it starts, not {query!r}"
            raise UsageError(message)
        return query

    def before_log_commit(self, run: RunDraft, batch: int) -> None:
        """Let the driver die as the callback returns, or lay a trap."""
        if self._callback:
            run.stops(CALLBACK, "return", batch, "die")
        else:
            run.sets_trap(batch)

    def before_tasks(self, run: RunDraft, batch: int) -> bool:
        """Let the driver die as the callback is called, if there is one."""
        if self._callback:
            run.stops(CALLBACK, "call", batch, "die")
        return self._callback


class FileQueryKind(QueryKind, ManifestKind):
    """A query into Spark's file sink, in a folder below its target."""

    def table(self, checkpoint: Path) -> Path:
        """Find the folder of the files."""
        [found] = manifests(checkpoint.parent)
        return found


class BatchJobKind(Adapter):
    """A job is run for each batch in a host, and noted as done as Spark would."""

    on_driver = CALLED
    runs_in_spark = False

    def __init__(self, sink: BatchJob) -> None:
        """Put ``sink`` under test: its function is called in a host."""

    def start(self, start: Start) -> StartedQuery:
        """Run the job for the batches that are not done."""
        return Scheduler(start, start.forked_driver)

    def before_log_commit(self, run: RunDraft, batch: int) -> None:
        """Let the job's process die as it returns."""
        run.stops(CALLBACK, "return", batch, "die", called=_JOB)

    def before_tasks(self, run: RunDraft, batch: int) -> bool:
        """Let the job's process die as it is called."""
        run.stops(CALLBACK, "call", batch, "die", called=_JOB)
        return True


def manifests(folder: Path) -> list[Path]:
    """Find the folders of Spark's file sink below the folder of some runs."""
    return sorted(found.parent for found in folder.rglob(MANIFEST))


def kind_of(
    sink: UnderTest, *, callback: bool = False, into_files: bool = False
) -> Adapter:
    """Return the kind of a sink under test.

    ``callback`` says that a query was seen to use foreachBatch, ``into_files`` that it
    was seen to use Spark's file sink. Raises ``UsageError`` for what is no sink.
    """
    if isinstance(sink, Format) and isinstance(sink.name, type | DataSourceClass):
        return DataSourceKind(sink, sink.name)
    if isinstance(sink, Format) and sink.name in _FILE_FORMATS:
        options = {name.lower(): value for name, value in sink.options.items()}
        path = options.pop("path", "")
        return FilesKind(sink.name, path, options) if path else FormatKind(sink)
    if isinstance(sink, Files):
        return FilesKind(sink.format, sink.path, {})
    if isinstance(sink, Query):
        kind = FileQueryKind if into_files else QueryKind
        return kind(sink, callback=callback)
    found = _KINDS.get(type(sink))
    if found is None:
        names = ", ".join(k.__name__ for k in (*_KINDS, Files, Query))
        message = f"a sink is one of {names}, not {type(sink).__name__} {sink!r}"
        raise UsageError(message)
    return found(sink)


_KINDS: dict[type[object], Callable[[Any], Adapter]] = {
    ForeachBatch: ForeachBatchKind,
    Foreach: ForeachKind,
    Format: FormatKind,
    BatchJob: BatchJobKind,
}
