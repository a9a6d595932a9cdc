"""How far the grid is: which cell is run, and which are refuted."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from onceproof.model.text import printable
from onceproof.spark_checks.cli.output.console import stderr
from onceproof.spark_checks.cli.output.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from onceproof.spark_checks.grid.cell import GridCell
    from onceproof.spark_checks.grid.grid_run import CellBegun


@contextmanager
def grid_view() -> Iterator[GridView]:
    """Say on stderr which cell is run, and which are refuted."""
    there = stderr()
    with progress("Spark starts", there) as say:
        yield GridView(there, say)


class GridView:
    """Takes the news of a grid."""

    def __init__(self, there: Console, say: Callable[[str], None]) -> None:
        """Have nothing said yet."""
        self._there = there
        self._say = say

    def changed(self, why: str) -> None:
        """Say why cells are judged again that an earlier grid may have judged."""
        self._print(f"judged again: {why}")

    def begun(self, cell: CellBegun) -> None:
        """Say which cell is run, on a terminal or once in a while."""
        of = f" of {cell.cells}" if cell.cells else ""
        pair = f"{cell.pair} ({cell.number} of {cell.pairs})"
        self._say(printable(f"{pair}: cell {cell.cell}{of}"))

    def judged(self, cell: GridCell) -> None:
        """Say at once that a cell is refuted."""
        if cell.refuted:
            self._print(f"refuted: {cell.name}")

    def _print(self, text: str) -> None:
        self._there.print(
            printable(text), markup=False, highlight=False, soft_wrap=True
        )
