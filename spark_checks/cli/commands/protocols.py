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
from onceproof.model.library import find, parts, pick, slots_of_part, variants
from onceproof.model.library import protocols as every_protocol
from onceproof.model.protocols import __name__ as protocols_at
from onceproof.properties.judges.by_search import claims_of
from onceproof.spark_checks.cli.command import Command
from onceproof.spark_checks.cli.options import as_json_option, print_json
from onceproof.spark_checks.cli.output import console

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

    from onceproof.model.language.composition.part import Part
    from onceproof.model.language.composition.protocol import Protocol


@click.command(cls=Command)
@click.argument("protocol", metavar="[NAME]", required=False)
@as_json_option
def protocols(protocol: str | None, *, as_json: bool) -> int:
    """List the protocols of the library, or describe the protocol or part NAME.

    NAME may be a file, as FILE.py or FILE.py:NAME. A variant is a protocol with
    another part in one of its slots. A property that is not listed as broken holds.

    Example: onceproof protocols barrier-snapshot
    """
    if protocol is not None and not protocol.partition(":")[0].endswith(".py"):
        of_parts = slots_of_part()
        known = every_protocol()
        listed = "`onceproof protocols` lists the protocols"
        pick(protocol, [*known, *of_parts], "protocol or part", otherwise=listed)
        if protocol not in known:
            _describe_part(protocol, of_parts[protocol], as_json=as_json)
            return 0
    if protocol is not None:
        chosen, *modules = find(protocol)
        described = [_description(chosen(), *modules)]
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


def _in_words(kind: type[Part]) -> tuple[str, str, str]:
    """Return what a class is, its source, and the rest of its docstring."""
    first, _, rest = (inspect.getdoc(kind) or "").partition("\n")
    summary, _, source = first.removesuffix(".").partition(". ")
    return summary, source, " ".join(rest.split())


def _description(protocol: Protocol, *modules: ModuleType) -> dict[str, Any]:
    """Return what is known of a protocol as plain data."""
    kind = type(protocol)
    summary, source, text = _in_words(kind)
    declared = kind.parameters()
    slots = {n: s for n, s in declared.items() if isinstance(s, Slot)}
    return {
        "name": kind.label(),
        "summary": summary,
        "citation": source,
        "text": text,
        "parameters": {
            n: {
                "default": protocol.own_size(what)
                if isinstance(what, Sort)
                else protocol.argument(what),
                "text": what.text,
            }
            for n, what in declared.items()
            if isinstance(what, Sort | Param)
        }
        | dict(_numbers_inside(protocol, "")),
        "parts": {
            n: {
                "default": protocol.parts[n].label(),
                "choices": list(choices),
                "text": {c: _in_words(kind)[0] for c, kind in choices.items()},
            }
            for n, slot in slots.items()
            for choices in [parts(slot, *modules)]
        },
        "actions": _steps(protocol, faults=False),
        "faults": _steps(protocol, faults=True),
        "properties": {p.name: p.text for p in claims_of(protocol)},
        "breaks": _broken(protocol),
        "variants": [],
    }


def _numbers_inside(part: Part, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the numbers that the parts inside one take, by the path to each."""
    for place, what in type(part).parameters().items():
        if isinstance(what, Slot):
            inner = part.parts[place]
            for name, number in type(inner).parameters().items():
                if isinstance(number, Param):
                    number_words = {
                        "default": inner.argument(number),
                        "text": number.text,
                    }
                    yield f"{path}{place}.{name}", number_words
            yield from _numbers_inside(inner, f"{path}{place}.")


def _describe_part(
    name: str, taken: Sequence[tuple[str, str, type[Part]]], *, as_json: bool
) -> None:
    """Say what a part is, what it breaks, and which slots take it."""
    kinds = {kind: None for _, _, kind in taken}
    slots: list[dict[str, str]] = [
        {"protocol": protocol, "slot": slot} for protocol, slot, _ in taken
    ]
    described = []
    for kind in kinds:
        summary, source, text = _in_words(kind)
        described.append(
            {
                "name": name,
                "summary": summary,
                "citation": source,
                "text": text,
                "breaks": sorted(kind.breaks),
                "breaks_in": {n: sorted(b) for n, b in kind.breaks_in.items()},
                "parameters": {
                    n: {"default": kind().argument(what), "text": what.text}
                    for n, what in kind.parameters().items()
                    if isinstance(what, Param)
                },
                "methods": _methods(kind),
                "slots": [
                    where
                    for where, (_, _, of) in zip(slots, taken, strict=True)
                    if of is kind
                ],
            }
        )
    if as_json:
        print_json(described[0] if len(described) == 1 else described)
        return
    for one in described:
        _show_part(one)


def _methods(kind: type[Part]) -> dict[str, str]:
    """List what a protocol asks of a part, and what the part does by itself.

    Another part in its place redefines some of that.
    """
    own = [one for one in kind.__mro__ if one.__module__.startswith(protocols_at)]
    names = {
        name: None
        for one in reversed(own)
        for name, what in vars(one).items()
        if inspect.isfunction(what) and not name.startswith("_")
    }
    return {
        name: (inspect.getdoc(getattr(kind, name)) or "").split("\n")[0]
        for name in names
    }


def _show_part(one: Mapping[str, Any]) -> None:
    out = console.stdout()
    out.print(f"[bold]{one['name']}[/bold]: {escape(one['summary'])}.")
    source = f"{one['citation']}. " if one["citation"] else ""
    if more := f"{source}{one['text']}".strip():
        out.print(escape(more))
    broken = ", ".join(one["breaks"])
    out.print(f"It breaks {broken}." if broken else "It breaks nothing by itself.")
    for other, names in one["breaks_in"].items():
        also = "also " if broken else ""
        out.print(f"In {other}, or beside it, it {also}breaks {', '.join(names)}.")
    if one["parameters"]:
        slot = one["slots"][0]["slot"]
        out.print(f"\n[bold]Parameters[/bold] (--set {slot}.NAME=VALUE)")
        _show_numbers(one["parameters"])
    out.print("\n[bold]Methods[/bold]")
    for name, text in one["methods"].items():
        out.print(f"  {name}: {escape(text)}")
    out.print("\n[bold]Protocols that take it[/bold]")
    for where in one["slots"]:
        out.print(f"  {where['protocol']} --set {where['slot']}={one['name']}")


def _show_numbers(numbers: Mapping[str, Mapping[str, Any]]) -> None:
    for name, what in numbers.items():
        text = f"  {name} = {what['default']}  {escape(what['text'])}"
        console.stdout().print(text)


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
            " ".join(
                f"{n}={p['default']}"
                for n, p in one["parameters"].items()
                if "." not in n
            ),
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
    _show_numbers(one["parameters"])
    for name, what in one["parts"].items():
        if len(what["choices"]) > 1:
            out.print(f"  {name} = {what['default']}  or another part:")
            for choice, text in what["text"].items():
                out.print(f"    {choice}: {escape(text)}")
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
