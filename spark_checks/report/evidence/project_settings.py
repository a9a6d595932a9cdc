"""``[tool.onceproof]`` of a project's pyproject.toml: what it claims, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.model.files import read_toml
from onceproof.model.library import pick
from onceproof.properties.evidence.record import ASSUMPTIONS, Assumption
from onceproof.properties.evidence.sheet import EXPECTED, HOLDS, Claim
from onceproof.properties.trust import PROJECT, project_of
from onceproof.spark_checks.report.evidence.subjects import Subject, hint, subject_at

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onceproof.properties.property import Property

FILE = PROJECT
EVIDENCE = ".onceproof/evidence"
MOST_FAULTS = 64
KEYS = ("evidence", "sheet", "library", "stores", "guarantees")
CLAIM = ("subject", "guarantee", "faults", "assumptions", "duties", "expected")
ASSUMPTION = ("text", "kind")


@dataclass(frozen=True)
class Settings:
    """Where a project keeps its evidence and its sheet, and what it claims.

    With ``library`` it claims what the library's own files state, too. ``stores`` says
    whether sinks that write to a store are among them: all, none, or those on the
    stores named.
    """

    root: Path
    """The folder of the project."""
    evidence: Path
    """The folder of its evidence."""
    sheet: Path | None = None
    """The path of its sheet; None if it has none."""
    claims: tuple[dict[str, Any], ...] = ()
    """What it claims, as its settings have it."""
    library: bool = False
    stores: bool | tuple[str, ...] = True
    where: str = FILE
    """The file that the settings are in, as messages name it."""

    def stated(self) -> tuple[Claim, ...]:
        """Return the claims, each with its sentence.

        Raises ``UsageError`` for a subject or a guarantee that there is not.
        """
        found = [
            _claim(f"{self.where}, claim {number},", data, self)
            for number, data in enumerate(self.claims, 1)
        ]
        seen: dict[object, int] = {}
        for number, claim in enumerate(found, 1):
            key = (claim.subject, frozenset(claim.sizes.items()), claim.guarantee)
            first = seen.setdefault(key, number)
            if first != number:
                message = (
                    f"{self.where}, claim {number}, says again what claim {first} "
                    f"does: {claim.guarantee} of {claim.name}; take one out"
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
    return project_of(start)


def settings_in(root: Path) -> Settings:
    """Read the settings of the project that lies in a folder.

    Raises ``UsageError`` for what they cannot say.
    """
    path = root / FILE
    tool = read_toml(path).get("tool", {})
    return parsed(tool.get("onceproof", {}) if isinstance(tool, dict) else {}, root)


def parsed(data: object, root: Path) -> Settings:
    """Read what ``[tool.onceproof]`` holds; ``docs/onceproof.schema.json`` says what.

    Raises ``UsageError`` for what it cannot say.
    """
    where = f"{FILE}, [tool.onceproof],"
    table = _table(where, data, KEYS)
    evidence = _text(where, table, "evidence", EVIDENCE)
    sheet = _text(where, table, "sheet", "")
    library = table.get("library", False)
    if not isinstance(library, bool):
        message = f"{where} takes library = true or false, not {library!r}"
        raise UsageError(message)
    claims = _list(where, table, "guarantees")
    for number, claim in enumerate(claims, 1):
        _checked(f"{FILE}, claim {number},", claim)
    return Settings(
        root=root,
        evidence=root / evidence,
        sheet=root / sheet if sheet else None,
        claims=tuple(claims),
        library=library,
        stores=_stores(where, table.get("stores", True)),
    )


def _stores(where: str, value: object) -> bool | tuple[str, ...]:
    """Return whether sinks on stores are among the claims, or on which stores."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        message = (
            f"{where} takes stores = true, false or a list of stores, such as "
            f'["postgres"], not {value!r}'
        )
        raise UsageError(message)
    from onceproof.spark_checks.stores.known_stores import (  # noqa: PLC0415 - slow
        STORE_NAMES,
    )

    return tuple(pick(name, STORE_NAMES, f"store in {FILE}") for name in value)


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


def _claim(where: str, data: Mapping[str, Any], settings: Settings) -> Claim:
    try:
        subject = subject_at(data["subject"], settings.root, settings.evidence)
        prop, missing = _claimed(subject, data["guarantee"])
    except UsageError as error:
        message = f"{where} {error}"
        raise UsageError(message) from None
    faults = data.get("faults", min(subject.faults, 1))
    return Claim(
        subject=subject.name,
        guarantee=data["guarantee"],
        text=prop.text if prop else "",
        faults=faults,
        expected=data.get("expected", HOLDS),
        assumptions=tuple(Assumption(**one) for one in data.get("assumptions", ())),
        duties=tuple(data.get("duties", ())),
        command=subject.command(faults),
        sizes=subject.sizes,
        missing=missing,
        group=subject.group,
    )


def _claimed(subject: Subject, guarantee: str) -> tuple[Property | None, str]:
    """Find the property that is claimed, or say why there is none any more.

    Raises ``UsageError`` where there never was one.
    """
    names = {prop.name: prop for prop in subject.properties}
    if guarantee in names:
        return names[guarantee], subject.missing
    if subject.missing and subject.own:
        return None, subject.missing
    if subject.own:
        return None, f"{subject.name} has no {guarantee!r}{hint(guarantee, names)}"
    try:
        return names[pick(guarantee, names, "guarantee")], ""
    except UsageError as error:
        message = f"of {subject.name}: {error}"
        raise UsageError(message) from None


def _table(where: str, data: object, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(data, dict):
        message = f"{where} must be a table, not {data!r}"
        raise UsageError(message)
    for name in data:
        if name not in known:
            message = f"{where} has no {name!r}{hint(name, known)}"
            raise UsageError(message)
    return data


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
        meant = hint(str(value), known)
        message = f"{where} takes {name} = one of {', '.join(known)}, not {value!r}"
        raise UsageError(message + (meant if "mean" in meant else ""))
