"""The pytest plugin: a user's own sink, judged in a test.

Importing it imports neither Spark nor z3: what a test does not ask for costs nothing.
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from onceproof.spark_checks.judged import Judged
    from onceproof.spark_checks.sinks.interface import UnderTest

MARKER = "effectively_once"
_WORDS = ("key", "faults", "batches")
_JUDGED = pytest.StashKey[list[tuple[str, int, str]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("onceproof", "replays of sinks on real PySpark")
    group.addoption(
        "--onceproof-faults",
        type=int,
        default=None,
        help="how many faults an interleaving may hold, whatever the markers say",
    )
    group.addoption(
        "--onceproof-artifacts",
        default=None,
        metavar="DIR",
        help="where counterexamples are written (default: .onceproof)",
    )
    parser.addini("onceproof_artifacts", "where counterexamples are written")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(key, faults=1, batches=2): the sinks that the test gives to "
        "onceproof_replay are judged under every failure interleaving with so many "
        "faults, over so many micro-batches; events are matched by their key",
    )
    config.stash[_JUDGED] = []


@pytest.fixture
def onceproof_replay(
    request: pytest.FixtureRequest,
) -> Callable[[Callable[[Any], UnderTest]], Judged]:
    """Run a sink through every failure interleaving; fail where it breaks.

    The function that it gives takes another, which builds the sink for a fresh and
    empty target, and is called once for each interleaving.
    """
    asked = _asked(request)

    def replay(build: Callable[[Any], UnderTest]) -> Judged:
        from onceproof.spark_checks.judged import judge  # noqa: PLC0415 - imports Spark

        judged = judge(
            build,
            code=Path(request.config.rootpath),
            faults=asked["faults"],
            batches=asked["batches"],
            artifacts=_artifacts(request.config),
        )
        node, verdict = request.node, str(judged.verdict)
        node.user_properties.append(("onceproof_verdict", verdict))
        node.user_properties.append(("onceproof_interleavings", judged.replayed))
        request.config.stash[_JUDGED].append((node.nodeid, judged.replayed, verdict))
        if not judged.holds:
            node.add_report_section("call", "onceproof", judged.story)
            pytest.fail(judged.headline, pytrace=False)
        return judged

    return replay


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say how many sinks were judged, and how."""
    judged = config.stash.get(_JUDGED, [])
    if not judged:
        return
    terminalreporter.section("onceproof")
    for node, replayed, verdict in judged:
        terminalreporter.write_line(f"{verdict}: {node}, {replayed} interleavings")


def _asked(request: pytest.FixtureRequest) -> dict[str, int]:
    """Read the marker of a test.

    Raises ``pytest.UsageError`` for a word or a value that the marker does not take.
    """
    mark = request.node.get_closest_marker(MARKER)
    if mark is None:
        message = f"onceproof_replay needs a marker: @pytest.mark.{MARKER}(key=...)"
        raise pytest.UsageError(message)
    for word in mark.kwargs:
        if word not in _WORDS:
            near = difflib.get_close_matches(word, _WORDS, n=1)
            hint = f"did you mean {near[0]}=?" if near else f"it takes {_WORDS}"
            message = f"{MARKER} has no {word}=; {hint}"
            raise pytest.UsageError(message)
    if mark.args or mark.kwargs.get("key") != "flight_id":
        message = (
            f'{MARKER} takes key="flight_id": events are flights, and rows of your own '
            "are not supported yet"
        )
        raise pytest.UsageError(message)
    given = request.config.getoption("--onceproof-faults")
    asked = {
        "faults": mark.kwargs.get("faults", 1) if given is None else given,
        "batches": mark.kwargs.get("batches", 2),
    }
    for word, most in (("faults", 3), ("batches", 8)):
        if type(asked[word]) is not int or not 1 <= asked[word] <= most:
            message = f"{word} must be 1 to {most}, not {asked[word]!r}"
            raise pytest.UsageError(message)
    return asked


def _artifacts(config: pytest.Config) -> Path:
    given = config.getoption("--onceproof-artifacts")
    named = given or config.getini("onceproof_artifacts") or ".onceproof"
    return Path(config.rootpath, str(named))
