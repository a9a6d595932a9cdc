"""What a claim is about: a subject as it is stated, named as its evidence names it.

What a project's own file does not hold any more is no error: the claim then stands
without evidence, and says why.
"""

from __future__ import annotations

import ast
import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from onceproof.model.errors import OnceproofError, UsageError
from onceproof.model.language.composition.slots import Slot
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import find, make, pick, protocols, settings_of
from onceproof.model.text import did_you_mean, shell_word
from onceproof.properties.evidence.sheet import PROTOCOLS, SINKS, STORES
from onceproof.properties.guarantees import GUARANTEES
from onceproof.spark_checks.report.evidence.source_files import (
    as_seen_from,
    known_sinks,
    near,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onceproof.properties.property import Property

_MORE = " --set faults="


@dataclass(frozen=True)
class Subject:
    """What a claim is about: its name in evidence, sizes, and what can be claimed.

    ``begins`` begins the command that makes evidence of it, ``more`` is its option for
    more than so many ``faults``, ``ends`` what follows. ``own`` is a protocol in a file
    of the project; ``missing`` says why a subject is not found there.
    """

    name: str
    """The name that its evidence has."""
    begins: str
    more: str
    ends: str = " --evidence"
    properties: tuple[Property, ...] = tuple(GUARANTEES)
    """The properties that can be claimed of it."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Its standard sizes, by name."""
    faults: int = 1
    own: bool = False
    missing: str = ""
    group: str = PROTOCOLS
    """The kind of subject, which is a part of the sheet."""

    def command(self, faults: int) -> str:
        """Return the command that makes evidence, of so many faults."""
        more = f"{self.more}{faults}" if faults > self.faults > 0 else ""
        return f"{self.begins}{more}{self.ends}"


def subject_at(text: str, root: Path, evidence: Path) -> Subject:
    """Find what a claim names, in a project that keeps its evidence in a folder.

    Raises ``UsageError`` for what names nothing.
    """
    text = text.strip()
    if "::" in text:
        return _sink(text, root, evidence)
    if text in known_sinks():
        group = SINKS if known_sinks()[text].store is None else STORES
        return Subject(text, f"onceproof replay {text}", " --faults ", group=group)
    return _protocol(text, root)


def _sink(text: str, root: Path, evidence: Path) -> Subject:
    path, _, function = text.partition("::")
    place = near(str(root / path), root)
    name = f"{place}::{function}"
    folder = Path(os.path.relpath(evidence, root)).as_posix()
    return Subject(
        name,
        begins=f"a test of {name}: pytest",
        more=" --onceproof-faults=",
        ends=f" --onceproof-evidence={folder}",
        missing=undefined(root / path, place, function),
        group=SINKS,
    )


def undefined(file: Path, place: str, function: str) -> str:
    """Return why a file has no function of that name; nothing of it is run."""
    try:
        tree = ast.parse(file.read_bytes())
    except OSError as error:
        return f"{place} cannot be read: {error.strerror}"
    except (SyntaxError, ValueError) as error:
        return f"{place} cannot be read: {error}"
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    known = [node.name for node in ast.walk(tree) if isinstance(node, kinds)]
    last = function.rpartition(".")[2]
    return (
        "" if last in known else f"{place} has no function {last!r}{hint(last, known)}"
    )


def _protocol(text: str, root: Path) -> Subject:
    name, settings = _words(text)
    path, _, label = name.partition(":")
    if "faults" in settings:
        message = f"a claim says faults = {settings['faults']}, and not --set faults"
        raise UsageError(message)
    if not path.endswith(".py"):
        pick(name, [*known_sinks(), *protocols()], "subject")
        return _made(name, name, settings)
    place = Path(os.path.relpath(root / path, root)).as_posix()
    try:
        kind, *_ = find(str(root / name))
        file = f"{root / path}:{kind.label()}"
        return _made(file, f"{place}:{kind.label()}", settings, own=True)
    except OnceproofError as error:
        address = f"{place}:{label}" if label else place
        sizes = {k: int(v) for k, v in settings.items() if v.isdecimal()}
        address += "".join(
            f" --set {k}={v}" for k, v in settings.items() if k not in sizes
        )
        missing = as_seen_from(root, str(error))
        begins = _check(address, sizes)
        return Subject(address, begins, _MORE, sizes=sizes, own=True, missing=missing)


def _made(
    typed: str, name: str, settings: Mapping[str, str], *, own: bool = False
) -> Subject:
    """Make the protocol, to see what is claimed of it, and what is a part of it."""
    from onceproof.properties.evidence.from_reports import (  # noqa: PLC0415
        fault_set,
        is_guarantee,
        subject_of,
    )
    from onceproof.properties.judges.by_search import claims_of  # noqa: PLC0415

    protocol = make(typed, settings)
    kinds = type(protocol).parameters()
    sizes = {k: int(v) for k, v in settings.items() if not isinstance(kinds[k], Slot)}
    label = f"{name}{subject_of(protocol).removeprefix(type(protocol).label())}"
    return Subject(
        name=label,
        begins=_check(label, sizes),
        more=_MORE,
        properties=tuple(p for p in claims_of(protocol) if is_guarantee(p)),
        sizes=sizes,
        faults=protocol.faults if fault_set(trace(protocol)) else 0,
        own=own,
    )


def _check(name: str, sizes: Mapping[str, int]) -> str:
    settings = "".join(f" --set {k}={v}" for k, v in sizes.items())
    return f"onceproof check {shell_word(name)}{settings}"


def _words(text: str) -> tuple[str, dict[str, str]]:
    """Read what follows ``onceproof check``: a protocol, and what is set of it."""
    try:
        words = iter(shlex.split(text))
    except ValueError as error:
        message = f"{text!r} cannot be read: {error}"
        raise UsageError(message) from None
    names, given = [], []
    for word in words:
        option, sign, value = word.partition("=")
        if option == "--set":
            given.append(value if sign else next(words, ""))
        elif word.startswith("-"):
            message = f"a claim takes a protocol and --set, and not {word}"
            raise UsageError(message)
        else:
            names.append(word)
    if len(names) != 1:
        message = f"a claim names one subject, not {text!r}"
        raise UsageError(message)
    return names[0], settings_of(given)


def hint(name: str, known: Iterable[str]) -> str:
    """Return which name was perhaps meant, or which there are."""
    names = list(known)
    found = did_you_mean(name, names, otherwise=f"it has {', '.join(names)}")
    return f"; {found}" if names else ""
