"""``onceproof guarantees``: the guarantee sheet, assembled from evidence, checked."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onceproof.model.errors import UsageError
from onceproof.properties.counterexample import writable

if TYPE_CHECKING:
    from onceproof.properties.sheet import Sheet
    from onceproof.spark_checks.settings import Settings

_FORMATS = {".md": "markdown", ".html": "html", ".htm": "html", ".json": "json"}
_STATED = ""


@click.command()
@click.option(
    "--library", is_flag=True, help="Claim what the library's own files state, too."
)
@click.option("--html", "as_html", is_flag=True, help="Give a page instead.")
@click.option("--json", "as_json", is_flag=True, help="Give plain data instead.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the sheet to a file; its ending says in which form.",
)
@click.option(
    "--evidence",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where evidence lies, if not where pyproject.toml says.",
)
@click.option(
    "--check",
    "checked",
    is_flag=False,
    flag_value=_STATED,
    default=None,
    metavar="[FILE]",
    help="Say whether a written sheet still follows from the evidence.",
)
def guarantees(
    output: Path | None,
    evidence: Path | None,
    checked: str | None,
    *,
    library: bool,
    as_html: bool,
    as_json: bool,
) -> int:
    """Give the guarantee sheet: each claim beside the evidence that it rests on.

    Claims stand in pyproject.toml, as [[tool.onceproof.guarantees]]. With --check the
    exit status is 1 when the sheet does not follow from the evidence any more, when
    evidence is stale or missing, or when a claim is not as it is stated; 2 when the
    configuration is wrong. Nothing is searched, and no Spark is started.

    Example: onceproof guarantees --output docs/guarantees.md
    """
    from onceproof.spark_checks.settings import settings_at  # noqa: PLC0415

    if as_html and as_json:
        message = "choose one of --html and --json"
        raise UsageError(message)
    settings = settings_at(Path.cwd())
    sheet = _assembled(settings, evidence, library=library)
    form = "html" if as_html else "json" if as_json else ""
    if checked is not None:
        path = settings.sheet if checked == _STATED else Path(checked)
        if path is None:
            message = (
                "there is no sheet to check: name a file, or state sheet = in "
                "[tool.onceproof]"
            )
            raise UsageError(message)
        return _check(sheet, path, form or _form_of(path), _command(path, library))
    if output is None:
        click.echo(written(sheet, form or "markdown"), nl=False)
        return 0
    writable(output.parent)
    draft = output.with_name(f"{output.name}.tmp")
    draft.write_text(written(sheet, form or _form_of(output)), encoding="utf-8")
    draft.replace(output)
    return 0


def written(sheet: Sheet, form: str) -> str:
    """Give a sheet as markdown, html or json."""
    from onceproof.properties import sheet_page, sheet_text  # noqa: PLC0415

    if form == "html":
        return sheet_page.as_page(sheet)
    if form == "json":
        return json.dumps(sheet_text.as_data(sheet), indent=1) + "\n"
    return sheet_text.as_markdown(sheet)


def _assembled(settings: Settings, evidence: Path | None, *, library: bool) -> Sheet:
    from onceproof.properties.evidence import read_folder  # noqa: PLC0415
    from onceproof.properties.sheet import assemble  # noqa: PLC0415
    from onceproof.spark_checks.staleness import stale  # noqa: PLC0415

    claims = list(settings.stated())
    if library:
        from onceproof.spark_checks.library_claims import (  # noqa: PLC0415
            library_claims,
        )

        known = {(claim.subject, claim.guarantee) for claim in claims}
        claims += [
            claim
            for claim in library_claims()
            if (claim.subject, claim.guarantee) not in known
        ]
    records = read_folder(evidence or settings.evidence)
    return assemble(claims, records, stale(records, settings.root))


def _check(sheet: Sheet, path: Path, form: str, mend: str) -> int:
    """Say what is wrong with a sheet, and how that is mended; 0 if nothing is."""
    from onceproof.properties.sheet import problems_of  # noqa: PLC0415

    told = [str(problem) for problem in problems_of(sheet)]
    try:
        there = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        told.append(f"{_near(path)} is not there; run {mend}")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path} cannot be read: {error}"
        raise UsageError(message) from None
    else:
        now = written(sheet, form)
        if there != now:
            line = _differs(there, now)
            why = f"does not follow from the evidence any more, from line {line} on"
            told.append(f"{_near(path)} {why}; run {mend}")
    for one in told:
        click.echo(one)
    if told:
        return 1
    rows = len(sheet.rows)
    click.echo(f"{_near(path)} follows from the evidence: {rows} claims")
    return 0


def _differs(one: str, other: str) -> int:
    """Number the first line in which two texts differ."""
    lines, others = one.splitlines(), other.splitlines()
    for number, (a, b) in enumerate(zip(lines, others, strict=False), 1):
        if a != b:
            return number
    return min(len(lines), len(others)) + 1


def _form_of(path: Path) -> str:
    return _FORMATS.get(path.suffix, "markdown")


def _command(path: Path, library: bool) -> str:  # noqa: FBT001 - of the option
    words = " --library" if library else ""
    return f"onceproof guarantees{words} --output {_near(path)}"


def _near(path: Path) -> str:
    """Give a path as seen from here, if that is shorter."""
    return min(os.path.relpath(path), str(path), key=len)
