"""Points of a user's code are numbered alike in every run."""

from __future__ import annotations

import pytest

from onceproof.spark_checks.inject.tracing.injection_points import seen_in
from onceproof.spark_checks.inject.tracing.line_trace import file_of
from onceproof.spark_checks.sinks.code_points import DRIVER

MAIN, ONE, OTHER = "7.1\t", "11+7.1\t", "12+7.1\t"
FIRST = [ONE + "a", ONE + "b", MAIN + "y", OTHER + "a", OTHER + "b", MAIN + "z"]
LAST = [MAIN + "y", OTHER + "a", OTHER + "b", ONE + "a", MAIN + "z", ONE + "b"]


@pytest.mark.parametrize("noted", [FIRST, LAST])
def test_threads_may_run_in_any_order(tmp_path, noted):
    """What the main thread comes to is first, and its return is the end."""
    ends = [MAIN + "the return of write()", ONE + "the return of put()"]
    lines = [MAIN + "x", *noted, *ends]
    (tmp_path / file_of(DRIVER, 0)).write_text("\n".join(lines) + "\n")

    seen = seen_in(tmp_path, 1, callback=True)

    found = [str(point) for point in seen.driver[0]]
    assert found == ["x", "y", "z", "a", "a, time 2", "b", "b, time 2"]
    assert seen.last[0].text == "the return of write()"
