"""The command line: one group, whose commands are the files of ``commands/``."""

from __future__ import annotations

import sys
from typing import Any

import click

from onceproof.model.errors import OnceproofError
from onceproof.spark_checks.commands.check import check
from onceproof.spark_checks.commands.command import refuse_repeated
from onceproof.spark_checks.commands.doctor import doctor
from onceproof.spark_checks.commands.explore import explore
from onceproof.spark_checks.commands.export import export
from onceproof.spark_checks.commands.guarantees import guarantees
from onceproof.spark_checks.commands.interleavings import interleavings
from onceproof.spark_checks.commands.new import new
from onceproof.spark_checks.commands.protocols import protocols
from onceproof.spark_checks.commands.prove import prove
from onceproof.spark_checks.commands.replay import replay


class _Group(click.Group):
    """Ends every mistake in one clear sentence and exit status 2."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; refuse what is given twice."""
        try:
            refuse_repeated(self, ctx, args)
        except OnceproofError as error:
            raise click.ClickException(str(error)) from error
        return super().parse_args(ctx, args)

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
        sys.exit(status if isinstance(status, int) else 2)


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


for command in (
    check,
    prove,
    interleavings,
    replay,
    explore,
    export,
    guarantees,
    protocols,
    new,
    doctor,
):
    main.add_command(command)


if __name__ == "__main__":
    main()
