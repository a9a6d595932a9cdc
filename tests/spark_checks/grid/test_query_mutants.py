"""Queries with realistic mistakes are refuted; right ones beside them never are."""

from __future__ import annotations

import pytest

from onceproof.properties.guarantees import BATCH_EQUIVALENCE
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.grid.cell_runs import CellRuns
from onceproof.spark_checks.grid.grid_faults import GridFault, PlacedFault
from onceproof.spark_checks.queries.configuration import QueryConfiguration
from tests.spark_checks.mutants.queries import CLAIMS, RIGHT, WRONG

pytestmark = [pytest.mark.spark, pytest.mark.ci]

FAULT = PlacedFault(GridFault.BEFORE_COMMITS, 1)
ONLY_AFTER_A_FAULT = {"claimed-in-a-file"}


@pytest.fixture
def cells(pool, tmp_path, monkeypatch):
    """Run a query without a fault, and with one."""
    made = []
    claims = tmp_path / "claims"
    claims.mkdir()
    monkeypatch.setenv(CLAIMS, str(claims))
    with pool.session(attempts=2, partitions=2) as session:

        def run(query):
            one = CellRuns(
                session.fork(), pool.folder("grid"), query, QueryConfiguration()
            )
            made.append(one)
            # The second goes back to what the first has left, outside of Spark too.
            return one.without_fault(), one.with_fault(FAULT)

        yield run
        for one in made:
            one.close()


@pytest.mark.parametrize("query", WRONG, ids=lambda query: query.name)
def test_a_query_with_a_mistake_is_refuted(query, cells):
    plain, hit = cells(query)

    refuted = {
        name
        for name, cell in (("without", plain), ("with", hit))
        if cell.verdict(BATCH_EQUIVALENCE) is Verdict.REFUTED
    }
    assert "with" in refuted, (plain.story(), hit.story(), hit.refusal)
    assert ("without" in refuted) == (query.name not in ONLY_AFTER_A_FAULT)


@pytest.mark.parametrize("query", RIGHT, ids=lambda query: query.name)
def test_a_right_query_is_not_accused(query, cells):
    for cell in cells(query):
        assert not cell.refusal
        assert not cell.refuted, cell.story()
        assert cell.verdict(BATCH_EQUIVALENCE) is Verdict.HELD
