"""``onceproof prove``: the properties of a protocol, judged by z3."""

from __future__ import annotations

from pathlib import Path

import click

from onceproof.model.files import writable
from onceproof.model.library import make, settings_of
from onceproof.spark_checks.cli.command import Command
from onceproof.spark_checks.cli.evidence_option import evidence, leave
from onceproof.spark_checks.cli.options import (
    as_json_option,
    print_json,
    properties_of,
    property_option,
    say_nothing_is_claimed,
    set_option,
)
from onceproof.spark_checks.cli.output import console
from onceproof.spark_checks.cli.refuted_files import write_refuted


@click.command(cls=Command)
@click.argument("protocol")
@set_option
@property_option
@click.option(
    "--depth",
    default=10,
    show_default=True,
    type=click.IntRange(1, 200),
    help="Where induction fails, check all runs of at most this many steps.",
)
@click.option(
    "--timeout",
    default=60,
    show_default=True,
    type=click.IntRange(1, 10**6),
    help="Seconds for each query of z3.",
)
@click.option(
    "--induction-depth",
    default=1,
    show_default=True,
    type=click.IntRange(1, 20),
    help="Try inductions over up to so many steps.",
)
@click.option(
    "--infer",
    is_flag=True,
    help="Infer the lemmas from the protocol's terms; leave its own lemmas aside.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for a counterexample file of each refuted property.",
)
@evidence
@as_json_option
def prove(
    protocol: str,
    settings: tuple[str, ...],
    names: tuple[str, ...],
    depth: int,
    timeout: int,
    induction_depth: int,
    output: Path | None,
    evidence: str | None,
    *,
    infer: bool,
    as_json: bool,
) -> int:
    """Judge the properties of PROTOCOL by z3: for every size, or to a depth.

    The exit status is 0 if all of them hold (`bounded`: to the depth), 1 if one is
    refuted, and 2 if one is undecided. That is `recoverable`, always: it needs all
    states, as `onceproof check` searches them. Name the others by --property where
    the status counts.

    Example: onceproof prove two-phase-commit
    """
    from onceproof.properties.judges.by_proof import prove as judge  # noqa: PLC0415

    model = make(protocol, settings_of(settings))
    if output is not None:
        writable(output)
    report = judge(
        model,
        properties_of(model, names),
        depth=depth,
        timeout_seconds=timeout,
        infer=infer,
        induction_depth=induction_depth,
    )
    how = {"judge": "prove", "depth": depth, "timeout": timeout}
    how |= {"infer": infer, "induction_depth": induction_depth}
    files = {} if output is None else write_refuted(report, protocol, output, how)
    longer = {"induction-depth": induction_depth} if induction_depth > 1 else {}
    asked = {"depth": depth, **longer, **({"infer": True} if infer else {})}
    leave(evidence, [report], protocol=protocol, how=asked)
    if as_json:
        found = {"inferred": report.inferred} if infer else {}
        print_json({**console.prove_data(report), **found, "files": files})
    else:
        console.show_prove(report)
        console.show_files(files)
    say_nothing_is_claimed(report)
    return report.exit_status
