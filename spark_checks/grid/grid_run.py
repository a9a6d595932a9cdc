"""The grid is run: query by query, configuration by configuration, within a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.properties.verdicts import Verdict, exit_status
from onceproof.spark_checks.grid.cell import UNFIT
from onceproof.spark_checks.grid.cell_runs import CellRuns
from onceproof.spark_checks.grid.rewind import PURGED
from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.replay.budget import Budget
from onceproof.spark_checks.session.session_pool import SessionPool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from onceproof.spark_checks.grid.cell import GridCell
    from onceproof.spark_checks.queries.configuration import QueryConfiguration
    from onceproof.spark_checks.queries.query_spec import QuerySpec
    from onceproof.spark_checks.replay.budget import Deadline

_ATTEMPTS, _PARTITIONS = 2, 2


@dataclass(frozen=True)
class GridReport:
    """All cells that were judged, and what is left."""

    cells: tuple[GridCell, ...]
    """The cells, in the order in which they were run."""
    left: tuple[str, ...]
    """What time did not suffice for: a query in a configuration, with its faults."""
    pyspark: str
    """The version of PySpark."""

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
            if cell.refusal == PURGED or cell.refusal.startswith(UNFIT)
        ]

    def status(self) -> int:
        """Return the exit status: 1 for a refuted cell, 2 if one was not replayed."""
        judged = [cell for cell in self.cells if not cell.refusal]
        found = [v for cell in judged for v in cell.verdicts.values()]
        open_ = [*self.left, *self.not_replayed]
        return exit_status([*found, *(Verdict.UNDECIDED for _ in open_)])

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "pyspark": self.pyspark,
            "refuted": len(self.refuted),
            "left": list(self.left),
            "cells": [cell.to_json() for cell in self.cells],
        }


def run_grid(
    queries: Sequence[QuerySpec],
    configurations: Sequence[QueryConfiguration],
    *,
    budget: float | None = None,
    torn: bool = False,
    listener: Callable[[GridCell], None] = lambda _: None,
    pool: SessionPool | None = None,
) -> GridReport:
    """Run each query in each configuration that Spark has for it, with each fault.

    Raises ``UsageError`` where no configuration is left.
    """
    from pyspark import __version__  # noqa: PLC0415 - slow to import

    pairs = [(q, c) for q in queries for c in configurations if not c.refusal(q)]
    if not pairs:
        reasons = {c.refusal(q) for q in queries for c in configurations}
        message = f"there is nothing to run: {'; '.join(sorted(reasons))}"
        raise UsageError(message)
    own = pool is None
    pool = pool or SessionPool(ENTRY_POINTS)
    times = Budget(budget, len(pairs))
    cells: list[GridCell] = []
    left: list[str] = []
    try:
        with pool.session(attempts=_ATTEMPTS, partitions=_PARTITIONS) as session:
            for query, configuration in pairs:
                runs = CellRuns(
                    session.fork(), pool.folder("grid"), query, configuration
                )
                name = f"{query.name} [{configuration.name}]"
                deadline = times.next_sink()
                try:
                    some, rest = _cells(runs, deadline, listener, torn=torn)
                finally:
                    runs.close()
                cells += some
                if rest:
                    left.append(f"{name}: {rest}")
                session.release()
    finally:
        if own:
            pool.close()
    return GridReport(tuple(cells), tuple(left), __version__)


def _cells(
    runs: CellRuns,
    deadline: Deadline,
    listener: Callable[[GridCell], None],
    *,
    torn: bool,
) -> tuple[list[GridCell], str]:
    """Run the cells of a query in a configuration until time is over."""
    if deadline.over:
        return [], "no run"
    found = [runs.without_fault()]
    listener(found[0])
    if found[0].refusal:
        return found, ""
    faults = runs.faults(torn=torn)
    for number, placed in enumerate(faults):
        if deadline.over:
            return found, f"{len(faults) - number} of {len(faults)} faults"
        found.append(runs.with_fault(placed))
        listener(found[-1])
    return found, ""
