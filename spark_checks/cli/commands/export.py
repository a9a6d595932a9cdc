"""``onceproof export``: a protocol in a form that other tools read."""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onceproof.model.errors import UsageError
from onceproof.model.export.formats import FORMATS
from onceproof.model.export.tla import module
from onceproof.model.files import writable, write_whole
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make, settings_of
from onceproof.model.text import shell_word
from onceproof.properties.judges.by_search import claims_of, parameters_of
from onceproof.properties.words.labels import Labels
from onceproof.spark_checks.cli.command import Command, Use
from onceproof.spark_checks.cli.options import (
    as_json_option,
    print_json,
    set_option,
    trust_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.model.export.tla import ClaimName, Module
    from onceproof.model.language.composition.protocol import Protocol


@dataclass(frozen=True)
class Configuration:
    """A configuration file: what TLC is to check, and whether it should find a run.

    ``found`` says what TLC answers: "holds", "violated", or "witnessed", which is a
    violation of a negation.
    """

    name: str
    """The name of the file."""
    claims: tuple[ClaimName, ...]
    """The claims that it lets TLC check."""
    expected: str
    """What TLC should answer, by the search."""


def exported(protocol: Protocol) -> tuple[Module, list[Configuration]]:
    """Write a protocol as a TLA+ module, with configurations to check it."""
    system = trace(protocol)
    questions = [q for claim in claims_of(protocol) for q in claim.questions(system)]
    sizes = ", ".join(f"{n} = {v}" for n, v in parameters_of(protocol).items())
    about = f"{inspect.getdoc(type(protocol)) or protocol.label()}\nWith {sizes}."
    made = module(system, questions, text=about)
    broken = [c for c in made.claims if _owner(c) in protocol.stated_breaks]
    held = [c for c in made.claims if c not in broken and not c.witness]
    found = [Configuration(made.name, tuple(held), "holds")]
    for claim in made.claims:
        if claim.witness:
            met = "holds" if claim in broken else "witnessed"
            found.append(Configuration(f"{made.name}_{claim.name}", (claim,), met))
    for owner in dict.fromkeys(_owner(c) for c in broken if not c.witness):
        claims = tuple(c for c in broken if _owner(c) == owner)
        name = f"{made.name}_{claims[0].name.rstrip('0123456789')}"
        found.append(Configuration(name, claims, "violated"))
    return made, found


def _owner(claim: ClaimName) -> str:
    """Return the name of the property that a claim is a clause of."""
    return claim.question.name.rpartition("#")[0]


_WRITTEN = ("protocol", "form", "output", "as_json")
_USES = (
    Use(
        "with --to pytest",
        (*_WRITTEN, "trust"),
        when=lambda given: given["form"] == "pytest",
    ),
    Use(
        "with --to tla, javascript or mermaid",
        (*_WRITTEN, "settings"),
    ),
)


@click.command(cls=Command, uses=_USES)
@click.argument("protocol", metavar="PROTOCOL|FILE")
@click.option(
    "--to",
    "form",
    type=click.Choice([*sorted(FORMATS, reverse=True), "pytest"]),
    required=True,
    help="The format to write.",
)
@set_option
@click.option(
    "--output",
    default=".",
    metavar="PATH",
    help="The folder to write to, or the file: a path with an ending, such as x.mmd. "
    "Default: the current folder.",
)
@trust_option
@as_json_option
def export(
    protocol: str,
    form: str,
    settings: tuple[str, ...],
    output: str,
    *,
    trust: bool,
    as_json: bool,
) -> int:
    """Write PROTOCOL in a form that other tools read, or a FILE as a pytest test.

    --to javascript writes one expression, which steps the model in a page; --to mermaid
    draws its first states.

    --to pytest writes a test that holds the counterexample as data, and passes when the
    failure is gone. Run the test from the project's folder: it runs the code that FILE
    names, which must lie below that folder.

    \b
    Example: onceproof export .onceproof/FILE.json --to pytest --output tests

    --to tla writes a module, and configurations for TLC. NAME.cfg checks everything
    that should hold. Each property that the protocol states to break, and each witness,
    has a configuration of its own; TLC refutes the negation of a witness.

    \b
    Example: onceproof export two-phase-commit --set RM=3 --to tla
             java -cp tla2tools.jar tlc2.TLC -deadlock TwoPhaseCommit

    TLC then reports the same number of distinct states as onceproof check. Its depth is
    greater by one: it counts the states of a run, and onceproof counts the steps. With
    -deadlock TLC accepts runs that end. -config NAME.cfg chooses another configuration.
    """  # noqa: D301 - click takes the backspace itself for "leave the lines be"
    if form == "pytest":
        return _as_test(Path(protocol), output, trust=trust, as_json=as_json)
    made_of = make(protocol, settings_of(settings))
    if form != "tla":
        return _as_text(made_of, form, output, as_json=as_json)
    made, configurations = exported(made_of)
    files = {f"{made.name}.tla": made.text} | {
        f"{c.name}.cfg": made.configuration(c.claims) for c in configurations
    }
    folder = _folder(output, list(files))
    writable(folder)
    for name, text in files.items():
        write_whole(folder / name, text)
    data = _export_data(made, configurations, folder, form)
    if as_json:
        print_json(data)
        return 0
    click.echo(f"wrote {folder / made.name}.tla")
    for one in configurations:
        names = ", ".join(c.name for c in one.claims) or "nothing but the states"
        click.echo(f"wrote {folder / one.name}.cfg: {names} ({one.expected})")
    for question in made.left_out:
        click.echo(f"left out: {question.name}, which no formula of runs says")
    return 0


def _names_file(output: str) -> bool:
    """Return whether an output is a file: it has an ending, and is no folder."""
    path = Path(output)
    return bool(path.suffix) and not (output.endswith(os.sep) or path.is_dir())


def _file(output: str, name: str) -> Path:
    """Return the file to write: the output itself, or ``name`` in that folder."""
    if not _names_file(output) and Path(output).is_file():
        message = f"{output!r} is a file; help: name a folder, or a file with an ending"
        raise UsageError(message)
    path = Path(output) if _names_file(output) else Path(output, name)
    writable(path.parent)
    return path


def _folder(output: str, names: Sequence[str]) -> Path:
    """Return the folder for several files. Raises ``UsageError`` for a file."""
    if _names_file(output):
        message = (
            f"{output} is a file by its ending, and {len(names)} files are written: "
            f"{', '.join(names)}; help: name a folder, as in "
            f"--output {shell_word(str(Path(output).parent))}"
        )
        raise UsageError(message)
    return Path(output)


def _as_text(protocol: Protocol, form: str, output: str, *, as_json: bool) -> int:
    """Write a form that is one file."""
    system = trace(protocol)
    questions = [q for claim in claims_of(protocol) for q in claim.questions(system)]
    path = _file(output, f"{system.name}.{FORMATS[form].suffix}")
    names = Labels(Interpreter(protocol))
    write_whole(path, FORMATS[form].write(system, questions, names) + "\n")
    if as_json:
        print_json({"form": form, "file": str(path)})
    else:
        click.echo(f"wrote {path}")
    return 0


def _as_test(file: Path, output: str, *, trust: bool, as_json: bool) -> int:
    from onceproof.spark_checks.report.regression import regression  # noqa: PLC0415

    name, text = regression(file, trust=trust)
    path = _file(output, name)
    write_whole(path, text)
    data = {"form": "pytest", "file": str(path)}
    if as_json:
        print_json(data)
    else:
        click.echo(f"wrote {path}")
    return 0


def _export_data(
    made: Module, configurations: list[Configuration], output: Path, form: str
) -> dict[str, Any]:
    return {
        "form": form,
        "module": str(output / f"{made.name}.tla"),
        "configurations": [
            {
                "file": str(output / f"{c.name}.cfg"),
                "claims": [claim.name for claim in c.claims],
                "expected": c.expected,
            }
            for c in configurations
        ],
        "left_out": [q.name for q in made.left_out],
    }
