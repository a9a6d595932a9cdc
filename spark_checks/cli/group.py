"""The command line: one group, whose commands are the files of ``commands/``.

A command is imported when it is used: what it needs is nothing to the others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

import click

from onceproof.model.errors import OnceproofError
from onceproof.spark_checks.cli.command import refuse_repeated
from onceproof.spark_checks.cli.ending import (
    NO_ANSWER,
    READER_GONE,
    NoAnswer,
    error_text,
    no_answer,
    sentence,
)
from onceproof.spark_checks.cli.output.streams import (
    StreamError,
    drop,
    drop_after,
    safe_streams,
)
from onceproof.spark_checks.session.interruption import (
    ReaderGoneError,
    Signals,
    StoppedError,
)

COMMANDS = (
    "check",
    "prove",
    "interleavings",
    "replay",
    "reconcile",
    "conform",
    "explore",
    "export",
    "guarantees",
    "matrix",
    "protocols",
    "new",
    "doctor",
)
"""The commands: each a file of ``commands/``, with a function of its name."""


class _Imported(MutableMapping[str, click.Command]):
    """The commands by name; each is imported when it is asked for."""

    def __init__(self) -> None:
        self._found: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._found:
            if name not in COMMANDS:
                raise KeyError(name)
            module = import_module(f"onceproof.spark_checks.cli.commands.{name}")
            self._found[name] = getattr(module, name)
        return self._found[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._found[name] = command

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS or name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*COMMANDS, *self._found)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Group(click.Group):
    """Ends every failure in one clear sentence and exit status 2."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; refuse what is given twice."""
        try:
            refuse_repeated(self, ctx, args)
        except OnceproofError as error:
            raise NoAnswer(str(error)) from error
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; report what it raises besides Ctrl-C and click's errors."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise StoppedError from None
        except (
            click.ClickException,
            click.exceptions.Exit,
            click.Abort,
            ReaderGoneError,
        ):
            raise
        except BaseException as error:
            raise no_answer(error) from error

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run as a program; click's own exit status 1 for errors becomes 2."""
        kwargs["standalone_mode"] = False
        signals, status = Signals(), 0
        try:
            with signals.heeded(), safe_streams():
                status = self._status(signals, *args, **kwargs)
        except ReaderGoneError:
            drop()
            status = READER_GONE
        except (StreamError, OSError) as error:
            drop_after("" if status else f"Error: {sentence(error_text(error))}")
            status = status or NO_ANSWER
        sys.exit(status)

    def _status(self, signals: Signals, *args: Any, **kwargs: Any) -> int:
        status = None
        try:
            status = super().main(*args, **kwargs)
        except click.ClickException as error:
            # An import that a signal interrupts may fail with an error of its own.
            if not signals.raised:
                click.UsageError(
                    sentence(error.format_message()), ctx=getattr(error, "ctx", None)
                ).show()
                return NO_ANSWER
        except (click.Abort, KeyboardInterrupt, StoppedError):
            signals.raised = True
        if signals.raised:
            # timeout sends its signal to the process and to its group: it comes twice.
            signals.ended = True
            click.echo("stopped", err=True)
            return signals.status
        return status if isinstance(status, int) else NO_ANSWER


@click.group(
    cls=_Group,
    commands=_Imported(),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="onceproof")
@click.option(
    "--color/--no-color",
    default=None,
    help="Colour the output; by default on a terminal. NO_COLOR, FORCE_COLOR too.",
)
@click.pass_context
def main(context: click.Context, *, color: bool | None) -> None:
    """Test whether each event takes effect once, whatever fails.

    The exit status is 0 if what you asked for holds, 1 if there is a counterexample, 2
    if the claim is undecided or the request cannot be served, 130, 143 or 129 if
    Ctrl-C, SIGTERM or SIGHUP stopped the command, and 141 if its output was closed.
    """
    context.color = color
