"""Failpoints are set around what runs a task, wherever a version of Spark has it."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from onceproof.spark_checks.session import spark_internals

RUNNER = "pyspark.sql.worker.plan_data_source_read"


@pytest.mark.parametrize(
    ("words", "module"),
    [
        ([], "pyspark.worker"),
        (["pyspark.worker"], "pyspark.worker"),
        ([RUNNER], RUNNER),
        (["--other"], "pyspark.worker"),
    ],
)
def test_a_daemon_that_imports_it_in_each_worker_gets_ours(monkeypatch, words, module):
    """So it is from Spark 4.2 on; before, the daemon has it from the start."""
    monkeypatch.setattr(spark_internals, "daemon", SimpleNamespace)
    monkeypatch.setattr(sys, "argv", ["worker", *words])

    found, name = spark_internals.task_runner()

    assert (found.__name__, name) == (module, "main")
    assert callable(getattr(found, name))
