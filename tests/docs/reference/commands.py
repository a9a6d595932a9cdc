"""The commands of the command line, with their help texts and options."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING

import click

from onceproof.spark_checks.cli import main
from tests.docs.reference.markdown import head, row

if TYPE_CHECKING:
    from collections.abc import Iterator

VERBATIM = "\b"


def commands() -> Iterator[str]:
    """Write a table of the commands, then a section for each."""
    settings = main.context_settings
    with click.Context(main, info_name="onceproof", **settings) as root:
        below = {name: _below(root, name) for name in main.list_commands(root)}
        yield from head("command", "what it does")
        for name, context in below.items():
            yield row(f"[`onceproof {name}`](#onceproof-{name})", _first(context))
        yield ""
        yield from _options(root)
        for name, context in below.items():
            yield from ("", f"## `onceproof {name}`", "")
            yield from _section(context)


def _below(root: click.Context, name: str) -> click.Context:
    command = main.get_command(root, name)
    if command is None:
        message = f"there is no command {name}"
        raise LookupError(message)
    settings = {**command.context_settings, "info_name": name}
    return click.Context(command, root, **settings)


def _section(context: click.Context) -> Iterator[str]:
    usage = " ".join(context.command.collect_usage_pieces(context))
    yield f"`{context.command_path} {usage}`"
    for paragraph in _paragraphs(context):
        yield from ("", paragraph)
    yield ""
    yield from _options(context)


def _options(context: click.Context) -> Iterator[str]:
    yield from head("option", "meaning")
    for param in context.command.get_params(context):
        record = param.get_help_record(context)
        if isinstance(param, click.Option) and record is not None:
            if not param.help:
                message = f"{context.command_path} {record[0]} has no help text"
                raise LookupError(message)
            yield row(f"`{record[0]}`", record[1])


def _first(context: click.Context) -> str:
    return " ".join(_text(context).split("\n\n")[0].split())


def _paragraphs(context: click.Context) -> Iterator[str]:
    for paragraph in _text(context).split("\n\n"):
        if paragraph.strip().startswith(VERBATIM):
            text = textwrap.dedent(paragraph.replace(VERBATIM, "").strip("\n"))
            yield "<!-- not run: printed by --help -->\n\n```text\n" + text + "\n```"
        elif paragraph.startswith("Example: "):
            yield f"Example: `{paragraph.removeprefix('Example: ').strip()}`"
        else:
            yield textwrap.fill(" ".join(paragraph.split()), 88)


def _text(context: click.Context) -> str:
    return inspect.cleandoc(context.command.help or "")
