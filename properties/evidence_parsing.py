"""Records read from plain data: what is damaged, or contradicts itself, is refused."""

from __future__ import annotations

import datetime as dt
from typing import Any

from onceproof.properties.contradictions import contradiction
from onceproof.properties.evidence import (
    ASSUMPTIONS,
    KINDS,
    Assumption,
    Evidence,
    Hashes,
    Shown,
)
from onceproof.properties.verdicts import Verdict

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
    "digest": str,
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


def parsed(data: dict[str, Any]) -> Evidence:
    """Make a record of plain data.

    Raises ``KeyError``, ``TypeError`` or ``ValueError`` for what is damaged, for what
    no judge finds, and for what does not bear the digest of what it tells.
    """
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
        if not all(type(one) is int for one in trace["strikes"]):
            message = "'strikes' holds something that is no whole number"
            raise TypeError(message)
    _one_of(data["kind"], KINDS, "'kind'")
    dt.date.fromisoformat(data["date"])
    lists = {n: tuple(data[n]) for n, kind in _FIELDS.items() if kind is list}
    lists["assumptions"] = tuple(Assumption(**one) for one in data["assumptions"])
    digest = data.pop("digest")
    found = Evidence(
        **{
            **data,
            **lists,
            "verdict": Verdict(data["verdict"]),
            "hashes": Hashes(**data["hashes"]),
            "trace": None if trace is None else Shown(**_tuples(trace)),
        }
    )
    if reason := contradiction(found):
        raise ValueError(reason)
    if digest != found.digest:
        message = "it was edited after it was made: its digest is of something else"
        raise ValueError(message)
    return found


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
