"""``onceproof interleavings``: the failure interleavings, one of each class."""

from __future__ import annotations

import click

from onceproof.model.errors import UsageError
from onceproof.model.library import make, settings_of
from onceproof.spark_checks.cli.command import Command
from onceproof.spark_checks.cli.options import as_json_option, print_json, set_option
from onceproof.spark_checks.cli.output import console
from onceproof.spark_checks.cli.output.progress import progress


@click.command(cls=Command)
@click.argument("protocol")
@set_option
@click.option(
    "--faults",
    default=1,
    show_default=True,
    type=click.IntRange(0, 4),
    help="The most faults in one interleaving.",
)
@as_json_option
def interleavings(
    protocol: str, settings: tuple[str, ...], faults: int, *, as_json: bool
) -> int:
    """List the failure interleavings of PROTOCOL, one of each equivalence class.

    Example: onceproof interleavings micro-batch --set sink=append --faults 1
    """
    from onceproof.model.interleavings.enumeration import interleavings as enumerate_  # noqa: PLC0415

    chosen = settings_of(settings)
    if "faults" in chosen:
        message = "--set faults is --faults here; leave out --set faults"
        raise UsageError(message)
    model = make(protocol, {**chosen, "faults": str(faults)})
    with progress("following the runs") as say:
        found = enumerate_(model, say)
    if as_json:
        print_json(console.interleavings_data(found))
    else:
        console.show_interleavings(found)
    return 0
