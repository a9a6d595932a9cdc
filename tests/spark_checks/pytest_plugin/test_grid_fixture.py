"""A test's own streaming query is judged by the fixture ``onceproof_grid``."""

from __future__ import annotations

import pytest

from onceproof.model.errors import UsageError
from onceproof.spark_checks.pytest_plugin.grid_judge import _spec_of
from onceproof.spark_checks.queries.query_spec import OutputMode, QuerySpec

QUIET = """
import pytest
from onceproof.spark_checks.grid.grid_run import GridReport
from onceproof.spark_checks.pytest_plugin import grid_judge

def test_never_calls(onceproof_grid):
    pass

@pytest.mark.effectively_once(key="id")
def test_marked_for_a_sink(onceproof_grid, monkeypatch):
    def report(*_, **__):
        return GridReport((), (), "4")

    with monkeypatch.context() as patch:
        patch.setattr(grid_judge, "refuse_patches", lambda _: None)
        patch.setattr(grid_judge, "run_grid", report)
        patch.setattr(GridReport, "status", lambda _: 0)
        onceproof_grid(list)

def test_swallows(onceproof_grid):
    try:
        onceproof_grid(lambda events: events, modus="update")
    except BaseException:
        pass

def test_not_run_so(onceproof_grid):
    onceproof_grid(list, stateful=False, configurations="provider=rocksdb")
"""

QUERIES = """
import pandas as pd
from onceproof.spark_checks import QuerySpec
from pyspark.sql import functions as F


def double(amount):
    return amount * 2


def doubled(parts):
    for part in parts:
        yield pd.DataFrame({"id": part["id"], "amount": double(part["amount"])})


def mapped(events):
    return events.mapInPandas(doubled, "id long, amount long")


def receipts(events):
    return events.select("id", F.expr("uuid()").alias("receipt"))


def test_right(onceproof_grid):
    report = onceproof_grid(mapped, stateful=False, watermarked=False)
    assert len(report.cells) > 10

def test_wrong(onceproof_grid):
    onceproof_grid(QuerySpec("receipts", receipts, stateful=False, watermarked=False))

def test_expected(onceproof_grid):
    onceproof_grid(receipts, stateful=False, watermarked=False)
"""

EXPECTED = """
[[expected]]
test = "test_queries.py::test_expected"
guarantee = "batch-equivalence"
reason = "the receipts are random"
expires = 2999-01-01
"""


def test_a_function_and_its_fields_are_a_query():
    """What is written by hand is read as a QuerySpec is made."""

    def totals(events):
        return events

    spec = _spec_of(totals, {"mode": "update", "key": "key"})

    assert spec == QuerySpec("totals", totals, OutputMode.UPDATE, ("key",))


@pytest.mark.parametrize(
    ("query", "fields", "says"),
    [
        ("totals", {}, "a query is a QuerySpec, or a function"),
        (len, {"modus": "update"}, "did you mean mode="),
        (len, {"mode": "upsert"}, "mode is one of append, update, complete"),
        (QuerySpec("totals", len), {"mode": "update"}, "has its mode already"),
    ],
)
def test_what_is_no_query_is_refused(query, fields, says):
    with pytest.raises(UsageError, match=says):
        _spec_of(query, fields)


def test_a_test_that_judges_no_query_fails(pytester):
    """One never calls it, one swallows the verdict, one asks for what cannot be."""
    pytester.makepyfile(test_quiet=QUIET)

    result = pytester.runpytest_subprocess("-p", "no:xdist", "-p", "no:cacheprovider")

    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        [
            "*no query was judged: the test takes onceproof_grid and never*",
            "no sink was judged: the test is marked effectively_once*",
            "*a query has no modus=*",
            "*there is nothing to run: it has no state*",
        ]
    )


@pytest.mark.spark
@pytest.mark.grid
def test_a_query_of_the_test_is_judged(pytester):
    """A right one passes, a wrong one fails, and a known failure is expected."""
    pytester.makepyfile(test_queries=QUERIES)
    pytester.path.joinpath("onceproof_expect.toml").write_text(EXPECTED)

    result = pytester.runpytest_subprocess("-p", "no:xdist", "-rA")

    result.assert_outcomes(passed=1, failed=1, xfailed=1)
    result.stdout.fnmatch_lines_random(
        [
            "held: test_queries.py::test_right, * cells; one fault each; PySpark *",
            "Not batch-equivalence, not recoverable: receipts [[]default[]] *",
            "*the receipts are random*",
        ]
    )
