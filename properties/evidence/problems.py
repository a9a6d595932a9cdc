"""What is wrong with a guarantee sheet, and the command that fixes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.text import nearest, shell_word
from onceproof.properties.evidence.sheet import expectable
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onceproof.properties.evidence.record import Evidence
    from onceproof.properties.evidence.sheet import Claim, Sheet, SheetRow


@dataclass(frozen=True)
class Problem:
    """Why a sheet cannot stay as it is, and the command that fixes it."""

    what: str
    """The claim or record that is wrong."""
    why: str
    """What is wrong with it."""
    fix: str
    """What to do about it."""

    def __str__(self) -> str:
        """Say it in a line."""
        return f"{self.what}: {self.why}; {self.fix}"


def problems_of(sheet: Sheet) -> list[Problem]:
    """List the claims that are stale, unsupported, or not as they are stated.

    A record of a claim that does not exist any more is a problem, too.
    """
    found = [
        problem
        for row in sheet.rows
        for problem in (*_of_records(row), *_of_claim(row, sheet))
    ]
    for address, stale in sheet.stale.items():
        if stale.gone:
            why = f"it is evidence of what is no more: {', '.join(stale.why)}"
            found.append(Problem(address, why, f"run {drop(address)}"))
    return found


def drop(address: str) -> str:
    """Return the command that removes a record."""
    return f"onceproof guarantees --drop {shell_word(address)}"


def _of_records(row: SheetRow) -> Iterator[Problem]:
    claim = row.claim
    for address, stale in row.outdated.items():
        refutes = stale.record.verdict is Verdict.REFUTED
        which = f"{address}, which refutes it," if refutes else address
        fix = f"run {stale.record.command}"
        if row.live or claim.missing or stale.gone:
            fix += f", or, if that is no longer run, {drop(address)}"
        why = f"{which} is stale: {', '.join(stale.why)}"
        yield Problem(_name(claim), why, fix)


def _of_claim(row: SheetRow, sheet: Sheet) -> Iterator[Problem]:
    claim, verdict = row.claim, row.verdict
    if verdict is None and claim.missing:
        yield Problem(_name(claim), claim.missing, "state what there is by now")
    elif verdict is None and not row.outdated:
        fix = f"run {claim.command}"
        if near := _near(claim, sheet.unclaimed.values()):
            fix = f"state {near!r} if that is what is meant, or {fix}"
        if any(not record.fault_set for record in row.fewer.values()):
            fix = "state faults = 0"
        yield Problem(_name(claim), row.why_unsupported, fix)
    elif verdict is not None and not row.as_expected:
        why = f"it is stated as {claim.expected!r}, and the evidence says {verdict}"
        fix = f'fix it, or state expected = "{expectable(verdict)}"'
        yield Problem(_name(claim), why, fix)


def _name(claim: Claim) -> str:
    return f"{claim.name}, {claim.guarantee}"


def _near(claim: Claim, unclaimed: Iterable[Evidence]) -> str:
    """Name the subject of evidence that nothing is claimed of, if it is much alike."""
    names = {r.subject for r in unclaimed if r.guarantee == claim.guarantee}
    names.discard(claim.subject)
    last = claim.subject.rpartition("::")[2]
    alike = [name for name in names if name.rpartition("::")[2] == last]
    alike += filter(None, [nearest(claim.subject, names)])
    return min(alike, default="")
