"""``onceproof explore``: a counterexample or a protocol, to look at and to walk in."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onceproof.model.errors import UsageError
from onceproof.model.files import writable, write_whole
from onceproof.model.language.fields import Param
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make, pick, settings_of
from onceproof.model.search.limits import Limits
from onceproof.properties.counterexample.file import read
from onceproof.properties.counterexample.model_run import counterexample_of
from onceproof.properties.explorer.page.page import Origin, page
from onceproof.properties.explorer.terminal.text_renderer import plain_text
from onceproof.properties.explorer.view_builder import Explored, explored
from onceproof.properties.judges.by_search import FaultSets, check, claims_of
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.cli.command import Command, Use
from onceproof.spark_checks.cli.options import (
    as_json_option,
    print_json,
    set_option,
    trust_option,
)
from onceproof.spark_checks.cli.output.console import colored
from onceproof.spark_checks.cli.output.progress import search_progress
from onceproof.spark_checks.sinks.exchange_model import OWN_CODE_ENGINES
from onceproof.spark_checks.sinks.user_code_model import (
    InstrumentedMicroBatch,
    UserCode,
)

if TYPE_CHECKING:
    from onceproof.model.language.composition.protocol import Protocol
    from onceproof.properties.counterexample.file import Counterexample

_CODE = tuple(n for n, what in UserCode.parameters().items() if isinstance(what, Param))


_SHOWN = ("what", "html", "unfold", "as_json")
_USES = (
    Use(
        "for a counterexample file",
        (*_SHOWN, "trust"),
        when=lambda given: _is_file(given["what"]),
    ),
    Use(
        "for a protocol with --property",
        (*_SHOWN, "settings", "name", "max_states", "faults"),
        when=lambda given: given["name"] is not None,
    ),
    Use("for a protocol", (*_SHOWN, "settings")),
)


_APART = [("html", "as_json"), ("html", "unfold"), ("unfold", "as_json")]


@click.command(cls=Command, uses=_USES, apart=_APART)
@click.argument("what", metavar="FILE|PROTOCOL")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write an HTML page to this file.",
)
@set_option
@click.option("--property", "name", help="Show the run that breaks this property.")
@click.option(
    "--max-states",
    type=click.IntRange(1, 2**62),
    help="With --property: stop the search after this many states.",
)
@click.option(
    "--fault",
    "faults",
    metavar="NAME",
    multiple=True,
    help="With --property: let no other fault happen (repeatable; none: no fault).",
)
@click.option(
    "--unfold", is_flag=True, help="Show routine steps one by one in plain text."
)
@trust_option
@as_json_option
def explore(
    what: str,
    html: Path | None,
    settings: tuple[str, ...],
    name: str | None,
    max_states: int | None,
    faults: tuple[str, ...],
    *,
    unfold: bool,
    trust: bool,
    as_json: bool,
) -> int:
    """Show a counterexample or a protocol, in the terminal or as an HTML page.

    FILE is a counterexample file, of a model or of real Spark. If it names a model in a
    Python file, that file runs only from the project's folder, or from anywhere with
    --trust; otherwise FILE is shown without the model. PROTOCOL is a name, or a file as
    FILE.py or FILE.py:NAME. With --property, the shortest run that breaks it is shown;
    without, the initial state. You can take any possible step and see what then happens
    to the property. The page that --html writes needs no network and sends nothing
    anywhere. If the output is not a terminal, plain text is printed.

    Example: onceproof explore micro-batch --property at-most-once
    """
    if _is_file(what):
        counterexample = read(Path(what))
        found = explored(counterexample, _of_own_code(counterexample), trust=trust)
        origin = Origin(what, file=True)
    else:
        chosen = settings_of(settings)
        found, origin = (
            _of_protocol(what, chosen, name, max_states, faults),
            Origin(what, chosen),
        )
    if as_json:
        print_json(found.view.to_json())
    elif html is None:
        _show(found, origin, unfold=unfold)
    else:
        writable(html.parent)
        write_whole(html, page(found, origin))
        for note in found.view.notes:
            click.echo(f"note: {note}", err=True)
        click.echo(str(html))
    return 0


def _show(found: Explored, origin: Origin, *, unfold: bool) -> None:
    """Open the terminal view; where nobody could press a key, print plain text."""
    # It is drawn on stderr.
    there = all(s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr))
    if not there or os.environ.get("TERM", "dumb") == "dumb":
        click.echo(plain_text(found.view, unfold=unfold))
        return
    if colored() is False:
        os.environ["NO_COLOR"] = "1"
    from onceproof.properties.explorer.terminal.app import Terminal  # noqa: PLC0415

    app = Terminal(found, origin, unfold=unfold)
    app.run()
    for text in app.copied:
        click.echo(text)


def _of_own_code(counterexample: Counterexample) -> InstrumentedMicroBatch | None:
    """Make the model of a user's own sink as it was when the file was written."""
    engine = OWN_CODE_ENGINES.get(counterexample.protocol)
    if engine is None:
        return None
    numbers = dict(counterexample.parameters)
    numbers.pop("sink", None)
    code = {n: numbers.pop(f"sink.{n}") for n in _CODE if f"sink.{n}" in numbers}
    if len(code) < len(_CODE):
        return None
    try:
        return engine(sink=UserCode(**code), **numbers)
    except (UsageError, TypeError):
        return None


def _is_file(what: str) -> bool:
    return what.endswith(".json")


def _of_protocol(
    what: str,
    settings: dict[str, str],
    name: str | None,
    max_states: int | None,
    faults: tuple[str, ...],
) -> Explored:
    """Explore a protocol: the run that breaks a property, or its start."""
    protocol = make(what, settings)
    trace(protocol)  # a model with a mistake in it is refused, not shown in part
    finding, how = None, {}
    if name is not None:
        known = {prop.name: prop for prop in claims_of(protocol)}
        chosen = known[pick(name, known, "property")]
        limits = Limits(max_states)
        if faults:
            allowed = _allowed(protocol, faults)
            report = FaultSets(protocol, [chosen]).check(
                allowed, [chosen], limits=limits
            )
        else:
            with search_progress() as progress:
                report = check(protocol, [chosen], limits=limits, progress=progress)
        finding = report.findings[0]
        how = {"judge": "check", "symmetry": False, "reduce": False}
        how |= {"max_states": limits.states, "max_memory": limits.memory}
        if finding.verdict is not Verdict.REFUTED:
            click.echo(
                f"{name} is {finding.verdict}: {finding.verdict.meaning}", err=True
            )
    return explored(counterexample_of(protocol, finding, found_with=how), protocol)


def _allowed(protocol: Protocol, faults: tuple[str, ...]) -> set[str]:
    """Return the faults that may happen, by name. Raises ``UsageError``."""
    known = [action.name for action in trace(protocol).actions if action.fault]
    chosen = {name.replace("-", "_") for name in faults} - {"none"}
    if chosen and not known:
        message = f"{protocol.label()} has no fault; leave out --fault"
        raise UsageError(message)
    return {pick(name, known, "fault") for name in chosen}
