"""The guarantee sheet: claims, each beside the evidence that it rests on.

A claim without live evidence is unsupported, and is shown; evidence for which nothing
is claimed is listed apart. Nothing is left out. This file assembles, and reads and
writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onceproof.properties.evidence.measurements.measurement import Measurement
    from onceproof.properties.evidence.record import Assumption, Evidence

UNSUPPORTED = "unsupported"
SINKS, STORES, PROTOCOLS = "sinks", "sinks on stores", "protocols"
HOLDS, REFUTED, UNDECIDED = "holds", "refuted", "undecided"
EXPECTED = (HOLDS, REFUTED, UNDECIDED)
DELIVERY, EFFECT, VISIBILITY, AGREEMENT = (
    "delivery",
    "effect",
    "visibility",
    "agreement",
)
ASPECTS = {
    "at-most-once": DELIVERY,
    "at-least-once": DELIVERY,
    "effectively-once": EFFECT,
    "durable": EFFECT,
    "recoverable": EFFECT,
    "batch-equivalence": EFFECT,
    "atomic-visibility": VISIBILITY,
    "agreement": AGREEMENT,
}
STATE = "state"
_DUTIES = {
    "at-most-once": (
        "at-least-once",
        "deduplicate events by their key: one may be visible more than once",
    ),
    "atomic-visibility": (
        "effectively-once",
        "expect a batch that is visible in part, or read when none is written",
    ),
}
_STRONGEST = (Verdict.PROVED, Verdict.EXHAUSTED, Verdict.BOUNDED, Verdict.HELD)


@dataclass(frozen=True)
class Claim:
    """What is claimed: a guarantee of a subject, under so many faults.

    ``text`` is the sentence. ``sizes`` are those that it is claimed at, where not at
    any that there is evidence of. What is ``expected`` is that it holds, unless it is
    known to be refuted, or not to be settled. ``assumptions`` and ``duties`` of the
    reader are the claimant's own; the evidence adds to them. ``command`` makes
    evidence; ``missing`` says why the subject cannot be found as it is stated.
    ``group`` says what kind of subject it is.
    """

    subject: str
    """The subject: a protocol or a sink, as its evidence names it."""
    guarantee: str
    """The name of the guarantee."""
    text: str
    faults: int = 1
    """How many faults may happen in all."""
    expected: str = HOLDS
    assumptions: tuple[Assumption, ...] = ()
    duties: tuple[str, ...] = ()
    command: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    missing: str = ""
    group: str = SINKS

    @property
    def name(self) -> str:
        """Name the subject with its sizes, as it may be stated."""
        settings = "".join(f" --set {name}={size}" for name, size in self.sizes.items())
        return f"{self.subject}{settings}"

    def about(self, record: Evidence) -> bool:
        """Return whether a record is about what is claimed, at the sizes claimed."""
        return (record.subject, record.guarantee) == (
            self.subject,
            self.guarantee,
        ) and all(record.scope.get(name) == size for name, size in self.sizes.items())

    @property
    def aspect(self) -> str:
        """The aspect: delivery, effect, visibility, or the state of a model.

        Each guarantee is an entry of its own: no two are ever shown as one.
        """
        return ASPECTS.get(self.guarantee, STATE)


@dataclass(frozen=True)
class Stale:
    """A record that was found for what has changed since, and what that is.

    It is ``gone`` if there is no such claim any more: no such subject, or no such
    property of it.
    """

    record: Evidence
    """The record."""
    why: tuple[str, ...]
    """What has changed since, in words."""
    gone: bool = False


@dataclass(frozen=True)
class SheetRow:
    """A claim beside the records about it: by address, live ones and stale ones.

    ``beyond`` holds what refutes the guarantee under more faults than are claimed,
    ``fewer`` what says too little, since it is of fewer faults.
    """

    claim: Claim
    """The claim."""
    live: Mapping[str, Evidence] = field(default_factory=dict)
    """The records that still count, by address."""
    stale: Mapping[str, Stale] = field(default_factory=dict)
    """The records that were found for something else, by address."""
    beyond: Mapping[str, Evidence] = field(default_factory=dict)
    fewer: Mapping[str, Evidence] = field(default_factory=dict)
    duties: tuple[str, ...] = ()
    """What readers of the sheet have to do, for the claim to hold."""

    @property
    def records(self) -> tuple[str, ...]:
        """List the addresses of all the records about the claim."""
        return (*self.live, *self.stale, *self.beyond, *self.fewer)

    @property
    def verdict(self) -> Verdict | None:
        """The verdict: refuted by any, else the strongest; None if unsupported."""
        found = {record.verdict for record in self.live.values()}
        if Verdict.REFUTED in found:
            return Verdict.REFUTED
        for verdict in (*_STRONGEST, Verdict.UNDECIDED, Verdict.VACUOUS):
            if verdict in found:
                return verdict
        return None

    @property
    def as_expected(self) -> bool:
        """Whether the claim came out as it is stated."""
        verdict = self.verdict
        if verdict is None:
            return False
        return expectable(verdict) == self.claim.expected

    @property
    def outdated(self) -> dict[str, Stale]:
        """Return the stale records that no live one has replaced.

        A live one replaces what the same judge found at the same scope. Nothing but
        the command that made it replaces what refutes.
        """
        return {
            name: one
            for name, one in self.stale.items()
            if one.record.verdict is Verdict.REFUTED
            or not any(_replaces(new, one.record) for new in self.live.values())
        }

    @property
    def why_unsupported(self) -> str:
        """Return what is missing, where there is no verdict."""
        most = self.claim.faults
        why = f"no evidence for at most {most} fault{'' if most == 1 else 's'}"
        if not most:
            return "no evidence"
        faultless = any(not record.fault_set for record in self.fewer.values())
        return f"{why}: no faults are modelled" if faultless else why

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """List what the claim rests on: the claimant's words, then the evidence's."""
        assumed = [a for record in self.live.values() for a in record.assumptions]
        return tuple(dict.fromkeys([*self.claim.assumptions, *assumed]))


@dataclass(frozen=True)
class Sheet:
    """All rows, and the evidence for which nothing is claimed.

    ``command`` is the one that writes the sheet again, ``folder`` has the evidence.
    """

    rows: tuple[SheetRow, ...]
    """A row for each claim."""
    unclaimed: Mapping[str, Evidence] = field(default_factory=dict)
    """The live records of what nobody claims, by address."""
    stale: Mapping[str, Stale] = field(default_factory=dict)
    """The stale records of what nobody claims, by address."""
    command: str = "onceproof guarantees"
    folder: str = ""
    measurements: Mapping[str, Measurement] = field(default_factory=dict)
    """What was counted in real tables, by file; no row rests on it."""
    hashes: Mapping[str, str] = field(default_factory=dict)
    """The hashes of the guarantees that were measured, as they are judged now."""

    @property
    def subjects(self) -> dict[str, list[SheetRow]]:
        """Return the rows by the name of their subject, in order."""
        found: dict[str, list[SheetRow]] = {}
        for row in self.rows:
            found.setdefault(row.claim.name, []).append(row)
        return found


def assemble(
    claims: Iterable[Claim],
    evidence: Mapping[str, Evidence],
    stale: Mapping[str, Stale],
) -> Sheet:
    """Put each claim beside its evidence; both mappings are by address."""
    about = _by_subject(evidence)
    rows = [_row(claim, about.get(claim.subject, {}), stale) for claim in claims]
    rows = [_with_duties(row, rows) for row in rows]
    claimed = {name for row in rows for name in row.records}
    unclaimed = {n: record for n, record in evidence.items() if n not in claimed}
    left = {name: one for name, one in stale.items() if name in unclaimed}
    return Sheet(tuple(rows), unclaimed, left)


def _by_subject(evidence: Mapping[str, Evidence]) -> dict[str, dict[str, Evidence]]:
    found: dict[str, dict[str, Evidence]] = {}
    for name, record in evidence.items():
        found.setdefault(record.subject, {})[name] = record
    return found


def _row(
    claim: Claim,
    evidence: Mapping[str, Evidence],
    stale: Mapping[str, Stale],
) -> SheetRow:
    mine = {name: record for name, record in evidence.items() if claim.about(record)}
    if not claim.text:
        texts = [record.claim for record in mine.values()]
        claim = replace(claim, text=next(iter(texts), claim.guarantee))
    live = {name: record for name, record in mine.items() if name not in stale}
    speaking = {n: r for n, r in live.items() if _speaks(r, claim)}
    return SheetRow(
        claim,
        live=speaking,
        stale={name: stale[name] for name in mine if name in stale},
        beyond={
            name: record
            for name, record in live.items()
            if name not in speaking and record.verdict is Verdict.REFUTED
        },
        fewer={
            name: record
            for name, record in live.items()
            if name not in speaking and record.verdict is not Verdict.REFUTED
        },
    )


def _replaces(new: Evidence, old: Evidence) -> bool:
    """Return whether a record looks at all that another does, by the same judge."""
    at, there = ({**one.scope, "faults": 0} for one in (new, old))
    return new.judge == old.judge and at == there and new.faults >= old.faults


def _speaks(record: Evidence, claim: Claim) -> bool:
    """Return whether a record settles a claim under so many faults.

    What holds under more faults holds under fewer; a trace that refutes is of so many
    faults as happen in it, whatever the budget was.
    """
    if record.verdict is Verdict.REFUTED and record.trace is not None:
        return len(record.trace.fault_steps) <= claim.faults
    return record.faults >= claim.faults


def _with_duties(row: SheetRow, rows: list[SheetRow]) -> SheetRow:
    """Add the duties that follow from what is refuted of the same subject."""
    claim = row.claim
    found = list(claim.duties)
    for other in rows:
        name = other.claim.guarantee
        if (
            other.claim.name == claim.name
            and name in _DUTIES
            and other.verdict is Verdict.REFUTED
            and row.verdict is not Verdict.REFUTED
            and _DUTIES[name][0] == claim.guarantee
        ):
            found.append(_DUTIES[name][1])
    return replace(row, duties=tuple(dict.fromkeys(found)))


def expectable(verdict: Verdict) -> str:
    """Say as what a claim with this verdict may be stated."""
    if verdict.holds:
        return HOLDS
    return REFUTED if verdict is Verdict.REFUTED else UNDECIDED
