"""Records read from plain data: what is damaged, or contradicts itself, is refused."""

from __future__ import annotations

import datetime as dt
from typing import Any

from onceproof.properties.evidence.contradictions import contradiction
from onceproof.properties.evidence.record import (
    ASSUMPTIONS,
    KINDS,
    Assumption,
    Evidence,
    Hashes,
    Shown,
)
from onceproof.properties.forms import (
    listed,
    mapped,
    maybe,
    record,
    scalar,
    shown,
    text,
    whole,
)
from onceproof.properties.verdicts import Verdict

_FORM = record(
    {
        "subject": text,
        "guarantee": text,
        "kind": text,
        "claim": text,
        "scope": mapped(scalar),
        "faults": whole(None),
        "fault_set": listed(text),
        "verdict": text,
        "coverage": mapped(scalar),
        "hashes": record({"model": text, "property": text, "sources": mapped(text)}),
        "model": mapped(scalar),
        "versions": mapped(text),
        "date": text,
        "again": text,
        "assumptions": listed(record({"text": text, "kind": text})),
        "lemmas": listed(text),
        "note": text,
        "trace": maybe(
            record(
                {
                    "clause": text,
                    "steps": listed(text),
                    "strikes": listed(whole(1)),
                    "again": text,
                    "failpoints": listed(text),
                    "seen": text,
                    "file": text,
                }
            )
        ),
        "digest": text,
    }
)


def parsed(data: Any) -> Evidence:
    """Make a record of plain data.

    Raises ``ValueError`` for what is damaged, for what no judge finds, and for what
    does not bear the digest of what it tells.
    """
    _FORM(data, "")
    for one in data["assumptions"]:
        _one_of(one["kind"], ASSUMPTIONS, "the kind of an assumption")
    _one_of(data["kind"], KINDS, "'kind'")
    dt.date.fromisoformat(data["date"])
    digest, trace = data.pop("digest"), data.pop("trace")
    found = Evidence(
        **{
            **_tuples(data),
            "assumptions": tuple(Assumption(**one) for one in data["assumptions"]),
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


def _one_of(value: str, known: tuple[str, ...], what: str) -> None:
    if value not in known:
        choices = ", ".join(known)
        message = f"{what} is {shown(value)}, and not one of {choices}"
        raise ValueError(message)
