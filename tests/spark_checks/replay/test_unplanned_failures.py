"""A query that fails though no fault was injected is started again, or run anew."""

from __future__ import annotations

import zipfile
from dataclasses import fields
from pathlib import Path

import pyspark
import pytest

from onceproof.spark_checks.plan.run_plan import RunPlan
from onceproof.spark_checks.replay.steering.query_run import QueryResult
from onceproof.spark_checks.replay.steering.steered_query import SteeredQuery
from onceproof.spark_checks.session.private_names import COMMIT_DENIED

DENIED = f"[STREAM_FAILED] Query [id = 5]: {COMMIT_DENIED} 0 (task 17, attempt 1)"
JARS = Path(pyspark.__file__).parent / "jars"


class Query:
    """Fails as often as it is given errors, and is started each time."""

    def __init__(self, *errors):
        self._errors = list(errors)
        self.started = 0

    def once(self, run):
        self.started += 1
        return QueryResult(self._errors.pop(0) if self._errors else "")


@pytest.fixture
def steered():
    """Give a query that was steered and has failed, with what it does from then on."""

    def make(*later):
        made = SteeredQuery.__new__(SteeredQuery)
        made.unplanned, made.rested, made._query = [], False, Query(*later)
        return made

    return make


RUN = RunPlan(**dict.fromkeys(field.name for field in fields(RunPlan)))


def test_a_failure_that_no_fault_explains_is_noted(steered):
    """The query is started again, until it ends well."""
    query = steered("ValueError: no", "")

    found = query._heal(RUN, QueryResult("ValueError: once"))

    assert not found
    assert query.rested
    assert query.unplanned == ["ValueError: once", "ValueError: no"]


def test_a_scheduler_that_was_late_is_no_failure_of_the_sink(steered):
    """The interleaving is run anew: Spark denied an attempt what it had not freed."""
    query = steered("")

    found = query._heal(RUN, QueryResult(DENIED))

    assert found.help
    assert found.reason == DENIED
    assert query.unplanned == []
    assert query._query.started == 0


def test_spark_says_so_in_these_words():
    """A version that says it in others fails here."""
    texts = [
        jar.read(name).decode()
        for path in JARS.glob("spark-common-utils*.jar")
        for jar in [zipfile.ZipFile(path)]
        for name in jar.namelist()
        if name.startswith("error/error-")
    ]

    assert any(COMMIT_DENIED in text for text in texts)
