"""Counterexample files of a search: what ``onceproof check --output`` writes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from onceproof.properties.counterexample.model_run import told_of
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.properties.judges.by_search import Report


def write_refuted(report: Report, named: str, folder: Path) -> dict[str, str]:
    """Write a file for each property that a search refutes; give their paths by name.

    ``named`` is the protocol as it was typed: a file of the user's own is named in the
    counterexample, so that its model can be made again. Raises ``UsageError`` for a
    folder that cannot be written to.
    """
    own = named.partition(":")[0].endswith(".py")
    found = {}
    for finding in report.findings:
        if finding.verdict is not Verdict.REFUTED or finding.trace is None:
            continue
        told = told_of(report.protocol, finding)
        name = f"{_plain(report.protocol.label())}--{_plain(finding.property.name)}"
        path = folder / f"{name}.json"
        (replace(told, protocol=named) if own else told).write(path)
        found[finding.property.name] = str(path)
    return found


def _plain(name: str) -> str:
    """Give a name as it may stand in that of a file."""
    return re.sub(r"[^\w-]+", "-", name).strip("-")
