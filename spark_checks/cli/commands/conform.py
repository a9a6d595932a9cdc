"""``onceproof conform``: whether a trace is a behaviour of a protocol."""

from __future__ import annotations

from pathlib import Path

import click

from onceproof.model.conformance.check import MOST_STATES, Conformer
from onceproof.model.conformance.trace_file import observed, read_trace_file
from onceproof.model.errors import UsageError
from onceproof.model.library import make, settings_of
from onceproof.spark_checks.cli.command import Command
from onceproof.spark_checks.cli.options import as_json_option, print_json, set_option
from onceproof.spark_checks.report.conformance_text import (
    conclusion,
    conformance_data,
    side_by_side,
    why,
)

_CONFORMS, _DIFFERS, _UNKNOWN = 0, 1, 2


@click.command(cls=Command)
@click.argument("trace", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--protocol",
    help="The protocol: a name, or a file as FILE.py or FILE.py:NAME. By default the "
    "one that the trace names.",
)
@set_option
@click.option(
    "--silent",
    multiple=True,
    metavar="STEP",
    help="A step of the protocol that leaves no event, or a pattern such as 'sink.*' "
    "(repeatable). Every other step leaves one.",
)
@click.option(
    "--max-states",
    default=MOST_STATES,
    show_default=True,
    type=click.IntRange(1, 2**62),
    help="Stop after this many states, undecided.",
)
@as_json_option
def conform(
    trace: Path,
    protocol: str | None,
    settings: tuple[str, ...],
    silent: tuple[str, ...],
    max_states: int,
    *,
    as_json: bool,
) -> int:
    """Decide whether TRACE, the events of a real system, is a behaviour of a protocol.

    TRACE is a file of JSON Lines: one event a line, with the step of the protocol that
    it is, for which members, and what the state is afterwards. docs/how-to/conform.md
    has a complete example.

    Every behaviour of the protocol is followed along the trace. If none explains it,
    the answer is the first event that none explains, and the part of a step's guard
    that fails there. The exit status is 0 if the trace conforms, 1 if it does not, and
    2 if that is undecided.

    Example: onceproof conform run.jsonl --protocol two-phase-commit --set RM=3
    """
    file = read_trace_file(trace)
    name = protocol or file.protocol
    if not name:
        message = f"{trace} names no protocol; help: --protocol NAME"
        raise UsageError(message)
    if not protocol and (".py" in name or ":" in name):
        message = (
            f"{trace} names a file of code, {name!r}, which is not run because a trace "
            "says so; help: --protocol FILE.py"
        )
        raise UsageError(message)
    model = make(name, {**file.settings, **settings_of(settings)})
    seen = observed(file, model, silent)
    found = Conformer(model, most_states=max_states).check(seen)
    if as_json:
        data = conformance_data(found, seen, model)
        print_json({"trace": str(trace), "protocol": model.label(), **data})
    else:
        click.echo(f"{trace}: {conclusion(found, seen, model)}")
        if found.divergence is not None:
            click.echo()
            for line in (*side_by_side(found, seen, model), ""):
                click.echo(f"  {line}".rstrip())
            for line in why(found.divergence, model):
                click.echo(line)
    if found.conforms is None:
        return _UNKNOWN
    return _CONFORMS if found.conforms else _DIFFERS
