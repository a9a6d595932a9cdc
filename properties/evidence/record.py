"""Evidence: what was claimed, how it came out, and what that was found for.

A record speaks of one guarantee of one subject, as one judge found it at one scope.
It holds the fingerprints of all that the verdict rests on, and so is live for as long
as those stay. A run that is made again gives the same record but for day and digest.
The digest guards against edits by mistake: it is no signature.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.model.text import slug
from onceproof.properties.evidence.fingerprints import of_data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.properties.verdicts import Verdict

SCHEMA = 2
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
    ``failpoints`` says where faults were injected into a real run, ``seen`` what
    readers saw then.
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
        changes = []
        if self.model != now.model:
            changes.append("the model's terms have changed")
        if self.property != now.property:
            changes.append("the property has changed")
        for name in sorted({*self.sources, *now.sources}):
            old, new = self.sources.get(name, ""), now.sources.get(name, "")
            if old and not new:
                changes.append(f"{name} is gone, or no part of the sink any more")
            elif new and not old:
                changes.append(f"{name} has become part of the sink")
            elif old != new:
                changes.append(f"{name} has changed")
        return tuple(changes)


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
        digest_part = of_data([self.subject, dict(self.scope), self.faults])[:8]
        return "--".join([*words, digest_part]) + ".json"

    @property
    def digest(self) -> str:
        """Hash all that the record holds."""
        return of_data(asdict(self))

    def to_json(self) -> dict[str, Any]:
        """Give plain data, with its format, its schema, and its digest."""
        data = {"format": FORMAT, "schema": SCHEMA, **asdict(self)}
        return {**data, "digest": self.digest}


def today() -> str:
    """Give the day, as it is in UTC."""
    return dt.datetime.now(tz=dt.UTC).date().isoformat()


def _plain(text: str) -> str:
    """Give a name as it may stand in that of a file."""
    return slug(text.replace("--set ", ""), most=80)
