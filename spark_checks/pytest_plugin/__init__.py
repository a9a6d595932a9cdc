"""The pytest plugin: a user's own sink, judged in a test.

Importing it imports neither Spark nor z3: what a test does not use costs nothing.
"""

from onceproof.spark_checks.pytest_plugin.hooks import (
    onceproof_grid,
    onceproof_replay,
    onceproof_spark,
    pytest_addoption,
    pytest_configure,
    pytest_report_collectionfinish,
    pytest_runtest_call,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    pytest_sessionfinish,
    pytest_terminal_summary,
)

__all__ = [
    "onceproof_grid",
    "onceproof_replay",
    "onceproof_spark",
    "pytest_addoption",
    "pytest_configure",
    "pytest_report_collectionfinish",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
]
