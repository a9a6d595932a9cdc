"""``onceproof interleavings``: what can go wrong, one of each kind."""

from __future__ import annotations

import click

from onceproof.model.library import make
from onceproof.spark_checks import console
from onceproof.spark_checks.commands.options import (
    as_json_option,
    print_json,
    set_option,
    settings_of,
)


@click.command()
@click.argument("protocol")
@set_option
@click.option("--faults", default=1, show_default=True, type=click.IntRange(0, 4))
@as_json_option
def interleavings(
    protocol: str, settings: tuple[str, ...], faults: int, *, as_json: bool
) -> int:
    """List the failure interleavings of PROTOCOL, one of each equivalence class.

    Example: onceproof interleavings micro-batch --set sink=append --faults 1
    """
    from onceproof.model.interleavings import interleavings as enumerate_  # noqa: PLC0415

    model = make(protocol, {**settings_of(settings), "faults": str(faults)})
    found = enumerate_(model)
    if as_json:
        print_json(console.interleavings_data(found))
    else:
        console.show_interleavings(found)
    return 0
