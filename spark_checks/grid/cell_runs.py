"""The cells of one query in one configuration: one run without a fault, then faults."""

from __future__ import annotations

import shutil
import time
from itertools import combinations
from typing import TYPE_CHECKING

from onceproof.spark_checks.grid.cell import UNFIT, UNREACHED, GridCell, failure
from onceproof.spark_checks.grid.cell_traces import CellTraces
from onceproof.spark_checks.grid.comparison import Comparison
from onceproof.spark_checks.grid.grid_faults import every_fault
from onceproof.spark_checks.grid.grid_query import NO_FAULT, GridQuery
from onceproof.spark_checks.grid.inside_spark import realised
from onceproof.spark_checks.grid.rewind import copied, rewind
from onceproof.spark_checks.grid.writers import as_text, committed, plain
from onceproof.spark_checks.queries import events
from onceproof.spark_checks.queries.query_spec import itself
from onceproof.spark_checks.replay.conformance.trace_check import (
    NOT_ASKED,
    TraceCheck,
)
from onceproof.spark_checks.session.java.state_stores import unload_state

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from onceproof.spark_checks.grid.grid_faults import PlacedFault
    from onceproof.spark_checks.grid.writers import ResultRow
    from onceproof.spark_checks.queries.configuration import QueryConfiguration
    from onceproof.spark_checks.queries.query_spec import QuerySpec
    from onceproof.spark_checks.session.java.agent.agent import Agent
    from onceproof.spark_checks.stores.interface import RunningStore

_RESTARTS = 3
_PATIENCE = 120.0


class CellRuns:
    """Runs a query in a configuration, without a fault and with each."""

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        query: QuerySpec,
        configuration: QueryConfiguration,
        *,
        patience: float = _PATIENCE,
        store: RunningStore | None = None,
        agent: Agent | None = None,
    ) -> None:
        """Use a ``folder`` of its own; nothing runs yet.

        The ``store`` is the one that the configuration's source reads from. With an
        ``agent``, faults happen at Spark's own steps, and each step is compared with
        the model; without one, checkpoints are edited.
        """
        folder.mkdir(parents=True)
        self._query = query
        self._configuration = configuration
        self._patience = patience
        self._agent = agent
        self._traces = None
        if agent is not None:
            self._traces = CellTraces(query, configuration, agent.has)

        def opened() -> GridQuery:
            runs = GridQuery(spark, folder / "run", query, configuration, store)
            if agent is not None:
                runs.watch(agent, patience / 2)
            return runs

        self._opened = opened
        self._runs = opened()
        self._kept = folder / "kept"
        self._shown: dict[int, tuple[ResultRow, ...]] = {0: ()}
        self._late = (
            sorted(events.late(events.BATCHES, query.closes or itself))
            if query.watermarked
            else []
        )
        self._batches: dict[tuple[tuple[int, int], ...], tuple[ResultRow, ...]] = {}
        self.batches = 0

    def without_fault(self) -> GridCell:
        """Run without a fault, and keep what lies there before further input.

        A query that fails without a fault is not judged, even if a restart helps.
        """
        began = time.perf_counter()
        self._runs.folder.mkdir()
        errors, rested = self._go_on(0, events.FIRST, self._shown)
        self.batches = committed(self._runs.checkpoint)
        copied(self._runs.folder, self._kept)
        if rested:
            every = len(events.BATCHES)
            later, rested = self._go_on(events.FIRST, every, self._shown)
            errors += later
        if errors:
            refusal = f"{UNFIT}: {failure(errors[0])}"
            return GridCell(self._query, self._configuration, NO_FAULT, refusal=refusal)
        return GridCell(
            self._query,
            self._configuration,
            NO_FAULT,
            with_batch=self._with_batch(),
            trace=self._trace(),
            seconds=time.perf_counter() - began,
        )

    def faults(self, *, torn: bool = False) -> list[PlacedFault]:
        """List the faults of the batches that were run before further input."""
        return faults_of(self._configuration, self.batches, torn=torn)

    def with_fault(self, placed: PlacedFault) -> GridCell:
        """Let a fault happen, let the query recover, and go on."""
        began = time.perf_counter()
        # A cell begins in the folder of the one before, whose drivers have ended.
        unload_state()
        hit = self._rewound if self._agent is None else self._inside
        error, refusal = hit(placed)
        if refusal:
            return GridCell(self._query, self._configuration, placed, refusal=refusal)
        errors, rested = self._rest(error)
        if rested:
            later, rested = self._go_on(self._read(), events.FIRST)
            errors += later
        with_run = Comparison(self._shown[self._read()], self._seen())
        if rested:
            later, rested = self._go_on(self._read(), len(events.BATCHES))
            errors += later
        return GridCell(
            self._query,
            self._configuration,
            placed,
            with_run=with_run,
            with_batch=self._with_batch(),
            errors=errors,
            rested=rested,
            trace=self._trace(),
            seconds=time.perf_counter() - began,
        )

    def cells(self) -> Iterator[GridCell]:
        """Run without a fault, and if that is right, with each."""
        first = self.without_fault()
        yield first
        if first.refusal or first.refuted:
            return
        for placed in self.faults():
            yield self.with_fault(placed)

    def close(self) -> None:
        """Remove what was written."""
        self._runs.close()
        shutil.rmtree(self._kept.parent, ignore_errors=True)

    def _rewound(self, placed: PlacedFault) -> tuple[str, str]:
        """Take the run without a fault back to where a crash would have left it.

        Return why the run after it failed, if it did, or why there is no such fault.
        """
        runs = self._runs
        copied(self._kept, runs.folder)
        refusal = rewind(
            runs.checkpoint, runs.result, placed, retain=self._configuration.retain
        )
        if refusal:
            return "", refusal
        runs.hold_again(events.FIRST)
        error = runs.once(self._patience, placed)
        if placed.fault.of_a_task and not runs.died:
            return error, f"no task of batch {placed.batch} ran, so none died"
        return error, ""

    def _inside(self, placed: PlacedFault) -> tuple[str, str]:
        """Run from the beginning to a fault at a step of Spark's; return the same."""
        stateful = self._query.stateful
        if not placed.fault.of_a_task and not realised(placed, stateful=stateful):
            return "", f"no step of Spark's is where {placed}"
        self._runs.close()
        shutil.rmtree(self._runs.folder, ignore_errors=True)
        self._runs = runs = self._opened()
        runs.folder.mkdir()
        begin, error = 0, ""
        for offered in runs.input.ends(0, events.FIRST):
            runs.input.offer(begin, offered)
            begin = offered
            error = runs.once(self._patience, placed)
            if error or runs.died:
                break
        if not placed.fault.of_a_task:
            # The driver has died. One whose tasks died keeps its state, in reality too,
            # also where its query is started again.
            unload_state()
        if not runs.died:
            return error, f"{UNREACHED}: {error or 'the query goes on'}"
        return error, ""

    def _trace(self) -> TraceCheck:
        """Compare the runs since the beginning with the model, if they were watched."""
        watched = self._runs.watched
        if watched is None or self._traces is None:
            return NOT_ASKED
        return self._traces.of(watched.folder, watched.logs)

    def _read(self) -> int:
        """Return how many batches the query has read, which rests."""
        return self._runs.input.read(self._runs.checkpoint, events.FIRST)

    def _go_on(
        self,
        begin: int,
        end: int,
        shown: dict[int, tuple[ResultRow, ...]] | None = None,
    ) -> tuple[tuple[str, ...], bool]:
        """Offer the batches from ``begin`` to ``end``, and let the query read them.

        Return why runs failed, and whether it rests. What readers see whenever it does
        is ``shown``, by how many batches it has read.
        """
        errors: tuple[str, ...] = ()
        for offered in self._runs.input.ends(begin, end):
            self._runs.input.offer(begin, offered)
            begin = offered
            later, rested = self._rest(self._runs.once(self._patience))
            errors += later
            if not rested:
                return errors, False
            if shown is not None:
                shown[offered] = self._seen()
        return errors, True

    def _rest(self, error: str) -> tuple[tuple[str, ...], bool]:
        """Restart a query that failed; return why runs failed, and whether it rests."""
        errors: list[str] = []
        while error and len(errors) < _RESTARTS:
            errors.append(error)
            error = self._runs.once(self._patience)
        return tuple(errors), not error

    def _with_batch(self) -> Comparison:
        """Compare what readers see with the batch run.

        Spark may drop an event that the watermark has passed, and need not: a run that
        agrees with the batch run over all events but some of these is right. If none
        does, the result is compared with the one that drops them all.
        """
        found = self._seen()
        late = self._late
        for kept in range(len(late) + 1):
            for dropped in combinations(late, len(late) - kept):
                if dropped not in self._batches:
                    rows = self._runs.of_batch(set(dropped))
                    shown = tuple(plain(as_text(row) for row in rows))
                    self._batches[dropped] = shown
                compared = Comparison(self._batches[dropped], found)
                if compared.equal:
                    return compared
        return Comparison(self._batches[tuple(late)], found)

    def _seen(self) -> tuple[ResultRow, ...]:
        return self._runs.seen()


def faults_of(
    configuration: QueryConfiguration, batches: int, *, torn: bool = False
) -> list[PlacedFault]:
    """List the faults of a query that has so many batches before further input."""
    late_logs = configuration.progress == "async"
    return every_fault(batches, torn=torn, late_logs=late_logs)
