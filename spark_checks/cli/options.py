"""What several commands take: --set, --property, --json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from onceproof.model.errors import UsageError
from onceproof.model.library import pick
from onceproof.spark_checks.cli.command import STDOUT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.properties.judges.by_search import Report
    from onceproof.properties.property import Property

as_json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON on stdout."
)
set_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a size, a number or a part of the protocol, such as RM=5 or sink=upsert.",
)
property_option = click.option(
    "--property", "names", multiple=True, help="Judge only this property (repeatable)."
)
trust_option = click.option(
    "--trust",
    is_flag=True,
    help="Run the code that FILE names even outside the project.",
)


def properties_of(model: Protocol, names: Sequence[str]) -> list[Property] | None:
    """Return the properties that --property names, or None for all of them.

    Raises ``UsageError`` for a name that the protocol does not know.
    """
    if not names:
        return None
    from onceproof.properties.guarantees import why_not_judged  # noqa: PLC0415 - slow
    from onceproof.properties.judges.by_search import claims_of  # noqa: PLC0415 - slow to import

    known = {p.name: p for p in claims_of(model)}
    for name in names:
        if name not in known and (why := why_not_judged(model, name)):
            raise UsageError(why)
    return [known[pick(name, known, "property")] for name in names]


def say_nothing_is_claimed(report: Report) -> None:
    """Report on stderr that nothing was judged, where a protocol claims nothing."""
    if not report.findings:
        click.echo(
            f"{report.protocol.label()} claims nothing, so nothing is judged: observe "
            "`visible`, or add @always, @sometimes and their kin; see "
            "docs/tutorial/first-protocol.md",
            err=True,
        )


def print_json(data: object) -> None:
    """Print plain data on stdout, where nothing else is printed."""
    print_text(json.dumps(data, indent=2, allow_nan=False) + "\n")


def print_text(text: str) -> None:
    """Print an answer on stdout as it is, also where other prints go to stderr."""
    stdout = click.get_current_context().meta.get(STDOUT)
    click.echo(text, file=stdout, nl=False)


def pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    """Read what an option repeats as NAME=VALUE. Raises ``UsageError``."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name or name in found:
            wrong = "is given twice" if name in found else "is not NAME=VALUE"
            message = f"{option} {name} {wrong}"
            raise UsageError(message)
        found[name] = value
    return found
