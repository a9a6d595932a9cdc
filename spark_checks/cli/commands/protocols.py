"""``onceproof protocols``: what the library holds."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape
from rich.table import Column, Table

from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.fields import Param
from onceproof.model.language.sorts import Sort
from onceproof.model.language.steps import steps_of
from onceproof.model.library import find, parts, variants
from onceproof.properties.judges.by_search import claims_of
from onceproof.spark_checks.cli.command import Command
from onceproof.spark_checks.cli.options import as_json_option, print_json
from onceproof.spark_checks.cli.output import console

if TYPE_CHECKING:
    from onceproof.model.language.composition.protocol import Protocol


@click.command(cls=Command)
@click.argument("protocol", required=False)
@as_json_option
def protocols(protocol: str | None, *, as_json: bool) -> int:
    """List the protocols of the library, or describe PROTOCOL.

    PROTOCOL may be a file, as FILE.py or FILE.py:NAME. A variant is a protocol with
    another part in one of its slots. A property that is not listed as broken holds.

    Example: onceproof protocols barrier-snapshot
    """
    if protocol is not None:
        chosen, *_ = find(protocol)
        described = [_description(chosen())]
    else:
        described = [_description(v.protocol) for v in variants() if not v.settings]
    by_name = {d["name"]: d for d in described}
    for variant in variants():
        if variant.name in by_name:
            by_name[variant.name]["variants"].append(
                {"set": dict(variant.settings), "breaks": _broken(variant.protocol)}
            )
    if as_json:
        print_json(described[0] if protocol else described)
    elif protocol is not None:
        _show_one(described[0])
    else:
        _show_all(described)
    return 0


def _description(protocol: Protocol) -> dict[str, Any]:
    """Return what is known of a protocol as plain data."""
    kind = type(protocol)
    first, _, rest = (inspect.getdoc(kind) or "").partition("\n")
    summary, _, source = first.removesuffix(".").partition(". ")
    declared = kind.parameters()
    slots = {n: s for n, s in declared.items() if isinstance(s, Slot)}
    return {
        "name": kind.label(),
        "summary": summary,
        "citation": source,
        "text": " ".join(rest.split()),
        "parameters": {
            n: {
                "default": protocol.own_size(what)
                if isinstance(what, Sort)
                else protocol.argument(what),
                "text": what.text,
            }
            for n, what in declared.items()
            if isinstance(what, Sort | Param)
        },
        "parts": {
            n: {
                "default": protocol.parts[n].label(),
                "choices": list(parts(slot)),
            }
            for n, slot in slots.items()
        },
        "actions": _steps(protocol, faults=False),
        "faults": _steps(protocol, faults=True),
        "properties": {p.name: p.text for p in claims_of(protocol)},
        "breaks": _broken(protocol),
        "variants": [],
    }


def _broken(protocol: Protocol) -> list[str]:
    return sorted(protocol.stated_breaks)


def _steps(protocol: Protocol, *, faults: bool) -> dict[str, str]:
    """List actions and faults, each with the first line of its docstring."""
    return {
        step.name: step.doc.split("\n")[0]
        for step in steps_of(protocol)
        if step.fault == faults
    }


def _show_all(described: list[dict[str, Any]]) -> None:
    table = Table(Column("protocol", no_wrap=True), "what it is", "source", "sizes")
    table.add_column("breaks")
    for one in described:
        table.add_row(
            f"[bold]{one['name']}[/bold]",
            escape(one["summary"]),
            escape(one["citation"]),
            " ".join(f"{n}={p['default']}" for n, p in one["parameters"].items()),
            "\n".join(one["breaks"]),
        )
    console.stdout().print(table)
    click.echo("help: onceproof protocols NAME describes one; onceproof new starts one")


def _show_one(one: dict[str, Any]) -> None:
    out = console.stdout()
    out.print(f"[bold]{one['name']}[/bold]: {escape(one['summary'])}.")
    source = f"{one['citation']}. " if one["citation"] else ""
    if more := f"{source}{one['text']}".strip():
        out.print(escape(more))
    out.print("\n[bold]Parameters[/bold] (--set NAME=VALUE)")
    for name, what in one["parameters"].items():
        out.print(f"  {name} = {what['default']}  {escape(what['text'])}")
    for name, what in one["parts"].items():
        if len(what["choices"]) > 1:
            out.print(f"  {name} = {what['default']}  of {', '.join(what['choices'])}")
    for title in ("actions", "faults", "properties"):
        if not one[title]:
            continue
        out.print(f"\n[bold]{title.capitalize()}[/bold]")
        for name, text in one[title].items():
            out.print(f"  {name}: {escape(text)}")
    if one["variants"]:
        out.print("\n[bold]Variants[/bold]")
    for variant in one["variants"]:
        chosen = " ".join(f"--set {k}={v}" for k, v in variant["set"].items())
        broken = ", ".join(variant["breaks"])
        out.print(
            f"  {chosen or 'as it is'}: {'breaks ' + broken if broken else 'holds'}"
        )
