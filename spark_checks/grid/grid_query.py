"""One query in one configuration, in folders of its own: it runs until it rests."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING

from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault
from onceproof.spark_checks.grid.inside_spark import (
    WatchedRuns,
    realised,
    rules_of,
)
from onceproof.spark_checks.grid.topic_result import TopicResult
from onceproof.spark_checks.grid.writers import dying, seen, writer_of
from onceproof.spark_checks.queries import events
from onceproof.spark_checks.queries.sources import SOURCES
from onceproof.spark_checks.queries.sources.files import FileInput
from onceproof.spark_checks.session.java.callback_connections import (
    CallbackConnections,
)
from onceproof.spark_checks.session.spark_internals import causes, end_idle_workers

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from pyspark.sql import SparkSession

    from onceproof.spark_checks.grid.writers import ResultRow
    from onceproof.spark_checks.queries.configuration import QueryConfiguration
    from onceproof.spark_checks.queries.query_spec import QuerySpec
    from onceproof.spark_checks.session.java.agent.agent import Agent, StepRule
    from onceproof.spark_checks.stores.interface import RunningStore

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_.]{5,})\]")
_RAISED = re.compile(
    r"Traceback \(most recent.*\n(?:[^\S\n].*\n|\n)*((?!===)\S.*(?:\n: .*)?)"
)
_ASYNC = "asyncProgressTrackingEnabled"
_INTERVAL = "asyncProgressTrackingCheckpointIntervalMs"
NO_FAULT = PlacedFault(GridFault.NONE)


class GridQuery:
    """A query that can be started again and again over one checkpoint."""

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        query: QuerySpec,
        configuration: QueryConfiguration,
        store: RunningStore | None = None,
    ) -> None:
        """Run a query in a ``folder``; nothing is started yet.

        The ``store`` is the one that the configuration's source reads from.
        """
        self._spark = spark
        self._query = query
        self._configuration = configuration
        self.folder = folder
        self.watched: WatchedRuns | None = None
        source = SOURCES[configuration.source]
        self.input = source.opened(folder / "input", query.inputs, store)
        self._topic = (
            TopicResult(spark, self.result, store)
            if configuration.sink == "kafka"
            else None
        )
        for key, value in (configuration.settings() | query.settings).items():
            spark.conf.set(key, value)

    @property
    def checkpoint(self) -> Path:
        """The checkpoint of the query."""
        return self.folder / "checkpoint"

    @property
    def result(self) -> Path:
        """Where the query's rows go."""
        return self.folder / "result"

    @property
    def marks(self) -> Path:
        """Where tasks that die leave a mark."""
        return self.folder / "marks"

    @property
    def died(self) -> bool:
        """Whether a task has died, or what the agent was to end has ended."""
        if self.watched is not None and self.watched.fired:
            return True
        return self.marks.is_dir() and any(self.marks.iterdir())

    def hold_again(self, end: int) -> None:
        """Hold the first batches up to ``end`` again, and what is left of the result.

        The folders have been put back by then.
        """
        self.input.hold_again(end)
        if self._topic is not None:
            self._topic.hold_again()

    def seen(self) -> tuple[ResultRow, ...]:
        """Return what readers see."""
        if self._topic is not None:
            self._topic.take_image()
        replaces = self._topic is not None
        return tuple(seen(self._spark, self.result, self._query, replaces=replaces))

    def close(self) -> None:
        """Remove what lies outside of the folder."""
        self.input.close()
        if self._topic is not None:
            self._topic.close()

    def watch(self, agent: Agent, patience: float) -> None:
        """Have the steps of all runs from now on reported."""
        self.watched = WatchedRuns(agent, self.folder, self.input, patience)

    def once(self, patience: float, placed: PlacedFault = NO_FAULT) -> str:
        """Run until all that is offered is read; return why it failed, if it did."""
        if self.watched is None:
            return self._once(patience, placed)
        rules: list[StepRule] = []
        if realised(placed, stateful=self._query.stateful):
            rules, placed = rules_of(placed, self._configuration.partitions), NO_FAULT
        with self.watched.run(self._spark, self.checkpoint, rules):
            return self._once(patience, placed)

    def _once(self, patience: float, placed: PlacedFault) -> str:
        """Run with a fault that code in its tasks realises, or with none.

        What workers have in memory ended with the driver of the run before.
        """
        end_idle_workers(self._spark)
        result = self._query.run(*self.input.frames(self._spark))
        if missing := [one for one in self._query.key if one not in result.columns]:
            names = ", ".join(result.columns)
            return f"the result has no column {missing[0]!r}, its key; it has {names}"
        connections = CallbackConnections()
        if placed.fault.of_a_task:
            self.marks.mkdir(exist_ok=True)
            after = placed.fault is GridFault.TASK_AFTER_STATE
            result = dying(result, self.marks, placed.batch, after=after)
        if self._topic is not None:
            result = self._topic.records(result, self._query.key)
        available = self._configuration.trigger == "available-now"
        writer: Any = result.writeStream.outputMode(str(self._query.mode))
        writer = writer.option("checkpointLocation", str(self.checkpoint))
        writer = (
            writer.trigger(availableNow=True)
            if available
            else writer.trigger(processingTime="0 seconds")
        )
        if self._configuration.progress == "async":
            writer = writer.option(_ASYNC, "true").option(_INTERVAL, "0")
        if self._configuration.sink == "files":
            self.result.mkdir(exist_ok=True)
            schema = self.result / "schema"
            schema.write_text(result.schema.json(), encoding="utf-8")
            writer = writer.format("parquet").option("path", str(self.result))
        elif self._topic is not None:
            writer = writer.format("kafka").options(**self._topic.options)
        else:
            skips = self._configuration.sink == "skips"
            handle = writer_of(self.result, self._query, skips=skips)
            writer = writer.foreachBatch(connections.noting(handle))
        try:
            started = writer.start()
        except Exception as error:  # noqa: BLE001 - any failure of Spark's is an answer
            return short(error)
        try:
            if not available:
                started.processAllAvailable()
            elif not started.awaitTermination(int(patience)):
                return f"the query did not end within {patience:.0f} s"
        except Exception as error:  # noqa: BLE001 - any failure of Spark's is an answer
            return short(error)
        finally:
            started.stop()
            connections.close()
        return ""

    def of_batch(self, left_out: set[tuple[int, int]]) -> list[Any]:
        """Return the result of a batch run over all events but those left out.

        The events are read from files of their own.
        """
        place = self.folder.parent / "batch"
        events.offer(place, events.lines(events.BATCHES, left_out))
        frames = FileInput(place, self._query.inputs).as_batch(self._spark)
        found: list[Any] = self._query.of_batch(*frames).collect()
        return found


def short(error: BaseException) -> str:
    """Return the error conditions of what Spark raised, and its first line.

    Where Python raised it inside Spark, the line that names its error follows; else the
    first line of its last cause, if it has one.
    """
    texts = [str(one) for one in causes(error)]
    conditions = itertools.chain.from_iterable(map(_CONDITION.findall, texts))
    own = [c for c in dict.fromkeys(conditions) if c != "STREAM_FAILED"]
    line, last = _first_line(texts[0]), _first_line(texts[-1])
    if last.startswith("Traceback "):
        last = _last_line(texts[-1])
    if (raised := _RAISED.findall(texts[0])) and raised[-1] not in line:
        line = f"{line[:300]}: {' '.join(raised[-1].split())}"
    elif last not in line:
        line = f"{line[:300]}: {last}"
    return json.dumps({"conditions": own, "message": line[:600]})


def _first_line(text: str) -> str:
    return next((x.strip() for x in text.splitlines() if x.strip()), "")


def _last_line(text: str) -> str:
    """Return what a traceback ends with: the error."""
    return _first_line("\n".join(reversed(text.splitlines())))
