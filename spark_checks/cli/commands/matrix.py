"""``onceproof matrix``: every composition of the library under every fault set."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Column, Table

from onceproof.model.errors import UsageError
from onceproof.model.files import writable, write_whole
from onceproof.model.library import pick
from onceproof.model.search.limits import Limits
from onceproof.spark_checks.cli.command import Command
from onceproof.spark_checks.cli.duration import DURATION
from onceproof.spark_checks.cli.options import as_json_option, print_json
from onceproof.spark_checks.cli.output import console
from onceproof.spark_checks.cli.output.progress import progress
from onceproof.spark_checks.cli.processes import done_in_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.properties.evidence.record import Evidence
    from onceproof.properties.matrix.compositions import Composition, LeftOut, Listed
    from onceproof.properties.matrix.judging import Judged
    from onceproof.properties.matrix.matrix import Matrix, MatrixRow


@click.command(cls=Command, apart=[("html", "as_json")])
@click.option(
    "--only",
    "names",
    multiple=True,
    metavar="NAME",
    help="Judge only compositions with this engine, source or sink (repeatable: each "
    "name has to be in them).",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write an HTML page to this file. A refuted cell opens its counterexample in "
    "the explorer, which is in the page.",
)
@click.option(
    "--several/--one-change",
    default=True,
    help="Judge also compositions in which several parts of the engine are changed at "
    "once, or only those in which at most one is.  [default: several]",
)
@click.option(
    "--budget",
    type=DURATION,
    help="Begin no search after this time, such as 90s, 5m or 1h, and pack no "
    "counterexample into the page. What is left is undecided; the next matrix goes on "
    "from there.",
)
@click.option(
    "--max-states",
    type=click.IntRange(1, 2**62),
    help="Stop each search after this many states.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    help="How many processes search. Default: as many as there are cores.",
)
@click.option(
    "--evidence",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of the evidence, if not the one in pyproject.toml. Replays in it "
    "are shown beside the model's verdict.",
)
@as_json_option
def matrix(
    names: tuple[str, ...],
    html: Path | None,
    budget: float | None,
    max_states: int | None,
    jobs: int | None,
    evidence: Path | None,
    *,
    several: bool,
    as_json: bool,
) -> int:
    """Judge every composition of source, engine and sink under every fault set.

    The compositions follow from the library's protocols, slots and parts. Each is
    judged without faults, with each of its faults alone, and with all of them. What
    was judged before is taken from the cache unless the model, a guarantee or the code
    that judges has changed.

    The exit status is 0 if every composition was judged and breaks only what its parts
    state, 1 if one breaks more, and 2 if something is undecided.

    Example: onceproof matrix --html matrix.html
    """
    from onceproof.properties.matrix.compositions import compositions  # noqa: PLC0415
    from onceproof.properties.matrix.matrix import matrix_of  # noqa: PLC0415

    if html is not None:
        writable(html.parent)
    records = _records(evidence)
    listed = compositions()
    chosen = _chosen(listed, names, several=several)
    limits, processes = Limits(max_states), jobs or os.cpu_count() or 1
    ends = math.inf if budget is None else time.monotonic() + budget
    judged = _judge(chosen, limits, processes, ends)
    if names:
        made = matrix_of(judged, (), records, whole=False)
    else:
        left_out = [*listed.left_out, *_more(listed, several=several)]
        made = matrix_of(judged, left_out, records, listed.same)
    if not any(row.spark for row in made.rows):
        click.echo(
            "no replay is shown beside a verdict, for there is no evidence of one; "
            "`onceproof replay --evidence` leaves some",
            err=True,
        )
    if as_json:
        print_json(made.to_json())
    elif html is not None:
        _write(made, html, processes, ends)
    else:
        _show(made)
    return made.exit_status


def _records(folder: Path | None) -> list[Evidence]:
    from onceproof.properties.evidence.store import read_folder  # noqa: PLC0415
    from onceproof.spark_checks.report.evidence.project_settings import (  # noqa: PLC0415
        settings_at,
    )

    if folder is not None and not folder.is_dir():
        message = f"--evidence: there is no folder {folder}"
        raise UsageError(message)
    return list(read_folder(folder or settings_at(Path.cwd()).evidence).values())


def _chosen(
    listed: Listed, names: Sequence[str], *, several: bool
) -> list[Composition]:
    """Return the compositions that have all of the names.

    Raises ``UsageError`` for an unknown name, and where there are none.
    """
    found = [*listed.found, *listed.several]
    every = sorted({name for one in found for name in one.names})
    for name in names:
        many = f"`onceproof protocols --json` lists the {len(every)} that there are"
        pick(name, every, "engine or part", otherwise=many)
    fitting = [one for one in found if set(names) <= set(one.names)]
    chosen = [one for one in fitting if several or len(one.changes) <= 1]
    if not chosen:
        way = "leave --one-change out" if fitting else "leave one out"
        message = f"no composition has all of {', '.join(names)}; {way}"
        raise UsageError(message)
    return chosen


def _more(listed: Listed, *, several: bool) -> list[LeftOut]:
    from onceproof.properties.matrix.compositions import LeftOut  # noqa: PLC0415

    count = len(listed.several)
    if several or not count:
        return []
    why = "several parts of the engine are changed at once, and --one-change was given"
    return [LeftOut(f"{count} compositions", why)]


def _judge(
    chosen: Sequence[Composition], limits: Limits, jobs: int, ends: float
) -> list[tuple[Composition, Judged | None]]:
    """Judge compositions in processes of their own; report progress on stderr."""
    from onceproof.properties.matrix.judging import judge, known  # noqa: PLC0415

    with progress("looking up what was judged before") as say:
        found = {n: known(one, limits) for n, one in enumerate(chosen)}
        left = {n: (chosen[n], limits) for n, was in found.items() if was is None}
        done = len(chosen) - len(left)
        for number, judged in done_in_time(judge, left, jobs, ends):
            found[number] = judged
            done += 1
            say(f"{done} of {len(chosen)} judged; {chosen[number]}")
    return [(one, found[n]) for n, one in enumerate(chosen)]


def _write(made: Matrix, path: Path, jobs: int, ends: float) -> None:
    """Write the page; the explorer's pages in it are made in processes of their own."""
    from onceproof.properties.matrix.opened import known, packed  # noqa: PLC0415
    from onceproof.properties.matrix.page import page, refuted  # noqa: PLC0415

    runs = {str(row.composition): (row.composition, row.runs) for row in refuted(made)}
    with progress("writing the page") as say:
        before = {name: known(*call) for name, call in runs.items()}
        opened = {name: pages for name, pages in before.items() if pages is not None}
        left = {name: call for name, call in runs.items() if name not in opened}
        for name, pages in done_in_time(packed, left, jobs, ends):
            opened[name] = pages
            say(f"counterexamples of {len(opened)} of {len(runs)}")
    write_whole(path, page(made, opened))
    click.echo(str(path))
    if missing := len(runs) - len(opened):
        click.echo(
            f"there was no time to pack the counterexamples of {missing} of "
            f"{len(runs)} compositions: the page has their steps; the next matrix "
            "goes on",
            err=True,
        )


_SIGNS = {"once": "● once", "repeats": "▲ repeats", "loses": "▼ loses"}
_SIGNS |= {"both": "✖ repeats, loses", "open": "? open"}


def _but_not(row: MatrixRow) -> str:
    """Name what breaks although each event counts once in the end."""
    broken = row.shown_by if row.outcome() == "once" else ()
    return f", but not {', '.join(broken)}" if broken else ""


def _quoted(row: MatrixRow, name: str) -> str:
    """Say what real Spark showed of a guarantee, and in how many replays."""
    found = row.spark[name]
    what = "" if name == "effectively-once" else f" ({name})"
    count = len(found.sinks)
    return f"{found.verdict}, {count} replay{'' if count == 1 else 's'}{what}"


def _show(made: Matrix) -> None:
    from onceproof.properties.matrix.compositions import SINK  # noqa: PLC0415
    from onceproof.properties.matrix.judging import NONE  # noqa: PLC0415

    table = Table(
        Column("engine", no_wrap=True), "sink", "an event counts", "because of"
    )
    table.add_column("real Spark")
    for row in made.rows:
        by = [b.replace("_", " ") for b in row.breaking]
        table.add_row(
            row.composition.column,
            row.composition.named(SINK),
            _SIGNS[row.outcome()] + _but_not(row),
            "no fault" if row.breaking == (NONE,) else ", ".join(by),
            ", ".join(_quoted(row, name) for name in row.on_spark),
        )
    console.stdout().print(table)
    for row in made.unstated:
        more = ", ".join(sorted(row.unstated))
        click.echo(f"{row.composition} breaks {more}, which none of its parts states")
    for row in made.undecided:
        click.echo(f"{row.composition} is undecided")
    for composition in made.not_judged:
        click.echo(f"{composition} is undecided: there was no time left")
    for one in made.left_out:
        click.echo(f"left out: {one.what}: {one.why}", err=True)
    for one in made.elsewhere:
        click.echo(f"replayed: {one.what}: {one.why}", err=True)
    once = sum(row.outcome() == "once" for row in made.rows)
    count = len(made.rows) + len(made.not_judged)
    click.echo(f"{once} of {count} compositions are effectively-once")
