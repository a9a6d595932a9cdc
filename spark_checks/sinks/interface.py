"""What can be put under test: a sink, the reader that sees it, and its description."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from onceproof.model.protocols.micro_batch import MicroBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from onceproof.model.protocols.parts.sinks.sink import Sink
    from onceproof.spark_checks.sinks.code_points import SeenPoints

    Read: TypeAlias = Callable[[SparkSession], DataFrame]
    Result: TypeAlias = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True)
class Target:
    """Where a sink may keep its data: a fresh place for each interleaving.

    ``path`` is an empty folder; ``name`` is an identifier fit for a table or topic,
    which no other target has.
    """

    path: Path
    name: str
    cleanups: list[Callable[[], object]] = field(
        default_factory=list, repr=False, compare=False
    )

    def cleanup(self, function: Callable[[], object]) -> None:
        """Have a function called once the interleaving is over: it drops a table, say.

        The last that is registered is called first. None is called where the runs are
        kept for inspection. What it raises is a warning, and changes no verdict.
        """
        self.cleanups.append(function)

    def clean(self) -> list[str]:
        """Call the functions; say what they raised."""
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
    """A function ``write(batch, batch_id)``, called on the driver for each batch.

    Of this and of all kinds: ``read`` gives what readers see, as a function of a Spark
    session, the name of a table, or a path. A sink that aggregates gives as ``result``
    the same query over a batch of events, and is held to that instead of to its keys.
    """

    write: Callable[[DataFrame, int], None]
    read: Read | str | Path
    result: Result | None = None


class RowWriter(Protocol):
    """A ForeachWriter; it may also have ``open`` and ``close``, as Spark has it."""

    def process(self, row: Row) -> None:
        """Take a row."""


@dataclass(frozen=True)
class Foreach:
    """A writer with ``open``, ``process`` and ``close``, called in each task.

    A function of a row will do as well.
    """

    writer: RowWriter | Callable[[Row], None]
    read: Read | str | Path
    result: Result | None = None


@dataclass(frozen=True)
class Format:
    """A format that Spark knows by name, or a Python ``DataSource`` class."""

    name: str | type
    options: Mapping[str, str]
    read: Read | str | Path
    result: Result | None = None


@dataclass(frozen=True)
class Files:
    """Spark's own file sink: files of a ``format`` below ``path``, with a manifest."""

    format: str
    path: str
    read: Read | str | Path
    result: Result | None = None


@dataclass(frozen=True)
class Query:
    """A function ``start(events, checkpoint)`` that starts a query and gives it.

    ``events`` is a streaming DataFrame, ``checkpoint`` the path of a folder that the
    query must use. Whatever trigger it sets, it is run until all events are read.
    """

    start: Callable[[DataFrame, str], StreamingQuery]
    read: Read | str | Path
    result: Result | None = None


@dataclass(frozen=True)
class BatchJob:
    """A job ``run(events)`` without a stream, which is run anew where it died.

    It is run for one batch of events after the other, as a scheduler runs a daily job;
    what it has done is known to the scheduler once it has returned.
    """

    run: Callable[[DataFrame], None]
    read: Read | str | Path
    result: Result | None = None


class UnderTest(Protocol):
    """A sink of any kind, with the reader that sees it."""

    @property
    def read(self) -> Read | str | Path:
        """Read what is visible."""

    @property
    def result(self) -> Result | None:
        """Work out what should be visible, where that is no row for each key."""


Build: TypeAlias = "Callable[[Target], UnderTest]"


@dataclass(frozen=True)
class ModelledSink:
    """A sink with the model part that describes it, and how it must be judged.

    ``steps`` tells which function of the sink's code performs which action of the
    model, by qualified name; ``write`` is performed in tasks, others on the driver.
    An action that is not listed is performed inside Spark. ``refuted`` names the
    guarantees that the sink is seen to break; ``unseen`` those that the model
    refutes at a moment when no replay looks. All others hold.

    Of a user's own sink nothing is known but the folders of its ``code``: it can be
    struck at each point of that, and what it does is judged, and not compared.
    ``named`` are packages and paths whose code counts as its own besides, or with a
    ``-`` in front does not.
    ``seen`` holds the points, once it has been seen to run. It may write to its own
    place, and to those that it is ``allowed``. It goes ``into_files`` if it runs no
    code of its own, and was seen to leave all to Spark's file sink.
    """

    name: str
    build: Build
    model: type[Sink] | Sink
    refuted: frozenset[str]
    unseen: frozenset[str] = frozenset()
    steps: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    code: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    seen: SeenPoints | None = None
    allowed: tuple[str, ...] = ()
    engine: type[MicroBatch] = MicroBatch
    into_files: bool = False
