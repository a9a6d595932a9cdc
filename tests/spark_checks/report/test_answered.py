"""A file's replay that time cut short is neither FIXED nor FAILED."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.spark_checks.report.replay_file import answered

FILE = SimpleNamespace(sink="s", property="at-least-once", steps=())


def report_of(*outcomes, left):
    return SimpleNamespace(
        outcomes=outcomes,
        left=left,
        unsteady={},
        missed=[],
        kept={},
        protocol=MicroBatch(),
        sink=SimpleNamespace(code=("x.py",)),
        unobserved=lambda *_: [],
    )


@pytest.fixture
def clean(monkeypatch):
    """Give an outcome that breaks nothing."""
    monkeypatch.setattr(
        "onceproof.spark_checks.report.replay_file._fails", lambda *_: False
    )
    monkeypatch.setattr(
        "onceproof.spark_checks.report.replay_file.steps_of", lambda *_: ()
    )
    one = SimpleNamespace(number=1, trace=None)
    return SimpleNamespace(interleaving=one, spark=object(), known=True)


def test_what_was_left_may_be_what_fails(clean):
    """One of eight was replayed, and held."""
    short = answered(Path("f.json"), FILE, report_of(clean, left=7))
    whole = answered(Path("f.json"), FILE, report_of(clean, left=0))

    assert short.answer == "ERROR"
    assert "time ran out before 7" in str(short)
    assert whole.answer == "FIXED"


def test_a_replay_without_time_says_so():
    """It does not say that the interleaving is gone."""
    found = answered(Path("f.json"), FILE, report_of(left=3))

    assert "time ran out before 3" in str(found)
