"""What was judged in a test: a marked test that judged nothing does not pass.

The replayer notes each call here, and how it ended, on the running test. When the test
has run, its report must agree: it passes only if a sink was judged in it, and each sink
held. An exception that the test swallows changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

MARKER = "effectively_once"
FIXTURE = "onceproof_replay"
GRID_FIXTURE = "onceproof_grid"
_EMPTY = "got empty parameter set"


@dataclass
class Judgements:
    """The calls of the replayer in one test."""

    held: int = 0
    """How many verdicts on sinks hold."""
    queries: int = 0
    """How many verdicts on queries hold."""
    wrong: list[str] = field(default_factory=list)
    """The first line of each verdict that does not hold."""
    unserved: list[str] = field(default_factory=list)
    """The first line of each call that ended without a verdict."""
    beside: list[str] = field(default_factory=list)
    """The sinks that were replayed, and that a counterexample file is not about."""


CURRENT = pytest.StashKey[pytest.Item]()
_JUDGEMENTS = pytest.StashKey[Judgements]()


def begin(item: pytest.Item) -> None:
    """Begin a test: forget what an earlier run of it judged."""
    item.config.stash[CURRENT] = item
    item.stash[_JUDGEMENTS] = Judgements()


def judgements_of(item: pytest.Item) -> Judgements:
    """Return what was judged in a test so far."""
    return item.stash.setdefault(_JUDGEMENTS, Judgements())


def claimed(item: pytest.Item) -> bool:
    """Return whether a test's marker or arguments claim that it judges something."""
    return _claims_sink(item) or GRID_FIXTURE in _taken(item)


def _claims_sink(item: pytest.Item) -> bool:
    return item.get_closest_marker(MARKER) is not None or FIXTURE in _taken(item)


def _taken(item: pytest.Item) -> tuple[str, ...]:
    info = getattr(item, "_fixtureinfo", None)
    return tuple(getattr(info, "argnames", ()))


def settle(
    item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport
) -> None:
    """Turn the report of a test into a failure where it claims more than was judged.

    A test that ends by ``pytest.skip`` or ``pytest.xfail`` stays as it is, unless it
    skips after a verdict that does not hold. A test that is marked xfail fails as
    expected only if a sink was judged in it.
    """
    if report.when == "setup" and claimed(item) and _without_parameters(item):
        _fail(report, "no sink was judged: there is no value for its parameters")
    if report.when != "call" or report.failed or not claimed(item):
        return
    found = judgements_of(item)
    ended = None if call.excinfo is None else call.excinfo.value
    if isinstance(ended, pytest.xfail.Exception):
        return
    if report.passed or isinstance(ended, pytest.skip.Exception):
        if found.wrong:
            _fail(report, f"the test goes on after a verdict: {found.wrong[0]}")
            return
        if isinstance(ended, pytest.skip.Exception):
            return
    if found.unserved and not found.wrong:
        _fail(report, f"a sink was not judged: {found.unserved[0]}")
    elif GRID_FIXTURE in _taken(item) and not found.queries and not found.wrong:
        what = f"the test takes {GRID_FIXTURE} and never calls it"
        _fail(report, f"no query was judged: {what}; help: {GRID_FIXTURE}(query)")
    elif _claims_sink(item) and not found.held and not found.wrong:
        why = found.beside[0] if found.beside else _what_to_do(item)
        _fail(report, f"no sink was judged: {why}")


def _without_parameters(item: pytest.Item) -> bool:
    """Return whether pytest skips a test that is parametrized over nothing."""
    return any(
        str(mark.kwargs.get("reason", "")).startswith(_EMPTY)
        for mark in item.iter_markers("skip")
    )


def _what_to_do(item: pytest.Item) -> str:
    given = set(getattr(item, "fixturenames", ()))
    if FIXTURE in _taken(item) or (FIXTURE in given and GRID_FIXTURE not in given):
        return f"the test takes {FIXTURE} and never calls it; help: {FIXTURE}(sink)"
    return (
        f"the test is marked {MARKER}, and does not take {FIXTURE}; take it as an "
        "argument and give it the sink, or mark only tests that do"
    )


def _fail(report: pytest.TestReport, message: str) -> None:
    report.outcome = "failed"
    report.longrepr = message
    if hasattr(report, "wasxfail"):
        del report.wasxfail
