"""The order of tests, for Spark takes long; tests that need a process of their own.

Tests send signals. A shell that starts the tests in the background, and ``nohup``, have
some of them ignored, by the tests and by all that the tests start: this is undone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from hypothesis import settings

# The same command draws the same; --hypothesis-profile=anew draws others each time.
settings.register_profile("same", derandomize=True)
settings.register_profile("anew", derandomize=False)
settings.load_profile("same")

_ALONE = "ONCEPROOF_TEST_ALONE"

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def pool():
    """Give all tests of a process one warm Spark session: its start takes long."""
    from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
    from onceproof.spark_checks.session.session_pool import SessionPool

    made = SessionPool(ENTRY_POINTS)
    with made.session(attempts=2, partitions=2):
        pass
    yield made
    made.close()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)
    if _ALONE not in os.environ:
        for item in items:
            if item.get_closest_marker("own_process"):
                item.fixturenames.clear()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Run what is about a whole process where no other test has been.

    Spark's Java, say, is a child of each process that has used it.
    """
    if not pyfuncitem.get_closest_marker("own_process") or _ALONE in os.environ:
        return None
    options = ("-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, pyfuncitem.nodeid],
        cwd=pyfuncitem.config.rootpath,
        env=os.environ | {_ALONE: "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.fail(done.stdout + done.stderr, pytrace=False)
    return True
