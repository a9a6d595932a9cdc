"""Progress where stderr is no terminal: a line now and then, and no more."""

from __future__ import annotations

import itertools

import pytest

from onceproof.spark_checks.cli.output import progress as module
from onceproof.spark_checks.cli.output.grid_progress import grid_view
from onceproof.spark_checks.grid import grid_run
from onceproof.spark_checks.grid.cell import GridCell
from onceproof.spark_checks.grid.comparison import Comparison
from onceproof.spark_checks.grid.grid_query import NO_FAULT
from onceproof.spark_checks.grid.grid_run import CellBegun, GridReport
from onceproof.spark_checks.queries.catalogue import named
from onceproof.spark_checks.queries.configuration import parsed
from tests.spark_checks.projects import run


@pytest.fixture(autouse=True)
def _seconds(monkeypatch):
    """Ten seconds pass from one look at the clock to the next."""
    seconds = itertools.count(0, 10)
    monkeypatch.setattr(module.time, "monotonic", lambda: next(seconds))


def test_a_line_is_printed_every_half_minute(capsys):
    with module.progress("searching") as say:
        for number in range(1, 10):
            say(f"{number} of 9 judged")

    assert capsys.readouterr().err.splitlines() == [
        "3 of 9 judged",
        "6 of 9 judged",
        "9 of 9 judged",
    ]


def test_a_search_says_how_many_states_it_has(capsys):
    with module.search_progress() as reached:
        for level in range(1, 4):
            reached(1000 * level, 4000 * level, level)

    assert capsys.readouterr().err == "3,000 states, 12,000 generated, depth 3\n"


def test_a_grid_says_which_cell_is_run_and_which_is_refuted(capsys):
    """What is refuted is said at once, and a name with brackets is printed whole."""
    query, configuration = named("map"), parsed("default")
    row = ((("a", 1),), 1)
    cells = [
        GridCell(query, configuration, NO_FAULT, with_batch=Comparison((row,), rows))
        for rows in ((), (row,))
    ]

    with grid_view() as view:
        view.changed("[bold]Spark[/bold] is another")
        for number in range(1, 4):
            view.begun(CellBegun("map [default]", 2, 7, number, 0))
        view.judged(cells[0])
        view.judged(cells[1])
        for number in range(4, 7):
            view.begun(CellBegun("map [default]", 2, 7, number, 9))

    assert capsys.readouterr().err.splitlines() == [
        "judged again: [bold]Spark[/bold] is another",
        "map [default] (2 of 7): cell 3",
        f"refuted: {cells[0].name}",
        "map [default] (2 of 7): cell 6 of 9",
    ]


def test_commands_say_how_far_they_are(monkeypatch, tmp_path):
    """The grid is not run here: it tells of one cell."""

    def told(*_, begun, **__):
        for _ in range(3):
            begun(CellBegun("map [default]", 1, 1, 1, 0))
        return GridReport((), (), "4.1.4")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(grid_run, "run_grid", told)
    grid = run("replay", "--grid", "--query", "map", "--config", "default")
    search = run("check", "two-phase-commit", "--set", "RM=2")

    assert grid.stderr.splitlines() == ["map [default] (1 of 1): cell 1"]
    lines = search.stderr.splitlines()
    assert lines[0].endswith(" generated, depth 2")
