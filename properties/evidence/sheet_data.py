"""A guarantee sheet as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from onceproof.properties.evidence.sheet import UNSUPPORTED
from onceproof.properties.evidence.sheet_words import fault_set
from onceproof.properties.schema import FileFormat

if TYPE_CHECKING:
    from onceproof.properties.evidence.sheet import Sheet, SheetRow

FORMAT = FileFormat("onceproof guarantee sheet", 2, "guarantee sheet")


def as_data(sheet: Sheet) -> dict[str, Any]:
    """Return a sheet as plain data, with its format and schema."""
    return {
        **FORMAT.head,
        "command": sheet.command,
        "rows": [_row(row) for row in sheet.rows],
        "unclaimed": [
            {
                "record": address,
                "subject": record.subject,
                "guarantee": record.guarantee,
                "verdict": str(record.verdict),
                "stale": list(sheet.stale[address].why)
                if address in sheet.stale
                else [],
            }
            for address, record in sheet.unclaimed.items()
        ],
        "measurements": [
            {"file": name, **found.to_json()}
            for name, found in sheet.measurements.items()
        ],
    }


def _row(row: SheetRow) -> dict[str, Any]:
    claim = row.claim
    return {
        "subject": claim.name,
        "group": claim.group,
        "guarantee": claim.guarantee,
        "aspect": claim.aspect,
        "claim": claim.text,
        "faults": claim.faults,
        "fault_set": list(fault_set(row)),
        "expected": claim.expected,
        "verdict": str(row.verdict or UNSUPPORTED),
        "assumptions": [asdict(one) for one in row.assumptions],
        "duties": list(row.duties),
        "evidence": [
            {"record": address, **record.to_json()}
            for address, record in row.live.items()
        ],
        "stale": [
            {
                "record": address,
                "why": list(one.why),
                "verdict": str(one.record.verdict),
                "scope": dict(one.record.scope),
                "command": one.record.command,
            }
            for address, one in row.stale.items()
        ],
        "refuted_with_more_faults": sorted(row.beyond),
        "of_too_few_faults": sorted(row.fewer),
    }
