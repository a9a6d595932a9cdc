"""What can be put under test: a sink, the reader that sees it, and its description."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, Row, SparkSession

    from onceproof.model.protocols.sink import Sink

    Read: TypeAlias = Callable[[SparkSession], DataFrame]


@dataclass(frozen=True)
class Target:
    """Where a sink may keep its data: a fresh place for each interleaving.

    ``path`` is an empty folder; ``name`` is an identifier fit for a table or topic.
    """

    path: Path
    name: str


@dataclass(frozen=True)
class ForeachBatch:
    """A function ``write(batch, batch_id)``, called on the driver for each batch."""

    write: Callable[[DataFrame, int], None]
    read: Read


class Writer(Protocol):
    """A ForeachWriter; it may also have ``open`` and ``close``, as Spark has it."""

    def process(self, row: Row) -> None:
        """Take a row."""


@dataclass(frozen=True)
class Foreach:
    """A writer with ``open``, ``process`` and ``close``, called in each task."""

    writer: Writer
    read: Read


@dataclass(frozen=True)
class Format:
    """A format that Spark knows by name, or a Python ``DataSource`` class."""

    name: str | type
    options: Mapping[str, str]
    read: Read


@dataclass(frozen=True)
class Files:
    """Spark's own file sink: files of a ``format`` below ``path``, with a manifest."""

    format: str
    path: str
    read: Read


class UnderTest(Protocol):
    """A sink of any kind, with the reader that sees it."""

    @property
    def read(self) -> Read:
        """Read what is visible."""


Build: TypeAlias = "Callable[[Target], UnderTest]"


@dataclass(frozen=True)
class Reference:
    """A sink with the model part that describes it, and how it must be judged.

    ``steps`` tells which function of the sink's code performs which action of the
    model, by qualified name; ``write`` is performed in tasks, others on the driver.
    An action that is not listed is performed inside Spark. ``refuted`` names the
    guarantees that the sink is seen to break; ``unseen`` those that the model
    refutes at a moment when no replay looks. All others hold.

    Of a user's own sink nothing is known but the folder of its ``code``: each line
    that its driver runs is a step, and what it does is judged, and not compared.
    ``lines`` names them, once they have been seen to run.
    """

    name: str
    build: Build
    model: type[Sink] | Sink
    refuted: frozenset[str]
    unseen: frozenset[str] = frozenset()
    steps: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""
    lines: tuple[str, ...] = ()
