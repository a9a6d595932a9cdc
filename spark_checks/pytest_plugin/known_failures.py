"""Failures that are known: each with a reason, and a day up to which it is accepted.

The file is ``onceproof_expect.toml``::

    [[expected]]
    test = "tests/test_sinks.py::test_orders"
    guarantee = "effectively-once"
    reason = "appends; the upsert is planned"
    expires = 2027-01-31
"""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.files import read_toml
from onceproof.properties.guarantees import GUARANTEES
from onceproof.spark_checks.pytest_plugin.options import unknown

if TYPE_CHECKING:
    from pathlib import Path

_WORDS = {"test": str, "guarantee": str, "reason": str, "expires": dt.date}


@dataclass(frozen=True)
class Expected:
    """A known failure."""

    test: str
    """The test that fails."""
    guarantee: str
    """The guarantee that is broken; empty for any."""
    reason: str
    """Why the failure is accepted."""
    expires: dt.date
    """The last day on which it is accepted."""

    def expired(self, today: dt.date) -> bool:
        """Return whether the day has passed until which it is accepted."""
        return today > self.expires

    def about(self, node: str, guarantee: str) -> bool:
        """Return whether it is about a guarantee of a test, whatever its parameters."""
        same = node == self.test or node.partition("[")[0] == self.test
        return same and guarantee in (self.guarantee, "")


def read_expected(path: Path) -> tuple[Expected, ...]:
    """Read the file, which may be absent.

    Raises ``UsageError`` for a file of another form.
    """
    if not os.path.lexists(path):
        return ()
    data = read_toml(path)
    for name in data:
        if name != "expected":
            raise UsageError(unknown(str(path), name, ("expected",)))
    entries = data.get("expected", [])
    if not isinstance(entries, list):
        message = f"{path}: expected must be a list of tables, as [[expected]]"
        raise UsageError(message)
    return tuple(_entry(path, n, entry) for n, entry in enumerate(entries, 1))


def end_of(path: Path, node: str, guarantee: str, headline: str) -> str:
    """End a test as an expected failure; return what is said of one that is too old.

    Raises ``pytest.xfail.Exception`` for a failure that the file at ``path`` expects.
    """
    for known in read_expected(path):
        if known.about(node, guarantee) and guarantee:
            if known.expired(dt.datetime.now(tz=dt.UTC).date()):
                return f" (expected until {known.expires}: {known.reason})"
            pytest.xfail(f"until {known.expires}: {known.reason}; {headline}")
    return ""


def refuse_fixed(path: Path, node: str, headline: str) -> None:
    """Fail a test that holds, and that the file at ``path`` expects to fail."""
    for known in read_expected(path):
        if known.about(node, ""):
            message = (
                f"{headline}: what {path.name} expects is fixed ({known.reason}); take "
                "the entry out"
            )
            pytest.fail(message, pytrace=False)


def _entry(path: Path, number: int, entry: Any) -> Expected:
    where = f"{path}, entry {number},"
    if not isinstance(entry, dict):
        message = f"{where} is no table; write [[expected]] above its words"
        raise UsageError(message)
    for name in entry:
        if name not in _WORDS:
            raise UsageError(unknown(where, name, _WORDS))
    for name, kind in _WORDS.items():
        value = entry.get(name)
        if isinstance(value, dt.datetime):
            value = entry[name] = value.date()
        if not isinstance(value, kind) or not value:
            what = "a day, such as 2027-01-31" if kind is dt.date else "a text"
            message = f"{where} needs {name} = {what}"
            raise UsageError(message)
    if entry["guarantee"] not in (names := [prop.name for prop in GUARANTEES]):
        raise UsageError(unknown(f"{where} guarantee", entry["guarantee"], names))
    return Expected(**entry)
