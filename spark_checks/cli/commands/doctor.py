"""``onceproof doctor``: what this machine has, and what it lacks."""

from __future__ import annotations

import click

from onceproof.spark_checks.cli import class_archive_training
from onceproof.spark_checks.cli.command import Command
from onceproof.spark_checks.cli.options import as_json_option, print_json
from onceproof.spark_checks.cli.output import console


@click.command(cls=Command)
@click.option(
    "--class-archive",
    "archived",
    is_flag=True,
    help="Make Java's archive of Spark's classes, if there is none: sessions then "
    "start in about half the time. It takes about 40 s and 180 MB, in the virtual "
    "environment.",
)
@click.option(
    "--clean",
    is_flag=True,
    help="Remove the scratch folders of dead runs, and end the processes that they "
    "left running. Folders that --keep kept stay.",
)
@as_json_option
def doctor(*, archived: bool, clean: bool, as_json: bool) -> int:
    """Report what this machine has, what is missing, and how to fix it.

    It also lists the scratch folders of other runs: those of live runs, those that were
    kept, and those that dead runs left behind.

    Example: onceproof doctor --class-archive
    """
    from onceproof.spark_checks.cli.examination import examine  # noqa: PLC0415
    from onceproof.spark_checks.session.java import class_archive  # noqa: PLC0415
    from onceproof.spark_checks.session.java.jvm import java_version  # noqa: PLC0415
    from onceproof.spark_checks.session.scratch import sweep  # noqa: PLC0415

    if clean:
        removed = sweep()
        click.echo(f"scratch folders of dead runs removed: {len(removed)}", err=True)
    if archived and not class_archive.archive(java_version()).is_file():
        click.echo("making an archive of Spark's classes: about 40 s", err=True)
        class_archive_training.make(java_version())
    findings = examine()
    if as_json:
        print_json([f.to_json() for f in findings])
    else:
        console.show_doctor(findings)
    return 2 if any(f.needed and f.problem for f in findings) else 0
