"""``onceproof doctor``: what this machine has, and what it lacks."""

from __future__ import annotations

import click

from onceproof.spark_checks import console
from onceproof.spark_checks.commands.options import as_json_option, print_json


@click.command()
@as_json_option
def doctor(*, as_json: bool) -> int:
    """Say what this machine has, what is missing, and how to mend it."""
    from onceproof.spark_checks.doctor import examine  # noqa: PLC0415

    findings = examine()
    if as_json:
        print_json([f.to_json() for f in findings])
    else:
        console.show_doctor(findings)
    return 2 if any(f.needed and f.problem for f in findings) else 0
