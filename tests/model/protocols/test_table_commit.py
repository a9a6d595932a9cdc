"""Commits to a table by a catalog: what a swap does that a lock does not."""

from __future__ import annotations

import pytest

from onceproof.model.protocols.parts.table_logs import CatalogLock, CatalogSwap
from onceproof.model.protocols.table_commit import TableCommit
from onceproof.properties.judges.by_search import check
from onceproof.properties.verdicts import Verdict


def verdicts(**parts):
    """Judge commits with other parts or sizes."""
    return check(TableCommit(**parts)).verdicts


@pytest.mark.parametrize("faults", [0, 1, 2])
def test_a_swap_loses_nothing(faults):
    """Metadata that the catalog never names is not seen."""
    found = verdicts(log=CatalogSwap, faults=faults)

    assert all(verdict.holds for verdict in found.values())


def test_three_writers_swap_in_turn():
    """Each of them has its version in the end."""
    found = verdicts(log=CatalogSwap, WRITER=3)

    assert all(verdict.holds for verdict in found.values())


def test_a_lock_that_times_out_loses_a_commit_without_any_fault():
    """It is enough that its holder pauses."""
    report = check(TableCommit(log=CatalogLock, faults=0))

    found = next(f for f in report.findings if f.property.name == "durable")
    assert found.verdict is Verdict.REFUTED
    assert found.trace is not None
    assert "log.time_out" in [event.name for event in found.trace.events]
