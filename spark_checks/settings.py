"""``[tool.onceproof]`` of a project's pyproject.toml: what it claims, and where."""

from __future__ import annotations

import ast
import difflib
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.library import find, make, pick, protocols
from onceproof.properties.evidence import ASSUMPTIONS, Assumption
from onceproof.properties.guarantees import GUARANTEES
from onceproof.properties.sheet import EXPECTED, HOLDS, Claim
from onceproof.spark_checks.sources import known_sinks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from onceproof.properties.property import Property

FILE = "pyproject.toml"
EVIDENCE = ".onceproof/evidence"
MOST_FAULTS = 64
KEYS = ("evidence", "sheet", "guarantees")
CLAIM = ("subject", "guarantee", "faults", "assumptions", "duties", "expected")
ASSUMPTION = ("text", "kind")


@dataclass(frozen=True)
class Settings:
    """Where a project keeps its evidence and its sheet, and what it claims."""

    root: Path
    evidence: Path
    sheet: Path | None = None
    claims: tuple[dict[str, Any], ...] = ()
    where: str = FILE

    def stated(self) -> tuple[Claim, ...]:
        """Give the claims, each with its sentence.

        Raises ``UsageError`` for a subject or a guarantee that there is not.
        """
        found = [
            _claim(f"{self.where}, claim {number},", data, self.root)
            for number, data in enumerate(self.claims, 1)
        ]
        seen: dict[tuple[str, str], int] = {}
        for number, claim in enumerate(found, 1):
            first = seen.setdefault((claim.subject, claim.guarantee), number)
            if first != number:
                message = (
                    f"{self.where}, claim {number}, says again what claim {first} "
                    f"does: {claim.guarantee} of {claim.subject}; take one out"
                )
                raise UsageError(message)
        return tuple(found)


def settings_at(start: Path) -> Settings:
    """Read the settings of the project that a folder belongs to; there may be none.

    Raises ``UsageError`` for what they cannot say.
    """
    root = root_of(start)
    if (root / FILE).is_file():
        return settings_in(root)
    return Settings(root, root / EVIDENCE)


def root_of(start: Path) -> Path:
    """Find the folder of the project that a folder belongs to, or give that folder."""
    start = start.resolve()
    folders = (start, *start.parents)
    return next((one for one in folders if (one / FILE).is_file()), start)


def settings_in(root: Path) -> Settings:
    """Read the settings of the project that lies in a folder.

    Raises ``UsageError`` for what they cannot say.
    """
    path = root / FILE
    try:
        whole = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"{path} cannot be read: {error}"
        raise UsageError(message) from None
    tool = whole.get("tool", {})
    return parsed(tool.get("onceproof", {}) if isinstance(tool, dict) else {}, root)


def parsed(data: object, root: Path) -> Settings:
    """Read what ``[tool.onceproof]`` holds; ``docs/onceproof.schema.json`` says what.

    Raises ``UsageError`` for what it cannot say.
    """
    where = f"{FILE}, [tool.onceproof],"
    table = _table(where, data, KEYS)
    evidence = _text(where, table, "evidence", EVIDENCE)
    sheet = _text(where, table, "sheet", "")
    claims = _list(where, table, "guarantees")
    for number, claim in enumerate(claims, 1):
        _checked(f"{FILE}, claim {number},", claim)
    return Settings(
        root=root,
        evidence=root / evidence,
        sheet=root / sheet if sheet else None,
        claims=tuple(claims),
    )


def _checked(where: str, data: object) -> None:
    table = _table(where, data, CLAIM)
    for name in ("subject", "guarantee"):
        if name not in table:
            message = f"{where} needs {name} = a text"
            raise UsageError(message)
        _text(where, table, name, "")
    faults = table.get("faults", 1)
    if type(faults) is not int or not 0 <= faults <= MOST_FAULTS:
        message = f"{where} takes faults = 0 to {MOST_FAULTS}, not {faults!r}"
        raise UsageError(message)
    _one_of(where, table.get("expected", HOLDS), EXPECTED, "expected")
    for one in _list(where, table, "assumptions"):
        inner = _table(f"{where} an assumption", one, ASSUMPTION)
        for name in ASSUMPTION:
            if name not in inner:
                message = f"{where} an assumption needs {name} = a text"
                raise UsageError(message)
            _text(where, inner, name, "")
        _one_of(where, inner["kind"], ASSUMPTIONS, "kind")
    for duty in _list(where, table, "duties"):
        if not isinstance(duty, str) or not duty:
            message = f"{where} takes duties = a list of texts, not {duty!r}"
            raise UsageError(message)


def _claim(where: str, data: Mapping[str, Any], root: Path) -> Claim:
    prop, again = _about(where, data["subject"], data["guarantee"], root)
    return Claim(
        subject=data["subject"],
        guarantee=data["guarantee"],
        text=prop.text,
        faults=data.get("faults", 1),
        expected=data.get("expected", HOLDS),
        assumptions=tuple(Assumption(**one) for one in data.get("assumptions", ())),
        duties=tuple(data.get("duties", ())),
        again=again,
    )


def _about(
    where: str, subject: str, guarantee: str, root: Path
) -> tuple[Property, str]:
    """Find the property that is claimed, and the command that makes its evidence."""
    known: Iterable[Property] = GUARANTEES
    if "::" in subject:
        _defined(where, subject, root)
        again = f"a test of {subject}: pytest --onceproof-evidence={EVIDENCE}"
    elif subject in (sinks := known_sinks()):
        again = f"onceproof replay {subject} --evidence"
    else:
        known = _of_protocol(where, subject, root, sinks)
        again = f"onceproof check {subject} --evidence"
    names = {prop.name: prop for prop in known}
    try:
        return names[pick(guarantee, names, "guarantee")], again
    except UsageError as error:
        message = f"{where} of {subject}: {error}"
        raise UsageError(message) from None


def _of_protocol(
    where: str, subject: str, root: Path, sinks: Iterable[str]
) -> list[Property]:
    from onceproof.properties.check import claims_of  # noqa: PLC0415
    from onceproof.properties.records import is_guarantee  # noqa: PLC0415

    name, *chosen = subject.split(" --set ")
    try:
        if ".py" in name:
            name = _whole(name, root)
        else:
            pick(name, [*sinks, *protocols()], "subject")
        pairs = dict(_pair(one) for one in chosen)
        found = claims_of(make(name, pairs))
    except UsageError as error:
        message = f"{where} {error}"
        raise UsageError(message) from None
    return [prop for prop in found if is_guarantee(prop)]


def _whole(name: str, root: Path) -> str:
    """See that a file's protocol is named as evidence names it; give its path."""
    kind, *_ = find(str(root / name))
    if not name.endswith(f":{kind.label()}"):
        message = f"a claim names the protocol too, as '{name}:{kind.label()}'"
        raise UsageError(message)
    return str(root / name)


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        message = f"--set takes NAME=VALUE, not {text!r}"
        raise UsageError(message)
    return name, value


def _defined(where: str, subject: str, root: Path) -> None:
    """See that a file has a function of that name; nothing of it is run."""
    name, _, function = subject.partition("::")
    try:
        tree = ast.parse((root / name).read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        message = f"{where} {name} cannot be read: {error}"
        raise UsageError(message) from None
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    known = [node.name for node in ast.walk(tree) if isinstance(node, kinds)]
    last = function.rpartition(".")[2]
    if last not in known:
        message = f"{where} {name} has no function {last!r}{_hint(last, known)}"
        raise UsageError(message)


def _table(where: str, data: object, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(data, dict):
        message = f"{where} must be a table, not {data!r}"
        raise UsageError(message)
    for name in data:
        if name not in known:
            message = f"{where} has no {name!r}{_hint(name, known)}"
            raise UsageError(message)
    return data


def _hint(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; it has {', '.join(known)}"


def _text(where: str, table: Mapping[str, Any], name: str, otherwise: str) -> str:
    value = table.get(name, otherwise)
    if not isinstance(value, str) or (name in table and not value):
        message = f"{where} takes {name} = a text, not {value!r}"
        raise UsageError(message)
    return value


def _list(where: str, table: Mapping[str, Any], name: str) -> list[Any]:
    value = table.get(name, [])
    if not isinstance(value, list):
        message = f"{where} takes {name} = a list, not {value!r}"
        raise UsageError(message)
    return value


def _one_of(where: str, value: object, known: tuple[str, ...], name: str) -> None:
    if value not in known:
        hint = _hint(str(value), known)
        message = f"{where} takes {name} = one of {', '.join(known)}, not {value!r}"
        raise UsageError(message + (hint if "mean" in hint else ""))
