"""What an agent reported of cells of the grid: models are checked without Spark.

``python -m tests.spark_checks.grid.recorded_cells`` records it anew: it runs some cells
with an agent, and writes one line for each; those of some queries, if they are named.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.spark_checks.grid.cell_traces import CellTraces
from onceproof.spark_checks.grid.grid_faults import GridFault
from onceproof.spark_checks.grid.grid_run import run_grid
from onceproof.spark_checks.grid.logged_batches import BatchLogs, LoggedBatch
from onceproof.spark_checks.queries.catalogue import named
from onceproof.spark_checks.queries.configuration import parsed
from onceproof.spark_checks.replay.conformance.step_meanings import WITH_STATE
from onceproof.spark_checks.session.java.agent.step_report import (
    StepReport,
    read_steps,
    step_in,
)

if TYPE_CHECKING:
    from onceproof.spark_checks.grid.cell import GridCell

FOLDER = Path(__file__).parent / "recorded"
IDS = "provider=rocksdb,changelog=on,format=2"
SKIPS, FILES = "sink=skips", f"{IDS},sink=files"
ASYNC = "source=kafka,sink=kafka,trigger=processing-time,progress=async"
CELLS = {
    "window-append": ("default", SKIPS, FILES),
    "total-update-two-writes": ("default",),
    "join-inner": ("default",),
    "map": (ASYNC,),
    "window-of-windows": ("default", FILES),
}
"""The configurations of which cells are recorded, by query: all cells, and of those in
which a batch may be skipped those where it is."""
_KNOWN = {meaning.step for meaning in WITH_STATE}
"""The steps that mean something in the model; no other is recorded."""


@dataclass(frozen=True)
class RecordedCell:
    """What was reported of one cell."""

    query: str
    """The name of the query."""
    configuration: str
    """The name of the configuration."""
    fault: str
    """What happened, in words."""
    steps: tuple[StepReport, ...]
    """The steps, in the order of time."""
    logs: tuple[BatchLogs, ...]
    """What the logs named after each run."""

    @property
    def name(self) -> str:
        """Name the cell."""
        return f"{self.query} [{self.configuration}] {self.fault}"


def recorded(folder: Path = FOLDER) -> list[RecordedCell]:
    """Read what was recorded."""
    return [
        RecordedCell(
            data["query"],
            data["configuration"],
            data["fault"],
            tuple(map(step_in, data["steps"])),
            tuple(map(_logs, data["logs"])),
        )
        for path in sorted(folder.glob("*.jsonl"))
        for data in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    ]


def record(folder: Path, cells: dict[str, tuple[str, ...]]) -> None:
    """Run cells with an agent, and note what it reports."""
    check = CellTraces.of
    seen: list[dict[str, object]] = []

    def noted(self, at, logs):
        steps = read_steps(at)
        first = steps[0].nanos if steps else 0
        seen.append(
            {
                "steps": [_line(step, first) for step in steps if step.step in _KNOWN],
                "logs": [_data(one) for one in logs],
            }
        )
        return check(self, at, logs)

    def heard(cell):
        print(cell.name, cell.refusal, cell.trace, cell.drift, flush=True)
        if not cell.refusal and wanted(cell):
            name = f"{cell.query.name}.jsonl"
            data = {
                "query": cell.query.name,
                "configuration": cell.configuration.name,
                "fault": str(cell.placed),
            }
            with (folder / name).open("a", encoding="utf-8") as file:
                file.write(json.dumps(data | seen[-1]) + "\n")

    CellTraces.of = noted
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for query, configurations in cells.items():
            (folder / f"{query}.jsonl").unlink(missing_ok=True)
            run_grid(
                [named(query)],
                [parsed(text) for text in configurations],
                agent=True,
                listener=heard,
            )
    finally:
        CellTraces.of = check


def wanted(cell: GridCell) -> bool:
    """Return whether a cell is recorded."""
    skips = cell.configuration in (parsed(SKIPS), parsed(FILES))
    return cell.placed.fault is GridFault.BEFORE_COMMITS or not skips


def _line(step: StepReport, first: int) -> str:
    """Write a step as the agent does, from the first one on, without its thread."""
    values = dataclasses.astuple(dataclasses.replace(step, nanos=step.nanos - first))
    texts = ["-1" if value is None else str(value) for value in values[:-1]]
    return "\t".join([*texts, ""])


def _data(logs: BatchLogs) -> dict[str, object]:
    offsets = {n: list(dataclasses.astuple(one)) for n, one in logs.offsets.items()}
    return {
        "offsets": offsets,
        "commits": dict(logs.commits),
    }


def _logs(data: dict[str, dict[str, object]]) -> BatchLogs:
    return BatchLogs(
        {
            int(n): LoggedBatch(tuple(sources), *rest)
            for n, (sources, *rest) in data["offsets"].items()
        },
        {int(n): mark for n, mark in data["commits"].items()},
    )


if __name__ == "__main__":
    asked = sys.argv[1:] or CELLS
    record(FOLDER, {query: CELLS[query] for query in asked})
