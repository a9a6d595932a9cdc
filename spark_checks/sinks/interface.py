"""What can be put under test: a sink, the reader that sees it, and its description."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from onceproof.model.errors import UsageError
from onceproof.model.protocols.micro_batch import MicroBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from onceproof.model.protocols.parts.sinks.sink import Sink
    from onceproof.spark_checks.sinks.code_points import SeenPoints
    from onceproof.spark_checks.sinks.exchanges import SeenExchanges
    from onceproof.spark_checks.stores.interface import SinkStore

    Read: TypeAlias = Callable[[SparkSession], DataFrame]
    ReadBy: TypeAlias = Read | str | Path
    Readers: TypeAlias = ReadBy | Mapping[str, ReadBy]
    Result: TypeAlias = Callable[[DataFrame], DataFrame]
    PartNamed: TypeAlias = str | type[Sink]
    Steps: TypeAlias = Mapping[str, Callable[..., Any] | str]


class NoStore:
    """Stands where a test names no store, and says so when it is asked for a place."""

    def __getattr__(self, name: str) -> Any:
        """Refuse: there is no place."""
        if name.startswith("__"):
            raise AttributeError(name)
        message = (
            f"target.store.{name} is asked for, and the test names no store; help: "
            "onceproof_replay(..., store=Postgres())"
        )
        raise UsageError(message)


@dataclass(frozen=True)
class Target:
    """Where a sink may keep its data: a fresh place for each run."""

    path: Path
    """An empty folder."""
    name: str
    """A unique identifier, fit for a table or topic."""
    cleanups: list[Callable[[], object]] = field(
        default_factory=list, repr=False, compare=False
    )
    """The functions that ``cleanup`` has registered."""
    store: Any = None
    """A place in the store that the test names, such as a ``PostgresPlace``; fresh too.
    """

    lasting_values: list[Any] = field(default_factory=list, repr=False, compare=False)
    """The values that ``lasting`` has registered."""

    def lasting(self, value: Any) -> Any:
        """Return a value that your program has again after a restart.

        A sink is undecided if its code keeps data that differs from build to build,
        such as an id or a temporary folder, since a restarted program would build its
        sink again. Use this where the program has the same value then, or where another
        one makes no difference. The value is data: a text, a number, a path, a time.
        """
        self.lasting_values.append(value)
        return value

    def cleanup(self, function: Callable[[], object]) -> None:
        """Register a function to call after the interleaving: to drop a table, say.

        The last that is registered is called first. None is called where the runs are
        kept for inspection. What it raises is a warning, and changes no verdict.
        """
        self.cleanups.append(function)

    def clean(self) -> list[str]:
        """Call the functions; return what they raised."""
        problems = []
        while self.cleanups:
            function = self.cleanups.pop()
            try:
                function()
            except Exception as error:  # noqa: BLE001 - all others are called too
                name = getattr(function, "__qualname__", repr(function))
                problems.append(f"{name} raised {type(error).__name__}: {error}")
        return problems


@dataclass(frozen=True)
class ForeachBatch:
    """A function ``write(batch, batch_id)``, called on the driver for each batch."""

    write: Callable[[DataFrame, int], None]
    """The function for ``foreachBatch``."""
    read: Readers
    """What readers see: a function of a Spark session, a table's name, or a path; or
    several of these by name, where each event must be seen in each of several places.
    """
    result: Result | None = None
    """For a sink that aggregates, the same query over a batch of events: the sink is
    then compared with its result, and not by keys."""
    model: PartNamed | None = None
    """The part of the micro-batch model that describes the sink: its name, or a class.
    """
    steps: Steps = field(default_factory=dict)
    """For each action of that part, the function of yours that performs it."""


class RowWriter(Protocol):
    """A ForeachWriter; it may also have ``open`` and ``close``, as Spark has it."""

    def process(self, row: Row) -> None:
        """Take a row."""


@dataclass(frozen=True)
class Foreach:
    """A writer with ``open``, ``process`` and ``close``, called in each task."""

    writer: RowWriter | Callable[[Row], None]
    """The writer, or a function of a row."""
    read: Readers
    """What readers see: a function of a Spark session, a table's name, or a path; or
    several of these by name, where each event must be seen in each of several places.
    """
    result: Result | None = None
    """The query over a batch of events that the sink must agree with, if it aggregates.
    """
    model: PartNamed | None = None
    """The part of the micro-batch model that describes the sink: its name, or a class.
    """
    steps: Steps = field(default_factory=dict)
    """For each action of that part, the function of yours that performs it."""


@dataclass(frozen=True)
class Format:
    """A format that Spark knows by name, or a Python ``DataSource`` class."""

    name: str | type
    """The name of the format, or the class."""
    options: Mapping[str, str]
    """The options of the writer."""
    read: Readers
    """What readers see: a function of a Spark session, a table's name, or a path; or
    several of these by name, where each event must be seen in each of several places.
    """
    result: Result | None = None
    """The query over a batch of events that the sink must agree with, if it aggregates.
    """
    model: PartNamed | None = None
    """The part of the micro-batch model that describes the sink: its name, or a class.
    """
    steps: Steps = field(default_factory=dict)
    """For each action of that part, the function of yours that performs it."""


@dataclass(frozen=True)
class Files:
    """Spark's own file sink: files of a ``format`` below ``path``, with a manifest."""

    format: str
    """The format of the files."""
    path: str
    """The folder that they are written to."""
    read: Readers
    """What readers see: a function of a Spark session, a table's name, or a path; or
    several of these by name, where each event must be seen in each of several places.
    """
    result: Result | None = None
    """The query over a batch of events that the sink must agree with, if it aggregates.
    """
    model: PartNamed | None = None
    """The part of the micro-batch model that describes the sink: its name, or a class.
    """
    steps: Steps = field(default_factory=dict)
    """For each action of that part, the function of yours that performs it."""


@dataclass(frozen=True)
class Query:
    """A function ``start(events, checkpoint)`` that starts a query and returns it.

    Whatever trigger it sets, the query runs until all events are read.
    """

    start: Callable[[DataFrame, str], StreamingQuery]
    """Takes a streaming DataFrame and the path of the checkpoint that it must use."""
    read: Readers
    """What readers see: a function of a Spark session, a table's name, or a path; or
    several of these by name, where each event must be seen in each of several places.
    """
    result: Result | None = None
    """The query over a batch of events that the sink must agree with, if it aggregates.
    """
    model: PartNamed | None = None
    """The part of the micro-batch model that describes the sink: its name, or a class.
    """
    steps: Steps = field(default_factory=dict)
    """For each action of that part, the function of yours that performs it."""


@dataclass(frozen=True)
class BatchJob:
    """A job ``run(events)`` without a stream; it is run again where it died.

    It runs for one batch of events after another, as a scheduler runs a daily job;
    the scheduler notes a batch as done once the job has returned.
    """

    run: Callable[[DataFrame], None]
    """The job: a function of the events of one batch."""
    read: Readers
    """What readers see: a function of a Spark session, a table's name, or a path; or
    several of these by name, where each event must be seen in each of several places.
    """
    result: Result | None = None
    """The query over a batch of events that the sink must agree with, if it aggregates.
    """
    model: PartNamed | None = None
    """The part of the micro-batch model that describes the sink: its name, or a class.
    """
    steps: Steps = field(default_factory=dict)
    """For each action of that part, the function of yours that performs it."""


class UnderTest(Protocol):
    """A sink of any kind, with the reader that sees it."""

    @property
    def read(self) -> Readers:
        """What readers see."""

    @property
    def result(self) -> Result | None:
        """The query that returns what should be visible, if not a row for each key."""

    @property
    def model(self) -> PartNamed | None:
        """The part of the model that describes it, if its author names one."""

    @property
    def steps(self) -> Steps:
        """The functions that perform the actions of that part."""


Build: TypeAlias = "Callable[[Target], UnderTest]"


@dataclass(frozen=True)
class ModelledSink:
    """A sink with the model part that describes it, and the verdicts it must get.

    A user's own sink has no model unless it names a part: faults can be injected at
    each point of its code, and what it does is judged, but not compared with a model.
    """

    name: str
    """The name of the sink in commands and reports."""
    build: Build
    """Builds the sink for a target."""
    model: type[Sink] | Sink
    """The part of the micro-batch model that describes it."""
    refuted: frozenset[str]
    """The guarantees that replays refute. All others hold, except those in ``unseen``.
    """
    unseen: frozenset[str] = frozenset()
    """The guarantees that the model refutes at a moment when no replay looks."""
    steps: Mapping[str, str] = field(default_factory=dict)
    """For each action of the model that the sink's code performs, the qualified name of
    the function. Other actions happen inside Spark."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The parameters of the model part."""
    code: tuple[str, ...] = ()
    """The folders and files of a user's own sink."""
    named: tuple[str, ...] = ()
    """The words of ``code=``: packages and paths to follow too, or not, with a ``-``.
    """
    seen: SeenPoints | None = None
    """The injection points, once the sink has run without a fault."""
    allowed: tuple[str, ...] = ()
    """The places that it may write to, besides its own."""
    engine: type[MicroBatch] = MicroBatch
    """The protocol that runs it."""
    exchanges: SeenExchanges | None = None
    """Its exchanges with the store, once it has run without a fault; None where no
    connection breaks."""
    into_files: bool = False
    """Whether it runs no code of its own, and leaves all to Spark's file sink."""
    store: SinkStore | None = None
    """The store that it writes to."""
    compared: bool = False
    """Whether it is a user's own sink, with the part that the user names for it."""
    calls_back: bool = False
    """Whether its query uses foreachBatch, as an earlier replay has seen."""

    @property
    def is_unmodelled(self) -> bool:
        """Whether nothing is known of it but where its code lies."""
        return bool(self.code) and not self.compared

    @property
    def callback(self) -> bool:
        """Whether its query was seen to use foreachBatch."""
        return self.calls_back or (self.seen is not None and self.seen.callback)
