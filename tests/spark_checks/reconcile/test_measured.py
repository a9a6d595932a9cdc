"""A reconciliation becomes a measurement that does not contradict itself."""

from __future__ import annotations

import pytest

from onceproof.properties.evidence.measurements.measurement import contradiction_of
from onceproof.properties.evidence.measurements.store import keep, measurements
from onceproof.spark_checks.reconcile.measured import measurement_of
from tests.spark_checks.reconcile.counted import READ, outcome, reconciled


@pytest.mark.parametrize(
    "outcomes",
    [
        [outcome("1")],
        [outcome("1"), outcome("2", visible=0)],
        [outcome("1", visible=2)],
        [outcome("1"), outcome(None, sources=0)],
        [outcome("1", sources=2)],
        [outcome("1", owed=False)],
        [outcome("1", sums=(3, 4)), outcome("2", sums=(4, 3))],
        [],
    ],
)
def test_whatever_was_counted_can_be_kept(tmp_path, outcomes):
    """It is read as it was kept, with the moment, the tables and all verdicts."""
    found = reconciled(*outcomes)

    made = measurement_of(found, READ)

    keep(made, tmp_path)
    assert contradiction_of(made) == ""
    assert [*measurements(tmp_path).values()] == [made]
    assert made.verdicts == found.verdicts
    assert made.sink == READ.sink
    assert made.ended == "2026-02-01T03:05:06Z"
    assert made.counts.missing == found.total.missing
    assert made.command.endswith("--evidence")


def test_two_empty_tables_have_sums_of_nothing():
    """They are shown as such, and decide nothing."""
    found = reconciled()

    assert found.to_json()["total"]["sums"] == {
        "amount": {"source": None, "sink": None}
    }
    assert found.status == 2
