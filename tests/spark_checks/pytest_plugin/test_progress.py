"""While a replay runs, its progress is shown where somebody reads it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

TEST = """
import os
import sys

import pytest

from onceproof.spark_checks.pytest_plugin.progress import shown_progress
from onceproof.spark_checks.replay import events


def replayed(config, capfd, fails):
    with shown_progress(config) as listen:
        print("of the test")
        listen(events.Started(("shop.py::shop",), "/scratch"))
        listen(events.SinkBegun("shop.py::shop", 40))
        for _ in range(3):
            listen(events.Replayed("shop.py::shop", None, None))
        if fails:
            raise RuntimeError("in the midst")
        listen(events.Finished(1.0))
    assert capfd.readouterr() == ("of the test\\n", "")


def test_held(pytestconfig, capfd):
    replayed(pytestconfig, capfd, fails=False)


def test_fails(pytestconfig, capfd):
    with pytest.raises(RuntimeError):
        replayed(pytestconfig, capfd, fails=True)
"""
BEGIN = "onceproof: shop: 0 of 40 interleavings replayed"


@pytest.fixture
def run(pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(TEST)
    return pytester.runpytest_subprocess


@pytest.mark.parametrize(
    ("words", "ci", "lines"),
    [
        ((), "", 0),
        (("-v",), "", 2),
        ((), "true", 2),
        (("-q",), "true", 0),
        (("-v", "-n1"), "true", 0),
        (("-v", "-s"), "", 2),
    ],
)
def test_a_log_has_a_line_where_a_replay_begins(run, monkeypatch, words, ci, lines):
    """Verbose, or of CI; a worker of xdist shows nothing, and nothing is captured."""
    if ci:
        monkeypatch.setenv("CI", ci)

    done = run(*words, "-p", "no:cacheprovider")

    shown = done.stdout.str() + done.stderr.str()
    assert done.ret == 0, shown
    assert shown.count(BEGIN) == lines
    assert "onceproof: shop: 3 of 40" not in shown


def test_a_terminal_has_one_line_that_changes_and_goes(pytester, monkeypatch):
    """What pytest writes of the tests stands as it does without any replay."""
    monkeypatch.delenv("CI", raising=False)
    path = pytester.makepyfile(TEST)
    ours, theirs = os.openpty()
    words = ["-p", "no:cacheprovider", "--color=no", str(path)]

    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", *words],
        stdout=theirs,
        stderr=subprocess.STDOUT,
        env={**os.environ, "COLUMNS": "100", "TERM": "xterm"},
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            some = os.read(ours, 4096)
        except OSError:
            break
        if not some:
            break
        seen += some
    os.close(ours)

    text = seen.decode()
    assert run.wait() == 0, text
    assert "\ronceproof: Spark starts" in text
    assert f"\r{BEGIN}" in text
    assert "\ronceproof: shop: 3 of 40 interleavings replayed" in text
    left = [line.rpartition("\r")[2].rstrip() for line in text.split("\r\n")]
    assert not any("onceproof: shop" in line for line in left)
    assert "2 passed" in left[-2]
