"""Evidence files: what was claimed, how it came out, and what that was found for.

A record speaks of one guarantee of one subject, as one judge found it at one scope.
It holds the fingerprints of all that the verdict rests on, and so is live for as long
as those stay. A run that is made again gives the same record but for the day.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import UsageError
from onceproof.properties.counterexample import writable
from onceproof.properties.fingerprints import of_data
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCHEMA = 1
FORMAT = "onceproof evidence"
KINDS = ("check", "simulate", "prove", "replay")
CHECKED, CONFIGURED, ASSUMED = "checked", "configured", "assumed"
ASSUMPTIONS = (CHECKED, CONFIGURED, ASSUMED)


@dataclass(frozen=True)
class Assumption:
    """What a verdict rests on: it was checked, it was configured, or it is assumed."""

    text: str
    kind: str


@dataclass(frozen=True)
class Shown:
    """The minimal trace that breaks a claim, and the command that shows it again.

    ``steps`` reads like ``crash()``; ``strikes`` numbers those that are faults, from 1.
    ``failpoints`` says where a real run was struck, ``seen`` what readers saw then.
    """

    clause: str
    steps: tuple[str, ...]
    strikes: tuple[int, ...]
    again: str
    failpoints: tuple[str, ...] = ()
    seen: str = ""
    file: str = ""

    @property
    def name(self) -> str:
        """Name the trace by what happens in it."""
        return of_data([self.steps, self.strikes, self.failpoints])[:8]


@dataclass(frozen=True)
class Hashes:
    """Fingerprints of the model, of the property, and of the files of a sink's code."""

    model: str
    property: str
    sources: Mapping[str, str] = field(default_factory=dict)

    def moved(self, now: Hashes) -> tuple[str, ...]:
        """Say in which of them ``now`` differs from these."""
        told = []
        if self.model != now.model:
            told.append("the model's terms have changed")
        if self.property != now.property:
            told.append("the property has changed")
        for name in sorted({*self.sources, *now.sources}):
            old, new = self.sources.get(name, ""), now.sources.get(name, "")
            if old and not new:
                told.append(f"{name} is gone, or no part of the sink any more")
            elif new and not old:
                told.append(f"{name} has become part of the sink")
            elif old != new:
                told.append(f"{name} has changed")
        return tuple(told)


@dataclass(frozen=True)
class Evidence:
    """One judge's finding about one guarantee of one subject.

    ``subject`` is a protocol as ``onceproof check`` takes it, or a sink by its name.
    ``scope`` names what was run at what sizes, ``faults`` how many may strike in all,
    ``fault_set`` which. ``coverage`` counts what was looked at. ``model`` holds what
    the protocol is to be made with again, ``again`` is the command that makes the
    record anew.
    """

    subject: str
    guarantee: str
    kind: str
    claim: str
    scope: Mapping[str, Any]
    faults: int
    fault_set: tuple[str, ...]
    verdict: Verdict
    coverage: Mapping[str, Any]
    hashes: Hashes
    model: Mapping[str, Any]
    versions: Mapping[str, str]
    date: str
    again: str
    assumptions: tuple[Assumption, ...] = ()
    lemmas: tuple[str, ...] = ()
    note: str = ""
    trace: Shown | None = None

    @property
    def name(self) -> str:
        """Name the file: by subject, guarantee, kind and scope, and by nothing else."""
        words = [_plain(self.subject), _plain(self.guarantee), self.kind]
        told = of_data([self.subject, dict(self.scope), self.faults])[:8]
        return "--".join([*words, told]) + ".json"

    def to_json(self) -> dict[str, Any]:
        """Give plain data, with its format and schema."""
        return {"format": FORMAT, "schema": SCHEMA, **asdict(self)}

    def write(self, folder: Path) -> Path:
        """Write the file, whole or not at all; one of the same name is replaced."""
        writable(folder)
        path = folder / self.name
        draft = path.with_suffix(".tmp")
        draft.write_text(json.dumps(self.to_json(), indent=1) + "\n", encoding="utf-8")
        draft.replace(path)
        return path


def today() -> str:
    """Give the day, as it is in UTC."""
    return dt.datetime.now(tz=dt.UTC).date().isoformat()


def read_folder(folder: Path) -> dict[str, Evidence]:
    """Read all the evidence of a folder, by file name; there need be no folder.

    Raises ``UsageError`` for a file that is no evidence, or is damaged.
    """
    paths = sorted(folder.glob("*.json"))
    return {path.name: read(path) for path in paths}


def read(path: Path) -> Evidence:
    """Read an evidence file.

    Raises ``UsageError`` for one that is missing, damaged, foreign or newer, and for
    one that bears another name than what it tells would give it.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        raise UsageError(message) from None
    except (ValueError, RecursionError):
        message = f"{path} is not JSON, so it is no evidence; take it out"
        raise UsageError(message) from None
    if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
        message = f"{path} is JSON, but no evidence of Onceproof; take it out"
        raise UsageError(message)
    schema = data.pop("schema", None)
    if schema != SCHEMA:
        message = (
            f"{path} has schema {schema}, and this Onceproof reads {SCHEMA}; "
            "use the version that wrote it"
        )
        raise UsageError(message)
    try:
        found = _parsed(data)
    except (KeyError, TypeError, ValueError) as error:
        lacks = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        message = f"{path} is damaged: {lacks}; make it anew"
        raise UsageError(message) from None
    if found.name != path.name:
        message = f"{path} is damaged: what it tells belongs in {found.name}"
        raise UsageError(message)
    return found


_WORDS = {str: "a text", dict: "an object", int: "a whole number", list: "a list"}
_FIELDS: dict[str, type] = {
    "subject": str,
    "guarantee": str,
    "kind": str,
    "claim": str,
    "scope": dict,
    "faults": int,
    "fault_set": list,
    "verdict": str,
    "coverage": dict,
    "hashes": dict,
    "model": dict,
    "versions": dict,
    "date": str,
    "again": str,
    "assumptions": list,
    "lemmas": list,
    "note": str,
}
_HASHES: dict[str, type] = {"model": str, "property": str, "sources": dict}
_ASSUMPTION: dict[str, type] = {"text": str, "kind": str}
_SHOWN: dict[str, type] = {
    "clause": str,
    "steps": list,
    "strikes": list,
    "again": str,
    "failpoints": list,
    "seen": str,
    "file": str,
}


def _parsed(data: dict[str, Any]) -> Evidence:
    trace = data.pop("trace")
    _typed(data, _FIELDS, "")
    _texts(data, ("fault_set", "lemmas"))
    _typed(data["hashes"], _HASHES, " of the hashes")
    _texts(data["hashes"], ("sources",))
    for one in data["assumptions"]:
        _typed(one, _ASSUMPTION, " of an assumption")
        _one_of(one["kind"], ASSUMPTIONS, "the kind of an assumption")
    if trace is not None:
        _typed(trace, _SHOWN, " of the trace")
        _texts(trace, ("steps", "failpoints"))
    _one_of(data["kind"], KINDS, "'kind'")
    dt.date.fromisoformat(data["date"])
    lists = {n: tuple(data[n]) for n, kind in _FIELDS.items() if kind is list}
    lists["assumptions"] = tuple(Assumption(**one) for one in data["assumptions"])
    return Evidence(
        **{
            **data,
            **lists,
            "verdict": Verdict(data["verdict"]),
            "hashes": Hashes(**data["hashes"]),
            "trace": None if trace is None else Shown(**_tuples(trace)),
        }
    )


def _tuples(data: dict[str, Any]) -> dict[str, Any]:
    return {n: tuple(v) if isinstance(v, list) else v for n, v in data.items()}


def _typed(data: object, kinds: dict[str, type], where: str) -> None:
    """Raise for a field that is missing, too many, or of another kind than written."""
    if not isinstance(data, dict):
        message = f"something{where} is no object"
        raise TypeError(message)
    for name, kind in kinds.items():
        value = data[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            message = f"{name!r}{where} is not {_WORDS[kind]}"
            raise TypeError(message)
    for name in data:
        if name not in kinds:
            message = f"{name!r}{where} is not known"
            raise TypeError(message)


def _texts(data: dict[str, Any], names: tuple[str, ...]) -> None:
    """Raise for a list, or an object, that holds something else than texts."""
    for name in names:
        held = data[name].values() if isinstance(data[name], dict) else data[name]
        if not all(isinstance(one, str) for one in held):
            message = f"{name!r} holds something that is no text"
            raise TypeError(message)


def _one_of(value: str, known: tuple[str, ...], what: str) -> None:
    if value not in known:
        message = f"{what} is {value!r}, and not one of {', '.join(known)}"
        raise ValueError(message)


def _plain(text: str) -> str:
    """Give a name as it may stand in that of a file."""
    return re.sub(r"[^\w-]+", "-", text.replace("--set ", "")).strip("-")[-80:]
