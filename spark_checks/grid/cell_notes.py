"""The cells that the grid has judged, noted as it goes, for one that is killed.

Only queries of the catalogue are noted: their code is Onceproof's own, and a journal of
other code recalls nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.properties.evidence.fingerprints import of_data
from onceproof.spark_checks.grid.cell import GridCell
from onceproof.spark_checks.grid.comparison import Comparison
from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault
from onceproof.spark_checks.queries.catalogue import every_query
from onceproof.spark_checks.replay.conformance.trace_check import TraceCheck

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onceproof.spark_checks.grid.writers import ResultRow
    from onceproof.spark_checks.queries.configuration import QueryConfiguration
    from onceproof.spark_checks.queries.query_spec import QuerySpec
    from onceproof.spark_checks.replay.journal.journal import RecordJournal
    from onceproof.spark_checks.replay.journal.journals import Journals

_JOURNAL = "grid"


@dataclass(frozen=True)
class CellRecord:
    """A cell that was judged, as plain data, but for what it is the cell of."""

    plan: str
    """The digest of the query and the configuration."""
    batches: int
    """How many batches the run without a fault has before further input."""
    cell: dict[str, Any]
    """The rest."""

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {"plan": self.plan, "batches": self.batches, "cell": self.cell}


@dataclass(frozen=True)
class KnownCells:
    """What is known of a query in a configuration."""

    batches: int = 0
    """How many batches the run without a fault has before further input."""
    cells: tuple[GridCell, ...] = ()
    """The cells."""

    def of(self, placed: PlacedFault) -> GridCell | None:
        """Return the cell of a fault, if it is known."""
        return next((cell for cell in self.cells if cell.placed == placed), None)


class CellNotes:
    """What one run of the grid notes, and recalls."""

    def __init__(
        self, journals: Journals | None, asked: dict[str, object] | None = None
    ) -> None:
        """Open the journal of what is ``asked`` for; without journals note nothing.

        Raises ``UsageError`` if another process writes it.
        """
        self._journal: RecordJournal[CellRecord] | None = None
        self._resume = journals is not None and journals.resume
        if journals is not None:
            self._journal = journals.of_records(_JOURNAL, asked or {}, record_in)

    @property
    def changed(self) -> str:
        """Why nothing is recalled though something is there."""
        return "" if self._journal is None else self._journal.changed

    def not_resumed(self, queries: Iterable[QuerySpec]) -> str:
        """Say why nothing is recalled of some queries, where something should be."""
        if self.changed or self._journal is None or not self._resume:
            return self.changed
        own = [query.name for query in queries if not _noted(query)]
        if not own:
            return ""
        return f"cells of {', '.join(own)} are not noted, since their code is yours"

    def recall(self, query: QuerySpec, configuration: QueryConfiguration) -> KnownCells:
        """Return the cells of a query in a configuration that are noted."""
        if self._journal is None or not _noted(query):
            return KnownCells()
        digest, batches, cells = _digest(query, configuration), 0, []
        while (record := self._journal.recall(digest)) is not None:
            batches = record.batches
            cells.append(_cell(record.cell, query, configuration))
        return KnownCells(batches, tuple(cells))

    def note(self, cell: GridCell, batches: int) -> None:
        """Note a cell."""
        if self._journal is not None and _noted(cell.query):
            digest = _digest(cell.query, cell.configuration)
            self._journal.note(CellRecord(digest, batches, _data(cell)))


def record_in(data: Any) -> CellRecord:
    """Read a record. Raises ``ValueError`` for anything else."""
    try:
        record = CellRecord(str(data["plan"]), int(data["batches"]), data["cell"])
        query = next(iter(every_query().values()))
        _cell(record.cell, query, None)  # type: ignore[arg-type]
    except (KeyError, TypeError) as error:
        message = f"it is no cell: {error}"
        raise ValueError(message) from error
    return record


def _noted(query: QuerySpec) -> bool:
    return every_query().get(query.name) == query


def _digest(query: QuerySpec, configuration: QueryConfiguration) -> str:
    return of_data({"query": query.name, "configuration": configuration.name})


def _data(cell: GridCell) -> dict[str, Any]:
    return {
        "fault": str(cell.placed.fault),
        "batch": cell.placed.batch,
        "with_run": _compared(cell.with_run),
        "with_batch": _compared(cell.with_batch),
        "errors": list(cell.errors),
        "rested": cell.rested,
        "refusal": cell.refusal,
        "checked": cell.trace.checked,
        "unexplained": list(cell.trace.unexplained),
        "unchecked": cell.trace.unchecked,
        "milliseconds": round(1000 * cell.seconds),
    }


def _compared(one: Comparison | None) -> list[list[Any]] | None:
    return None if one is None else [_plain(one.expected), _plain(one.seen)]


def _plain(rows: Iterable[ResultRow]) -> list[Any]:
    return [[list(pair) for pair in row] for row in rows]


def _cell(
    data: dict[str, Any], query: QuerySpec, configuration: QueryConfiguration
) -> GridCell:
    return GridCell(
        query,
        configuration,
        PlacedFault(GridFault(data["fault"]), data["batch"]),
        with_run=_comparison(data["with_run"]),
        with_batch=_comparison(data["with_batch"]),
        errors=tuple(data["errors"]),
        rested=data["rested"],
        refusal=data["refusal"],
        trace=TraceCheck(
            data["checked"], tuple(data["unexplained"]), data["unchecked"]
        ),
        seconds=data["milliseconds"] / 1000,
    )


def _comparison(data: list[list[Any]] | None) -> Comparison | None:
    if data is None:
        return None
    expected, seen = data
    return Comparison(_rows(expected), _rows(seen))


def _rows(data: list[Any]) -> tuple[ResultRow, ...]:
    return tuple(tuple((name, value) for name, value in row) for row in data)
