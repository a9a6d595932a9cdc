"""What the grid found, in lines: each query and configuration, then the failures."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import click

from onceproof.model.text import printable
from onceproof.spark_checks.grid.cell import UNFIT

if TYPE_CHECKING:
    from onceproof.spark_checks.grid.grid_run import GridReport


STEPS_UNEXPLAINED = "a step of Spark's is no step of the model"


def show_grid(report: GridReport) -> None:
    """Print a line for each query and configuration, each failure, and what is left."""
    refuted = report.refuted
    click.echo(f"PySpark {report.pyspark}")
    if report.no_agent:
        click.echo(f"without an agent: {printable(report.no_agent)}")
    pairs: Counter[tuple[str, str]] = Counter()
    bad: Counter[tuple[str, str]] = Counter()
    absent: Counter[tuple[str, str]] = Counter()
    unreplayed = Counter(
        (cell.query.name, cell.configuration.name) for cell in report.not_replayed
    )
    for cell in report.cells:
        pair = (cell.query.name, cell.configuration.name)
        pairs[pair] += 1
        bad[pair] += cell.refuted
        absent[pair] += bool(cell.refusal)
    for pair, cells in pairs.items():
        judged = cells - absent[pair]
        name = f"{pair[0]} [{pair[1]}]"
        open_ = unreplayed[pair] or any(t.startswith(f"{name}: ") for t in report.left)
        verdict = "undecided" if open_ or not judged else "held"
        verdict = f"{bad[pair]} refuted" if bad[pair] else verdict
        none = absent[pair] - unreplayed[pair]
        besides = f"; {none} faults do not exist here" if none else ""
        if unreplayed[pair]:
            besides += f"; {unreplayed[pair]} faults were not replayed"
        click.echo(f"{name}: {verdict}, of {judged} cells{besides}")
    for cell in report.not_replayed:
        if cell.refusal.startswith(UNFIT):
            click.echo(f"not judged, {cell.name}: {printable(cell.refusal)}")
    for cell in refuted:
        broken = [name for name, v in cell.verdicts.items() if v == "refuted"]
        click.echo(f"\n{cell.name}: not {', not '.join(broken)}")
        for line in cell.story():
            click.echo(f"  {printable(line)}")
        if cell.predicted:
            verdicts = ", ".join(f"{name} {v}" for name, v in cell.predicted.items())
            click.echo(f"  the model predicts: {verdicts}")
    for cell in report.drifted:
        if not cell.refuted:
            click.echo(f"\n{cell.name}: drift")
            for line in cell.story():
                click.echo(f"  {printable(line)}")
    for cell in report.unexplained:
        click.echo(f"\n{cell.name}: {STEPS_UNEXPLAINED}")
        for line in cell.trace.unexplained:
            click.echo(f"  {printable(line)}")
    for text in report.left:
        click.echo(f"left: {text}")
    judged = sum(not cell.refusal for cell in report.cells)
    click.echo(f"\n{len(refuted)} of {judged} cells are refuted")
    compared = sum(bool(cell.predicted) for cell in report.cells)
    if compared:
        drift = len(report.drifted)
        click.echo(f"the model predicts {compared} of them; drift in {drift}")
    traces = [cell.trace for cell in report.cells if not cell.refusal]
    explained = sum(trace.conforms for trace in traces)
    reasons = Counter(trace.unchecked for trace in traces if trace.unchecked)
    if explained or reasons or report.unexplained:
        click.echo(f"the model explains each step of Spark's in {explained} of them")
    for reason, cells in reasons.items():
        click.echo(f"not compared step by step, {cells} cells: {printable(reason)}")
