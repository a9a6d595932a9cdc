"""The grid is run: query by query, configuration by configuration, within a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.properties.verdicts import Verdict, exit_status
from onceproof.spark_checks.grid.cell import UNFIT, UNREACHED
from onceproof.spark_checks.grid.cell_notes import CellNotes, KnownCells
from onceproof.spark_checks.grid.cell_runs import CellRuns, faults_of
from onceproof.spark_checks.grid.grid_query import NO_FAULT
from onceproof.spark_checks.grid.prediction import ATTEMPTS, PARTITIONS
from onceproof.spark_checks.grid.rewind import PURGED
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.queries.sources import SOURCES
from onceproof.spark_checks.replay.budget import Budget
from onceproof.spark_checks.session.session_pool import SessionPool
from onceproof.spark_checks.stores.interface import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onceproof.spark_checks.grid.cell import GridCell
    from onceproof.spark_checks.queries.configuration import QueryConfiguration
    from onceproof.spark_checks.queries.query_spec import QuerySpec
    from onceproof.spark_checks.queries.sources.event_source import EventSource
    from onceproof.spark_checks.replay.budget import Deadline
    from onceproof.spark_checks.replay.journal.journals import Journals


@dataclass(frozen=True)
class CellBegun:
    """A cell is about to be run."""

    pair: str
    """The query and its configuration."""
    number: int
    """The number of this pair, from 1."""
    pairs: int
    """How many pairs there are."""
    cell: int
    """The number of the cell among those of the pair, from 1: that without a fault."""
    cells: int
    """How many cells the pair has; 0 while that is not known."""


@dataclass(frozen=True)
class GridReport:
    """All cells that were judged, and what is left."""

    cells: tuple[GridCell, ...]
    """The cells, in the order in which they were run."""
    left: tuple[str, ...]
    """What time did not suffice for: a query in a configuration, with its faults."""
    pyspark: str
    """The version of PySpark."""
    no_agent: str = ""
    """Why there was no agent, if one was wanted."""
    not_resumed: str = ""
    """Why cells were not recalled, though an earlier grid had left some."""

    @property
    def refuted(self) -> list[GridCell]:
        """The cells in which a guarantee is refuted."""
        return [cell for cell in self.cells if cell.refuted]

    @property
    def not_replayed(self) -> list[GridCell]:
        """The cells whose fault may happen, and could not be injected.

        So are those of queries that fail without a fault.
        """
        return [
            cell
            for cell in self.cells
            if cell.refusal == PURGED or cell.refusal.startswith((UNFIT, UNREACHED))
        ]

    @property
    def unexplained(self) -> list[GridCell]:
        """The cells in which Spark took a step that no step of the model explains."""
        return [cell for cell in self.cells if cell.trace.unexplained]

    @property
    def drifted(self) -> list[GridCell]:
        """The cells of which Spark and the model have different verdicts."""
        return [cell for cell in self.cells if cell.drift]

    def status(self) -> int:
        """Return the exit status: 1 for a refuted cell, 2 for one without an answer.

        A cell has none if it was not replayed, or if the model says otherwise.
        """
        judged = [cell for cell in self.cells if not cell.refusal]
        found = [v for cell in judged for v in cell.verdicts.values()]
        unlike = [*self.drifted, *self.unexplained]
        open_ = [*self.left, *self.not_replayed, *unlike]
        return exit_status([*found, *(Verdict.UNDECIDED for _ in open_)])

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "pyspark": self.pyspark,
            "refuted": len(self.refuted),
            "predicted": sum(bool(cell.predicted) for cell in self.cells),
            "drift": len(self.drifted),
            "compared": sum(cell.trace.checked for cell in self.cells),
            "unexplained": len(self.unexplained),
            "no_agent": self.no_agent,
            "not_resumed": self.not_resumed,
            "left": list(self.left),
            "cells": [cell.to_json() for cell in self.cells],
        }


def run_grid(
    queries: Sequence[QuerySpec],
    configurations: Sequence[QueryConfiguration],
    *,
    budget: float | None = None,
    torn: bool = False,
    agent: bool = False,
    listener: Callable[[GridCell], None] = lambda _: None,
    pool: SessionPool | None = None,
    journals: Journals | None = None,
    changed: Callable[[str], None] = lambda _: None,
    begun: Callable[[CellBegun], None] = lambda _: None,
) -> GridReport:
    """Run each query in each configuration that Spark has for it, with each fault.

    With ``agent``, faults happen at Spark's own steps; a ``pool`` has one or none. Each
    cell is noted in ``journals``, and not run again where they are resumed; where what
    is there cannot be resumed, ``changed`` is told why before anything is run.
    ``begun`` is told of each cell that is run, before it is.

    Raises ``UsageError`` where no configuration is left.
    """
    from pyspark import __version__  # noqa: PLC0415 - slow to import

    pairs = [(q, c) for q in queries for c in configurations if not c.refusal(q)]
    if not pairs:
        reasons = {c.refusal(q) for q in queries for c in configurations}
        message = f"there is nothing to run: {'; '.join(sorted(reasons))}"
        raise UsageError(message)
    asked = {
        "queries": [query.name for query in queries],
        "configurations": [one.name for one in configurations],
        "torn": torn,
        "agent": agent,
    }
    notes = CellNotes(journals, asked)
    if not_resumed := notes.not_resumed(queries):
        changed(not_resumed)
    own = pool is None
    pool = pool or SessionPool(ENTRY_POINTS, agent=agent)
    times = Budget(budget, len(pairs))
    grid = _GridRun(pool, times, listener, notes, begun, len(pairs), torn=torn)
    done = False
    try:
        for name in SOURCES:
            grid.add([(q, c) for q, c in pairs if c.source == name], SOURCES[name])
        done = not grid.left
    finally:
        if journals is not None:
            journals.close(done=done)
        if own:
            pool.close()
    return GridReport(
        tuple(grid.cells),
        tuple(grid.left),
        __version__,
        no_agent=pool.no_agent,
        not_resumed=not_resumed,
    )


class _GridRun:
    """Collects cells, source by source: a source may need a session of its own."""

    def __init__(
        self,
        pool: SessionPool,
        times: Budget,
        listener: Callable[[GridCell], None],
        notes: CellNotes,
        begun: Callable[[CellBegun], None],
        pairs: int,
        *,
        torn: bool,
    ) -> None:
        """Have no cells yet."""
        self._begun = begun
        self._number, self._pairs = 0, pairs
        self._notes = notes
        self._pool = pool
        self._times = times
        self._listener = listener
        self._torn = torn
        self.cells: list[GridCell] = []
        self.left: list[str] = []

    def add(
        self,
        pairs: Sequence[tuple[QuerySpec, QueryConfiguration]],
        source: EventSource,
    ) -> None:
        """Run the cells of queries on one source; where it cannot be had, say so."""
        pool, store = self._pool, source.store
        if not pairs:
            return
        try:
            needs = pool.needs_of(store)
            running = None if store is None else pool.stores.running(store)
        except StoreError as error:
            for query, configuration in pairs:
                self._number += 1
                self._times.next_sink()
                self.left.append(f"{_named(query, configuration)}: no run: {error}")
            return
        with pool.session(
            attempts=ATTEMPTS, partitions=PARTITIONS, needs=needs
        ) as session:
            for query, configuration in pairs:
                self._number += 1
                deadline = self._times.next_sink()
                known = self._notes.recall(query, configuration)
                if self._recalled(known, configuration):
                    continue
                runs = CellRuns(
                    session.fork(),
                    pool.folder("grid"),
                    query,
                    configuration,
                    store=running,
                    agent=session.agent,
                )
                try:
                    name = _named(query, configuration)
                    rest = self._run(name, runs, known, deadline)
                finally:
                    runs.close()
                if rest:
                    self.left.append(f"{name}: {rest}")
                session.release()

    def _recalled(self, known: KnownCells, configuration: QueryConfiguration) -> bool:
        """Take all cells of a pair from the journal, if it has them all."""
        first = known.of(NO_FAULT)
        if first is None:
            return False
        faults = faults_of(configuration, known.batches, torn=self._torn)
        if first.refusal or first.refuted:
            faults = []
        found = [known.of(placed) for placed in (NO_FAULT, *faults)]
        whole = [cell for cell in found if cell is not None]
        if len(whole) < len(found):
            return False
        self._add(*whole)
        return True

    def _run(
        self, name: str, runs: CellRuns, known: KnownCells, deadline: Deadline
    ) -> str:
        """Run the cells of a pair until time is over; return what is left.

        The run without a fault is what the others are compared with: it is always run,
        and they are not where it is wrong already.
        """
        if deadline.over:
            self._add(*known.cells)
            return "no run"
        self._begun(CellBegun(name, self._number, self._pairs, 1, 0))
        first = runs.without_fault()
        if known.of(NO_FAULT) is None:
            self._notes.note(first, runs.batches)
        self._add(first)
        if first.refusal or first.refuted:
            return ""
        faults = runs.faults(torn=self._torn)
        every = 1 + len(faults)
        for number, placed in enumerate(faults):
            cell = known.of(placed)
            if cell is None and deadline.over:
                return f"{len(faults) - number} of {len(faults)} faults"
            if cell is None:
                begun = CellBegun(name, self._number, self._pairs, number + 2, every)
                self._begun(begun)
                cell = runs.with_fault(placed)
                self._notes.note(cell, runs.batches)
            self._add(cell)
        return ""

    def _add(self, *cells: GridCell) -> None:
        for cell in cells:
            self.cells.append(cell)
            self._listener(cell)


def _named(query: QuerySpec, configuration: QueryConfiguration) -> str:
    return f"{query.name} [{configuration.name}]"
