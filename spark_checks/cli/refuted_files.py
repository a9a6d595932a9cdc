"""Counterexample files of the properties that a judge of a model refutes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from onceproof.model.text import slug
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onceproof.properties.judges.by_search import Report


def write_refuted(
    report: Report, named: str, folder: Path, how: Mapping[str, Any]
) -> dict[str, str]:
    """Write a file for each property that is refuted; give their paths by name.

    ``named`` is the protocol as it was typed: a file of the user's own is named in the
    counterexample, so that its model can be made again; ``how`` names the judge and its
    options. Raises ``UsageError`` for a folder that cannot be written to.
    """
    # Most runs refute nothing, and would pay for the import.
    from onceproof.properties.counterexample.model_run import counterexample_of  # noqa: PLC0415

    own = named.partition(":")[0].endswith(".py")
    found = {}
    for finding in report.findings:
        if finding.verdict is not Verdict.REFUTED or finding.trace is None:
            continue
        counterexample = counterexample_of(report.protocol, finding, found_with=how)
        name = f"{slug(report.protocol.label())}--{slug(finding.property.name)}"
        path = folder / f"{name}.json"
        (replace(counterexample, protocol=named) if own else counterexample).write(path)
        found[finding.property.name] = str(path)
    return found
