"""``onceproof explore``: a counterexample or a protocol, to look at and to walk in."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onceproof.model.errors import UsageError
from onceproof.model.library import make, pick
from onceproof.properties.check import check, claims_of
from onceproof.properties.counterexample import read, writable
from onceproof.properties.explorer.page import Origin, page
from onceproof.properties.explorer.tell import model_of, told_of
from onceproof.properties.explorer.view import Explored, explored
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.sinks.user_code import StruckInside, UserCode

if TYPE_CHECKING:
    from onceproof.properties.counterexample import Counterexample

_CODE = ("committer", "in_tasks", "on_driver")


@click.command()
@click.argument("what", metavar="FILE|PROTOCOL")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="Write the page into this file.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a size, a number or a part of the protocol, such as RM=5.",
)
@click.option("--property", "name", help="Show the run that breaks this property.")
def explore(what: str, html: Path, settings: tuple[str, ...], name: str | None) -> int:
    """Write a counterexample, or a protocol to walk in, as one page of HTML.

    FILE is a counterexample file, of a model or of real Spark. PROTOCOL is a name, or a
    file as FILE.py or FILE.py:NAME; with --property the page shows the shortest run
    that breaks it, without it begins where the protocol does. The page needs no network
    and sends nothing anywhere. In it any step that is possible can be taken, and what
    becomes of the property is shown.

    Example: onceproof explore micro-batch --property at-most-once --html run.html
    """
    if _is_file(what):
        if settings or name:
            message = (
                "a counterexample file says itself what it is about; leave out --set"
            )
            raise UsageError(message)
        told = read(Path(what))
        found, origin = explored(told, _of_own_code(told)), Origin(what, file=True)
    else:
        from onceproof.spark_checks.cli import _settings  # noqa: PLC0415 - it imports this

        chosen = _settings(settings)
        found, origin = _of_protocol(what, chosen, name), Origin(what, chosen)
    writable(html.parent)
    html.write_text(page(found, origin), encoding="utf-8")
    for note in found.view.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(str(html))
    return 0


def _of_own_code(told: Counterexample) -> StruckInside | None:
    """Make the model of a user's own sink, which a file names by its sizes alone.

    What else the code does is as little as the file's steps ask for.
    """
    if told.protocol != StruckInside.label():
        return None
    sizes = {n: v for n, v in told.parameters.items() if n != "sink"}
    for chosen in itertools.product((0, 1), repeat=len(_CODE)):
        code = UserCode(**dict(zip(_CODE, chosen, strict=True)))
        try:
            protocol = StruckInside(sink=code, **sizes)
        except UsageError:
            return None
        if model_of(told, protocol)[0] is not None:
            return protocol
    return None


def _is_file(what: str) -> bool:
    return what.endswith(".json")


def _of_protocol(what: str, settings: dict[str, str], name: str | None) -> Explored:
    """Explore a protocol: the run that breaks a property, or its start."""
    protocol = make(what, settings)
    finding = None
    if name is not None:
        known = {prop.name: prop for prop in claims_of(protocol)}
        chosen = known[pick(name, known, "property")]
        finding = check(protocol, [chosen]).findings[0]
        if finding.verdict is not Verdict.REFUTED:
            click.echo(
                f"{name} is {finding.verdict}: {finding.verdict.meaning}", err=True
            )
    return explored(told_of(protocol, finding), protocol)
