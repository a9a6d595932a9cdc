"""Evidence: what was claimed, how it came out, and what that was found for.

A record is one judge's finding about one guarantee of one subject at one scope. It
holds the fingerprints of all that the verdict rests on, and is live as long as those
do not change. A run that is made again gives the same record but for day and digest.
The digest guards against edits by mistake: it is no signature.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from onceproof.model.text import slug
from onceproof.properties.evidence.fingerprints import of_data
from onceproof.properties.schema import Count, Scalars, day, one_of, stored
from onceproof.properties.verdicts import Verdict

JUDGES = ("check", "simulate", "prove", "replay")
CHECKED, CONFIGURED, ASSUMED = "checked", "configured", "assumed"
ASSUMPTIONS = (CHECKED, CONFIGURED, ASSUMED)
OF_THE_GRID = "grid "
"""What the subject of a record of the grid begins with; query and setting follow."""
_LETTERS = 80
_LOSSLESS = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@stored()
@dataclass(frozen=True)
class Assumption:
    """What a verdict rests on."""

    text: str
    """The sentence."""
    kind: Annotated[str, one_of(*ASSUMPTIONS)]
    """Whether it was ``checked``, was ``configured``, or is ``assumed``."""


@stored()
@dataclass(frozen=True)
class TraceEvidence:
    """The minimal trace that breaks a claim, and the command that shows it again."""

    clause: str
    """The part of the claim that fails."""
    steps: tuple[str, ...]
    """What happens, step by step, each as ``crash()``. In a file, an id in their place
    names an earlier record with the same steps."""
    fault_steps: tuple[Count, ...]
    """The numbers of the steps that are faults, from 1."""
    command: str
    """The command that shows the trace again."""
    failpoints: tuple[str, ...] = ()
    """Where the faults were injected into a real run."""
    outcome: str = ""
    """What readers saw then."""
    file: str = ""
    """The counterexample file, where one was written."""

    @property
    def name(self) -> str:
        """Name the trace by what happens in it."""
        return of_data([self.steps, self.fault_steps, self.failpoints])[:8]


@stored()
@dataclass(frozen=True)
class Fingerprints:
    """Hashes of the model's terms, of the property, and of the files of a sink."""

    model: str
    """The hash of the model's terms."""
    property: str
    """The hash of the property's clauses: their words and their terms."""
    sources: dict[str, str] = field(default_factory=dict)
    """The hash of each file of a sink's code."""

    def moved(self, now: Fingerprints) -> tuple[str, ...]:
        """Return in which of them ``now`` differs from these."""
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


@stored()
@dataclass(frozen=True)
class Evidence:
    """One judge's finding about one guarantee of one subject."""

    subject: str
    """A protocol as ``onceproof check`` takes it, or a sink by its name."""
    guarantee: str
    """The name of the guarantee, or of a protocol's own property."""
    judge: Annotated[str, one_of(*JUDGES)]
    """``check``, ``simulate``, ``prove`` or ``replay``."""
    claim: str
    """What the guarantee says, as a sentence."""
    scope: Scalars
    """What was judged, at what sizes and settings."""
    faults: int
    """How many faults may happen in all."""
    fault_set: tuple[str, ...]
    """Which faults may happen."""
    verdict: Verdict
    """How the claim came out."""
    coverage: Scalars
    """How much was covered, in numbers."""
    fingerprints: Fingerprints
    """Hashes of all that the verdict rests on."""
    parameters: Scalars
    """The parameters of the model whose fingerprint is compared."""
    versions: dict[str, str]
    """The versions of the tools that found it."""
    date: Annotated[str, day]
    """The day on which it was found."""
    command: str
    """The command that makes the record again."""
    assumptions: tuple[Assumption, ...] = ()
    """What else the verdict rests on."""
    lemmas: tuple[str, ...] = ()
    """What a proof needed."""
    note: str = ""
    """What the judge says about the verdict."""
    trace: TraceEvidence | None = None
    """The trace that refutes the claim."""

    @property
    def id(self) -> str:
        """Name the record in its file: by guarantee, judge and scope alone."""
        scope = of_data([self.subject, self.scope, self.faults])[:8]
        return f"{self.guarantee}/{self.judge}/{scope}"

    @property
    def file_name(self) -> str:
        """Name the file of the record's subject."""
        return file_name(self.subject)

    @property
    def address(self) -> str:
        """Name the record among all of a folder."""
        return f"{self.file_name}:{self.id}"

    @property
    def digest(self) -> str:
        """Hash all that the record holds."""
        return of_data(asdict(self))

    def to_json(self) -> dict[str, Any]:
        """Return plain data, with its id and its digest."""
        return {"id": self.id, **asdict(self), "digest": self.digest}


def file_name(subject: str) -> str:
    """Name the file of a subject: no two subjects have one file, in whatever case."""
    plain = slug(subject.replace("--set ", ""), most=_LETTERS)
    plain = plain.encode("ascii", "ignore").decode("ascii").lstrip("-")
    if plain != subject or not _LOSSLESS.fullmatch(subject):
        plain = f"{plain}--{of_data(subject)[:8]}"
    return f"{plain}.json"


def today() -> str:
    """Return the day, as it is in UTC."""
    return dt.datetime.now(tz=dt.UTC).date().isoformat()
