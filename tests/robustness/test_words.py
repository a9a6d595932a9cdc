"""Words of a command line that cannot be served are refused in one sentence."""

from __future__ import annotations

import pytest

from tests.robustness.harness import Case, refused

CASES = (
    Case("check without a protocol", ("check",), said="name a protocol"),
    Case("check of an empty name", ("check", ""), said="is given an empty text"),
)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_refused(case, there):
    """With exit status 2, and nothing left behind."""
    refused(case, there)
