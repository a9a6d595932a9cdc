"""The hooks that pytest calls, and the fixtures for tests.

Importing it imports neither Spark nor z3: what a test does not use costs nothing.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.text import shell_word
from onceproof.spark_checks.pytest_plugin import judgements
from onceproof.spark_checks.pytest_plugin.options import (
    add_options,
    expected_in,
    options_of,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from pyspark.sql import SparkSession

    from onceproof.spark_checks.pytest_plugin.grid_judge import GridJudge
    from onceproof.spark_checks.pytest_plugin.replayer import Replayer
    from onceproof.spark_checks.session.interruption import Signals

_FIXTURES = ("onceproof_grid", "onceproof_replay", "onceproof_spark")
_MARKER = (
    "effectively_once(key, faults=1, batches=2, partitions=2, guarantees=(...), "
    "allow=(), code=()): judge each sink that the test passes to onceproof_replay in "
    "every failure interleaving with at most `faults` faults, over events in `batches` "
    "micro-batches; `key` is the column, or the columns, that identify an event; a "
    "test that judges no sink fails"
)
_REPLAYER = pytest.StashKey["Replayer"]()
_SIGNALS = pytest.StashKey["Signals"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture(scope="session")
def onceproof_replay(
    pytestconfig: pytest.Config, request: pytest.FixtureRequest
) -> Iterator[Replayer]:
    """Replay a sink in every failure interleaving; fail the test if a guarantee breaks.

    Pass it a function that builds the sink for a fresh, empty target. Onceproof calls
    the function for each run. The Spark session stays warm between tests. SIGTERM and
    SIGHUP stop pytest as Ctrl-C does, so that Spark ends and sinks are cleaned up.
    """
    from onceproof.spark_checks.pytest_plugin.replayer import Replayer  # noqa: PLC0415
    from onceproof.spark_checks.session.interruption import Signals  # noqa: PLC0415

    options = options_of(pytestconfig)
    own = request.getfixturevalue(options.fixture) if options.fixture else None
    signals = pytestconfig.stash[_SIGNALS] = Signals()
    with signals.heeded():
        replayer = Replayer(pytestconfig, options, own)
        pytestconfig.stash[_REPLAYER] = replayer
        try:
            yield replayer
        finally:
            replayer.pool.close()


@pytest.fixture
def onceproof_spark(onceproof_replay: Replayer) -> Iterator[SparkSession]:
    """Return the Spark session of the replays, for example to build sample events."""
    with onceproof_replay.pool.session(attempts=2, partitions=2) as session:
        yield session.spark


@pytest.fixture
def onceproof_grid(
    pytestconfig: pytest.Config, onceproof_replay: Replayer
) -> GridJudge:
    """Judge a streaming query in the grid; fail the test if a guarantee breaks.

    Pass it a function that turns the events of the grid into the query's result.
    """
    from onceproof.spark_checks.pytest_plugin.grid_judge import GridJudge  # noqa: PLC0415

    return GridJudge(onceproof_replay, options_of(pytestconfig))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Set the running test in the replayer, if there is one already."""
    judgements.begin(item)
    replayer = item.config.stash.get(_REPLAYER, None)
    if replayer is not None:
        replayer.begin(item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Set the running test in the replayer, which may have been made for it."""
    replayer = item.config.stash.get(_REPLAYER, None)
    if replayer is not None:
        replayer.begin(item)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let a test that claims to judge a sink pass only if it did."""
    report = yield
    judgements.settle(item, call, report)
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Exit with 128 and the number of the signal that stopped pytest, if one did."""
    signals: Signals | None = session.config.stash.get(_SIGNALS, None)
    if signals is not None and signals.number != signal.SIGINT:
        session.exitstatus = signals.status


def pytest_report_collectionfinish(
    config: pytest.Config, items: list[pytest.Item]
) -> str:
    """Report the options with which sinks are judged, where any are."""
    used = any(set(_FIXTURES) & set(getattr(i, "fixturenames", ())) for i in items)
    return f"onceproof: {options_of(config)}" if used else ""


def pytest_terminal_summary(
    terminalreporter: Any, exitstatus: int, config: pytest.Config
) -> None:
    """Return how many sinks were judged, and how."""
    del exitstatus
    judged, ran = [], set()
    for reports in terminalreporter.stats.values():
        for report in reports:
            ran.add(getattr(report, "nodeid", ""))
            properties = dict(getattr(report, "user_properties", ()) or ())
            if (
                getattr(report, "when", "") == "call"
                and "onceproof_verdict" in properties
            ):
                judged.append((report.nodeid, properties))
    unjudged = _known_failures_unjudged(config, ran, {node for node, _ in judged})
    if not judged and not unjudged:
        return
    terminalreporter.section("onceproof")
    for line in unjudged:
        terminalreporter.write_line(line)
    if not judged:
        return
    terminalreporter.write_line(f"options: {options_of(config)}")
    for node, properties in sorted(judged, key=lambda t: t[0]):
        verdict = properties["onceproof_verdict"]
        number = properties["onceproof_interleavings"]
        counted = properties.get("onceproof_counted", "interleavings")
        of = properties["onceproof_of"]
        where = properties.get("onceproof_file", "")
        again = f"; onceproof replay {shell_word(where)}" if where else ""
        short = properties.get("onceproof_short", "")
        terminalreporter.write_line(
            f"{verdict}: {node}, {number} of {of} {counted}{short}; "
            f"{properties['onceproof_bounds']}{again}"
        )
        for line in str(properties.get("onceproof_left_out", "")).splitlines():
            terminalreporter.write_line(f"  {line}")


def _known_failures_unjudged(
    config: pytest.Config, ran: set[str], judged: set[str]
) -> list[str]:
    """Return which known failures nobody looked at, of the files whose tests ran."""
    path = expected_in(config)
    if not path.exists():
        return []
    from onceproof.spark_checks.pytest_plugin.known_failures import read_expected  # noqa: PLC0415

    try:
        entries = read_expected(path)
    except UsageError as error:
        return [str(error)]
    files = {node.partition("::")[0] for node in ran}
    return [
        f"not judged: {known.test}, which {path.name} expects not to be "
        f"{known.guarantee} until {known.expires}"
        for known in entries
        if known.test.partition("::")[0] in files
        and not any(known.about(node, "") for node in judged)
    ]
