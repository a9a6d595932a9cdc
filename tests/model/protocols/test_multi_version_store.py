"""A reader of one version sees a transaction whole."""

from __future__ import annotations

import pytest

from onceproof.model.library import make
from onceproof.properties.judges.by_search import check


@pytest.mark.ci
def test_a_read_of_the_latest_versions_is_skewed_by_a_commit():
    """The commit comes between two reads; no fault is needed."""
    report = check(make("multi-version-store", {"reader": "read-skew"}))

    found = next(
        f.trace for f in report.findings if f.property.name == "atomic-visibility"
    )

    assert found is not None
    steps = [event.name for event in found.events]
    assert steps == [
        "write",
        "write",
        "begin",
        "read_row",
        "commit",
        "read_row",
        "finish",
    ]
