"""The command line: check, prove, interleavings, replay, doctor."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onceproof.model.errors import OnceproofError, UsageError
from onceproof.model.explore.search import Limits
from onceproof.model.library import make, pick
from onceproof.properties.counterexample import writable
from onceproof.properties.verdicts import exit_status
from onceproof.spark_checks import console
from onceproof.spark_checks.commands.explore import explore
from onceproof.spark_checks.commands.export import export
from onceproof.spark_checks.commands.guarantees import guarantees
from onceproof.spark_checks.commands.leaving import (
    evidence,
    leave,
    leave_replays,
    refuse,
)
from onceproof.spark_checks.commands.new import new
from onceproof.spark_checks.commands.protocols import protocols
from onceproof.spark_checks.commands.refuted import write_refuted
from onceproof.spark_checks.sizes import (
    A_DAY,
    A_YEAR,
    DEFAULT,
    MOST,
    MOST_FAULTS,
    Sizes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.language.protocol import Protocol
    from onceproof.properties.property import Property

_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


class _Group(click.Group):
    """Ends every mistake in one clear sentence and exit status 2."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except OnceproofError as error:
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
            ctx.exit(130)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run as a program; click's own exit status 1 for errors becomes 2."""
        kwargs["standalone_mode"] = False
        try:
            status = super().main(*args, **kwargs)
        except click.ClickException as error:
            error.show()
            sys.exit(2)
        except (click.Abort, KeyboardInterrupt):
            click.echo("stopped", err=True)
            sys.exit(130)
        sys.exit(status if isinstance(status, int) else 0)


_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
_set = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a size, a number or a part of the protocol, such as RM=5 or sink=upsert.",
)
_property = click.option(
    "--property", "names", multiple=True, help="Judge only this property (repeatable)."
)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="onceproof")
@click.option(
    "--color/--no-color",
    default=None,
    help="Colour the output; by default on a terminal. NO_COLOR, FORCE_COLOR too.",
)
@click.pass_context
def main(context: click.Context, *, color: bool | None) -> None:
    """Show whether each event takes effect once, whatever fails.

    Exit status: 0 what was asked for holds; 1 there is a counterexample; 2 it is
    undecided, or the request cannot be served.
    """
    context.color = color


@main.command()
@click.argument("protocol", required=False)
@_set
@_property
@click.option(
    "--all", "everything", is_flag=True, help="Judge the library, variants included."
)
@click.option("--max-states", type=click.IntRange(1), help="Give up beyond so many.")
@click.option("--max-memory", help="Give up beyond so many bytes, such as 500M or 2G.")
@click.option(
    "--symmetry", is_flag=True, help="Count states that differ in names alone once."
)
@click.option(
    "--simulate",
    "walks",
    type=click.IntRange(1),
    help="Do not search, but walk at random so many times: for large models.",
)
@click.option("--depth", default=100, show_default=True, type=click.IntRange(1, 10**5))
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0))
@click.option("--mermaid", is_flag=True, help="Print the state graph as a picture.")
@click.option("--markdown", is_flag=True, help="With --all: print a page of tables.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a counterexample file here for each property that is refuted.",
)
@evidence
@_json
def check(
    protocol: str | None,
    settings: tuple[str, ...],
    names: tuple[str, ...],
    max_states: int | None,
    max_memory: str | None,
    walks: int | None,
    depth: int,
    seed: int,
    output: Path | None,
    evidence: str | None,
    *,
    everything: bool,
    symmetry: bool,
    mermaid: bool,
    markdown: bool,
    as_json: bool,
) -> int:
    """Search every reachable state of PROTOCOL and judge its properties.

    PROTOCOL is a name (see onceproof protocols) or a file, as FILE.py or FILE.py:NAME.
    With --all every protocol and variant of the library is judged at its standard
    size; the exit status is 0 when each breaks just what its file states.

    With --simulate the verdict of what was not refuted is "held", never more; --depth
    and --seed are of the walks.

    Example: onceproof check two-phase-commit --set RM=5
    """
    from onceproof.properties import check as judge  # noqa: PLC0415

    if everything and output:
        message = "--output is of one protocol; leave out --all"
        raise UsageError(message)
    if everything:
        from onceproof.spark_checks.commands.standings import check_all  # noqa: PLC0415

        return check_all(as_json=as_json, markdown=markdown, evidence=evidence)
    if protocol is None:
        message = "name a protocol, a file of one, or --all; see onceproof protocols"
        raise UsageError(message)
    model = make(protocol, _settings(settings))
    if output is not None:
        writable(output)
    if mermaid:
        from onceproof.model.language.trace import trace  # noqa: PLC0415
        from onceproof.model.picture import mermaid as draw  # noqa: PLC0415

        click.echo(draw(trace(model)))
        return 0
    chosen = _chosen(model, names)
    limits = Limits(max_states, None if max_memory is None else _bytes(max_memory))
    with console.search_progress() as progress:
        if walks is None:
            report = judge.check(
                model, chosen, limits=limits, symmetry=symmetry, progress=progress
            )
        else:
            report = judge.simulate(
                model, chosen, walks=walks, depth=depth, seed=seed, progress=progress
            )
    files = {} if output is None else write_refuted(report, protocol, output)
    leave(evidence, [report], protocol=protocol, how={"symmetry": symmetry})
    if as_json:
        _print_json({**console.check_data(report), "files": files})
    else:
        console.show_check(report)
        console.show_files(files)
    if not report.findings:
        click.echo(
            f"{model.label()} claims nothing: observe `visible` and `accepted`, or add "
            "@always, @sometimes and their kin; see docs/modelling.md",
            err=True,
        )
    return exit_status(report.verdicts.values())


@main.command()
@click.argument("protocol")
@_set
@_property
@click.option("--depth", default=10, show_default=True, type=click.IntRange(1, 200))
@click.option("--timeout", default=60, show_default=True, help="Seconds a query.")
@evidence
@_json
def prove(
    protocol: str,
    settings: tuple[str, ...],
    names: tuple[str, ...],
    depth: int,
    timeout: int,
    evidence: str | None,
    *,
    as_json: bool,
) -> int:
    """Judge the properties of PROTOCOL by z3: for every size, or to a depth.

    Example: onceproof prove two-phase-commit
    """
    from onceproof.properties.prove import prove as judge  # noqa: PLC0415

    model = make(protocol, _settings(settings))
    report = judge(model, _chosen(model, names), depth=depth, timeout_seconds=timeout)
    leave(evidence, [report], protocol=protocol, how={"depth": depth})
    if as_json:
        _print_json(console.prove_data(report))
    else:
        console.show_prove(report)
    return exit_status(report.verdicts.values())


@main.command()
@click.argument("protocol")
@_set
@click.option("--faults", default=1, show_default=True, type=click.IntRange(0, 4))
@_json
def interleavings(
    protocol: str, settings: tuple[str, ...], faults: int, *, as_json: bool
) -> int:
    """List the failure interleavings of PROTOCOL, one of each equivalence class.

    Example: onceproof interleavings micro-batch --set sink=append --faults 1
    """
    from onceproof.model.interleavings import interleavings as enumerate_  # noqa: PLC0415

    model = make(protocol, {**_settings(settings), "faults": str(faults)})
    found = enumerate_(model)
    if as_json:
        _print_json(console.interleavings_data(found))
    else:
        console.show_interleavings(found)
    return 0


@main.command()
@click.argument("sinks", nargs=-1, metavar="[SINK|FILE]...")
@click.option(
    "--faults", default=1, show_default=True, type=click.IntRange(1, MOST_FAULTS)
)
@click.option(
    "--batches",
    default=DEFAULT.batches,
    show_default=True,
    type=click.IntRange(1, MOST["BATCH"]),
    help="Micro-batches that the events come in, two partitions each.",
)
@click.option(
    "--events",
    default=DEFAULT.events,
    show_default=True,
    type=click.IntRange(8),
    help=f"Real flights; {A_DAY} are one day, {A_YEAR} a year.",
)
@click.option(
    "--only", multiple=True, type=int, help="Only interleaving N (repeatable)."
)
@click.option("--keep", is_flag=True, help="Keep the scratch folder.")
@click.option(
    "--output",
    default=".onceproof",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Where counterexamples are written.",
)
@evidence
@_json
def replay(
    sinks: tuple[str, ...],
    faults: int,
    batches: int,
    events: int,
    only: tuple[int, ...],
    output: Path,
    evidence: str | None,
    *,
    keep: bool,
    as_json: bool,
) -> int:
    """Run real PySpark sinks through every failure interleaving, and judge them.

    SINK is a reference sink (all, if none is named); FILE is a counterexample file,
    which is replayed and answered with FAILED, FIXED or ERROR. The exit status is 0
    when each sink is judged as its own file states and nothing drifts. With --only or
    --faults it is 0 when nothing is refuted that the file does not state, and 2 when
    something could not be steered.
    """
    from onceproof.spark_checks import artifacts, replay_console  # noqa: PLC0415
    from onceproof.spark_checks import replay as engine  # noqa: PLC0415
    from onceproof.spark_checks.choice import Choice  # noqa: PLC0415

    refuse(evidence, named=sinks, only=bool(only))
    if len(sinks) == 1 and (sinks[0].endswith(".json") or Path(sinks[0]).is_file()):
        answer = artifacts.replay_file(Path(sinks[0]), keep=keep)
        if as_json:
            _print_json(answer.to_json())
        else:
            click.echo(str(answer))
        return answer.status()
    from onceproof.spark_checks.sinks import reference_sinks  # noqa: PLC0415

    known = reference_sinks()
    writable(output)
    chosen = [known[pick(name, known, "sink")] for name in sinks or known]
    with replay_console.replay_view() as view:
        reports = engine.replay(
            chosen,
            view,
            engine.Plan(
                faults=faults,
                sizes=Sizes(batches=batches, events=events),
                choice=Choice(only=frozenset(only) if only else None),
                keep=keep,
            ),
        )
    files = {r.sink.name: artifacts.write_counterexamples(r, output) for r in reports}
    leave_replays(evidence, reports)
    if as_json:
        _print_json(replay_console.replay_data(reports, files))
    else:
        replay_console.show_replay(reports, files)
    return engine.status(reports, whole=not only and faults == 1)


@main.command()
@_json
def doctor(*, as_json: bool) -> int:
    """Say what this machine has, what is missing, and how to mend it."""
    from onceproof.spark_checks.doctor import examine  # noqa: PLC0415

    findings = examine()
    if as_json:
        _print_json([f.to_json() for f in findings])
    else:
        console.show_doctor(findings)
    return 2 if any(f.needed and f.problem for f in findings) else 0


main.add_command(protocols)
main.add_command(new)
main.add_command(export)
main.add_command(guarantees)
main.add_command(explore)


def _settings(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not (name and sign and value):
            message = f"--set takes NAME=VALUE, not {text!r}"
            raise UsageError(message)
        found[name] = value
    return found


def _chosen(model: Protocol, names: Sequence[str]) -> list[Property] | None:
    if not names:
        return None
    from onceproof.properties.check import claims_of  # noqa: PLC0415

    known = {p.name: p for p in claims_of(model)}
    return [known[pick(name, known, "property")] for name in names]


def _bytes(text: str) -> int:
    number, unit = (text[:-1], text[-1].upper()) if text[-1:].isalpha() else (text, "")
    if not number.isdigit() or (unit and unit not in _UNITS):
        message = f"--max-memory takes bytes, such as 500M or 2G, not {text!r}"
        raise UsageError(message)
    return int(number) * _UNITS.get(unit, 1)


def _print_json(data: object) -> None:
    click.echo(json.dumps(data, indent=2))


if __name__ == "__main__":
    main()
