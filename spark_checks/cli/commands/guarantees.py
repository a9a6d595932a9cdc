"""``onceproof guarantees``: the guarantee sheet, assembled from evidence, checked."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onceproof.model.errors import UsageError
from onceproof.model.files import read_text, short_path, writable, write_whole
from onceproof.model.text import shell_word
from onceproof.spark_checks.cli.command import Command, Use
from onceproof.spark_checks.cli.options import print_json, print_text

if TYPE_CHECKING:
    from onceproof.properties.evidence.problems import Problem
    from onceproof.properties.evidence.sheet import Sheet
    from onceproof.spark_checks.report.evidence.project_settings import Settings

_FORMATS = {".md": "markdown", ".html": "html", ".htm": "html", ".json": "json"}
_STATED = ""


_READ = ("library", "evidence")
_USES = (
    Use(
        "with --drop",
        ("evidence", "dropped"),
        when=lambda given: bool(given["dropped"]),
    ),
    Use(
        "with --check",
        (*_READ, "checked", "as_json"),
        when=lambda given: given["checked"] is not None,
    ),
    Use("in a sheet", (*_READ, "output", "as_html", "as_json")),
)


@click.command(cls=Command, uses=_USES, apart=[("as_html", "as_json")])
@click.option(
    "--library",
    is_flag=True,
    help="Also claim what the library's own files state (as library = true does).",
)
@click.option("--html", "as_html", is_flag=True, help="Write a page of HTML.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print JSON: the sheet, or what --check found.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the sheet to a file: .md, .html or .json. Default: print it.",
)
@click.option(
    "--evidence",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder of the evidence, if not the one in pyproject.toml.",
)
@click.option(
    "--check",
    "checked",
    is_flag=False,
    flag_value=_STATED,
    default=None,
    metavar="[FILE]",
    help="Check a written sheet: FILE, or the one that pyproject.toml names.",
)
@click.option(
    "--drop",
    "dropped",
    multiple=True,
    metavar="RECORD",
    help="Remove a stale record, by the name that --check gives it (repeatable).",
)
def guarantees(
    output: Path | None,
    evidence: Path | None,
    checked: str | None,
    dropped: tuple[str, ...],
    *,
    library: bool,
    as_html: bool,
    as_json: bool,
) -> int:
    """Write the guarantee sheet: what you claim, and the evidence for each claim.

    This takes three steps. First claim guarantees in pyproject.toml:

    \b
      [[tool.onceproof.guarantees]]
      subject = "sinks/orders.py::orders"
      guarantee = "effectively-once"

    Then leave evidence: by tests as here, or by check, prove and replay --evidence:

    \b
      pytest --onceproof-profile=ci --onceproof-evidence=.onceproof/evidence

    Then write the sheet, commit it, and have CI check it:

    \b
      onceproof guarantees --output GUARANTEES.md
      onceproof guarantees --check GUARANTEES.md

    --check exits with 1 if the code or the model has changed since the evidence was
    made, if a claim has no evidence, if a claim does not hold as stated, or if the
    sheet does not match the evidence; each line says which command fixes it. It exits
    with 2 if the settings are wrong or nothing is claimed. It runs no search, and
    starts no Spark.
    """  # noqa: D301 - click takes the backspace itself for "leave the lines be"
    from onceproof.spark_checks.report.evidence.project_settings import settings_at  # noqa: PLC0415

    form = "html" if as_html else "json" if as_json else ""
    if output is not None and form and _form_of(output) != form:
        message = (
            f"{output} is {_form_of(output)} by its ending; end it in .{form}, or "
            f"leave out --{form}"
        )
        raise UsageError(message)
    settings = settings_at(Path.cwd())
    added = " --library" if library and not settings.library else ""
    command = f"onceproof guarantees{added}"
    if evidence is not None:
        if not evidence.is_dir():
            message = f"there is no folder {evidence} to read evidence from"
            raise UsageError(message)
        added += f" --evidence {shell_word(short_path(evidence))}"
        settings = replace(settings, evidence=evidence)
    if dropped:
        return _drop(dropped, settings)
    settings = replace(settings, library=library or settings.library)
    folder = short_path(settings.evidence, settings.root)
    if output is not None:
        around = (output.parent, *output.parent.parents)
        writable(next(one for one in around if os.path.lexists(one)))
    sheet = replace(_assembled(settings), command=command, folder=folder)
    if checked is not None:
        path = settings.sheet if checked == _STATED else Path(checked)
        if path is None:
            message = (
                "there is no sheet to check; help: name a file, or set sheet in "
                "[tool.onceproof]"
            )
            raise UsageError(message)
        if not sheet.rows:
            message = (
                "nothing is claimed, so there is nothing to check: state claims as "
                f"[[tool.onceproof.guarantees]] in {settings.root / settings.where}"
            )
            raise UsageError(message)
        fix = f"run onceproof guarantees{added} --output {shell_word(short_path(path))}"
        return _check(sheet, path, fix, as_json=as_json)
    if output is None:
        print_text(written(sheet, form or "markdown"))
        return 0
    writable(output.parent)
    write_whole(output, written(sheet, _form_of(output)))
    return 0


def written(sheet: Sheet, form: str) -> str:
    """Return a sheet as markdown, html or json."""
    from onceproof.properties.evidence import sheet_data, sheet_page, sheet_text  # noqa: PLC0415

    if form == "html":
        return sheet_page.as_page(sheet)
    if form == "json":
        return json.dumps(sheet_data.as_data(sheet), indent=1) + "\n"
    return sheet_text.as_markdown(sheet)


def _assembled(settings: Settings) -> Sheet:
    from onceproof.properties.evidence.measurements.measurement import hashes_now  # noqa: PLC0415
    from onceproof.properties.evidence.measurements.store import measurements  # noqa: PLC0415
    from onceproof.properties.evidence.sheet import assemble  # noqa: PLC0415
    from onceproof.properties.evidence.store import read_folder  # noqa: PLC0415
    from onceproof.spark_checks.report.evidence.staleness import Traces, stale  # noqa: PLC0415

    claims, traces = list(settings.stated()), Traces()
    if settings.library:
        from onceproof.spark_checks.report.evidence.library_claims import library_claims  # noqa: PLC0415

        known = {(claim.name, claim.guarantee) for claim in claims}
        try:
            stated = library_claims(traces, stores=settings.stores)
        except ImportError as error:
            name = "PySpark" if error.name == "pyspark" else error.name
            message = (
                f"the library's claims are of its sinks too, which need {name}, and "
                "it is not installed"
            )
            raise UsageError(message) from None
        claims += [c for c in stated if (c.name, c.guarantee) not in known]
    records = read_folder(settings.evidence)
    sheet = assemble(claims, records, stale(records, settings.root, traces))
    measured = measurements(settings.evidence)
    names = tuple({name for one in measured.values() for name in one.properties})
    hashes = hashes_now(names) if measured else {}
    return replace(sheet, measurements=measured, hashes=hashes)


def _drop(addresses: tuple[str, ...], settings: Settings) -> int:
    """Remove records, if all of them are stale."""
    from onceproof.properties.evidence.store import read_folder, remove  # noqa: PLC0415
    from onceproof.spark_checks.report.evidence.staleness import stale  # noqa: PLC0415

    records = read_folder(settings.evidence)
    outdated = stale(records, settings.root)
    for address in addresses:
        if address not in records:
            message = f"{settings.evidence} has no record {address}"
            raise UsageError(message)
        if address not in outdated:
            message = f"{address} is not stale: it is evidence, and is not removed"
            raise UsageError(message)
    for address in addresses:
        remove(records[address], settings.evidence)
        click.echo(f"removed {address}", err=True)
    return 0


def _check(sheet: Sheet, path: Path, fix: str, *, as_json: bool) -> int:
    """Return what is wrong with a sheet, and how to fix it; 0 if nothing is."""
    from onceproof.properties.evidence.problems import problems_of  # noqa: PLC0415

    problems = [*problems_of(sheet), *_of_file(sheet, path, fix)]
    rows = len(sheet.rows)
    if as_json:
        data = {
            "format": "onceproof guarantee check",
            "schema": 2,
            "sheet": short_path(path),
            "follows": not problems,
            "claims": rows,
            "problems": [asdict(problem) for problem in problems],
        }
        print_json(data)
    else:
        for problem in problems:
            click.echo(str(problem))
        if not problems:
            counted = "1 claim" if rows == 1 else f"{rows} claims"
            click.echo(f"{short_path(path)} follows from the evidence: {counted}")
    return 1 if problems else 0


def _of_file(sheet: Sheet, path: Path, fix: str) -> list[Problem]:
    """Compare a written sheet with what the evidence says now."""
    from onceproof.properties.evidence.problems import Problem  # noqa: PLC0415

    if not os.path.lexists(path):
        return [Problem(short_path(path), "it is not there", fix)]
    there = read_text(path)
    now = written(sheet, _form_of(path))
    if there == now:
        return []
    line = _differs(there, now)
    why = f"it does not follow from the evidence any more, from line {line} on"
    return [Problem(short_path(path), why, fix)]


def _differs(one: str, other: str) -> int:
    """Number the first line in which two texts differ."""
    lines, others = one.splitlines(), other.splitlines()
    for number, (a, b) in enumerate(zip(lines, others, strict=False), 1):
        if a != b:
            return number
    return min(len(lines), len(others)) + 1


def _form_of(path: Path) -> str:
    return _FORMATS.get(path.suffix, "markdown")
