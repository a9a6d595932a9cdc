"""Options of the plugin, on the command line, in the ini file, and by profile."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.text import did_you_mean, seconds_in
from onceproof.spark_checks.inputs.sizes import MOST, MOST_FAULTS, TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Iterable

EXPECTED = "onceproof_expect.toml"
TRACES = ("on", "off", "retain-on-failure")


@dataclass(frozen=True)
class Profile:
    """How thorough a run is."""

    most: int | None
    """How many interleavings of a sink are replayed at most; None for all."""
    faults: int = 1
    """The least budget of faults, whatever markers say."""
    batches: int = 1
    """The least number of batches, whatever markers say."""
    shrink: float = 60.0
    """How many seconds a failing example may be made smaller."""
    stop: bool = False
    """Whether the replay of a sink ends when it is refuted."""


PROFILES = {
    "dev": Profile(most=60, shrink=30.0, stop=True),
    "ci": Profile(most=None, shrink=120.0),
    "nightly": Profile(most=2000, faults=2, batches=3, shrink=600.0),
}


@dataclass(frozen=True)
class Options:
    """The options of the plugin: of the command line, else of the ini file."""

    profile: str
    """The name of the profile."""
    faults: int | None
    """The budget of faults; None for the marker's."""
    batches: int | None
    """How many micro-batches there are; None for the marker's."""
    most: int | None
    """How many interleavings of a sink are replayed at most; None for all."""
    seed: int
    """The seed of random choices."""
    artifacts: Path
    """Where counterexamples are written."""
    trace: str
    """When they are written: ``on``, ``off`` or ``retain-on-failure``."""
    shrink: float
    """How many seconds a failing example may be made smaller."""
    expect: Path
    """The file of known failures."""
    replay: Path | None
    """The counterexample file to replay, if any."""
    spark: dict[str, str]
    """Settings of the Spark session."""
    fixture: str
    """The fixture that provides a Spark session of the user's own."""
    evidence: Path | None = None
    """The folder for records of verdicts, if wanted."""
    timeout: float = TIMEOUT
    """How many seconds the fault-free run of a sink may take."""
    budget: float | None = None
    """After how many seconds no interleaving is begun; None for no limit."""
    every_point: bool = False
    """Whether crashes are injected even where they leave the same as another one."""
    agent: bool = False
    """Whether an agent in Spark's JVM injects faults, if one can be had."""
    kill_drivers: bool = False
    """Whether queries run in drivers with a JVM of their own, which SIGKILL ends."""

    def __str__(self) -> str:
        """Show the options in a line, fit to be typed again."""
        first, *others = self.words.split(" ")
        return " ".join([first, f"--onceproof-seed={self.seed}", *others])

    @property
    def words(self) -> str:
        """Return the options that decide how much is replayed, as they are typed."""
        words = [f"--onceproof-profile={self.profile}"]
        given = {"faults": self.faults, "batches": self.batches}
        words += [f"--onceproof-{k}={v}" for k, v in given.items() if v is not None]
        return " ".join(words)


_OPTIONS: dict[str, dict[str, Any]] = {
    "--onceproof-profile": {
        "metavar": "NAME",
        "help": "how thorough: dev (60 interleavings of a sink, or more if it takes "
        "more to hit every line), ci (all; "
        "chosen by itself where CI is set) or nightly (two faults)",
    },
    "--onceproof-faults": {
        "type": int,
        "metavar": "NUMBER",
        "help": "how many faults an interleaving may hold, whatever the markers say",
    },
    "--onceproof-batches": {
        "type": int,
        "metavar": "NUMBER",
        "help": "how many micro-batches the events arrive in, whatever the markers say",
    },
    "--onceproof-most": {
        "type": int,
        "metavar": "NUMBER",
        "help": "the most interleavings of a sink; each line still gets each kind of "
        "fault, even beyond this number",
    },
    "--onceproof-budget": {
        "metavar": "TIME",
        "help": "after this time, such as 90s, 5m or 1h, no interleaving of a sink "
        "begins; each sink has this time. Those that differ most come first; if some "
        "are left, a sink that is not refuted is undecided",
    },
    "--onceproof-every-point": {
        "action": "store_true",
        "help": "inject a crash before every line of your code. Without this option "
        "one crash is replayed for all lines between which the code leaves nothing "
        "that outlives its process, in the run without faults",
    },
    "--onceproof-agent": {
        "action": "store_true",
        "help": "inject faults inside Spark too, by Byteman in its JVM: tasks of "
        "Spark's own file writer can then outlive their attempt",
    },
    "--onceproof-kill-drivers": {
        "action": "store_true",
        "help": "run each query in a driver with a JVM of its own, and end it by "
        "SIGKILL where the driver dies: some seconds for each start of a query",
    },
    "--onceproof-seed": {
        "type": int,
        "metavar": "NUMBER",
        "help": "the seed of all random choices (default: that of Hypothesis, or 0)",
    },
    "--onceproof-artifacts": {
        "metavar": "DIR",
        "help": "where counterexamples are written (default: .onceproof)",
    },
    "--onceproof-trace": {
        "choices": TRACES,
        "help": "when counterexamples and the folders of their runs are kept; on also "
        "keeps a report of each sink that held (default: retain-on-failure)",
    },
    "--onceproof-shrink-budget": {
        "metavar": "TIME",
        "help": "how long a failing example of @given is shrunk on Spark",
    },
    "--onceproof-timeout": {
        "metavar": "TIME",
        "help": "how long the fault-free run of a sink may take (default: 600); each "
        "other run may take five times as long as that one took, or a minute if that "
        "is longer",
    },
    "--onceproof-expect": {
        "metavar": "FILE",
        "help": "the file of known failures (default: onceproof_expect.toml)",
    },
    "--onceproof-replay": {
        "metavar": "FILE",
        "help": "replay the interleaving of a counterexample file, and no other",
    },
    "--onceproof-evidence": {
        "metavar": "DIR",
        "help": "write a record of each guarantee judged, for onceproof guarantees",
    },
}
"""The options of the command line."""
_INI: dict[str, tuple[Any, ...]] = {
    "onceproof_profile": ("how thorough: dev, ci or nightly",),
    "onceproof_artifacts": ("where counterexamples are written",),
    "onceproof_trace": ("when counterexamples are kept: on, off or retain-on-failure",),
    "onceproof_shrink_budget": ("how long a failing example may be shrunk: 90s, 5m",),
    "onceproof_timeout": ("how long the fault-free run of a sink may take: 90s, 5m",),
    "onceproof_budget": ("after how long no interleaving is begun: 90s, 5m",),
    "onceproof_agent": ("whether faults are injected inside Spark too", "bool"),
    "onceproof_kill_drivers": ("whether drivers are killed by SIGKILL", "bool"),
    "onceproof_expect": ("the file of known failures",),
    "onceproof_evidence": ("where records of guarantees are written",),
    "onceproof_spark": (
        "settings of the Spark session, one a line: spark.jars.packages = ...",
        "linelist",
    ),
    "onceproof_spark_fixture": (
        (
            "a session-scoped fixture that returns a Spark session of your own: "
            "replays take over its settings"
        ),
    ),
}
"""The keys of the ini file: their help, and their type."""


def add_options(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("onceproof", "onceproof: sinks replayed on real PySpark")
    for name, words in _OPTIONS.items():
        group.addoption(name, default=None, **words)
    for key, declared in _INI.items():
        parser.addini(key, *declared)


def options_of(config: pytest.Config) -> Options:
    """Read the options.

    Raises ``pytest.UsageError`` for a value that does not exist.
    """
    name = _given(config, "profile") or ("ci" if os.environ.get("CI") else "dev")
    if name not in PROFILES:
        raise pytest.UsageError(unknown("profile", name, PROFILES))
    profile = PROFILES[name]
    trace = _given(config, "trace") or "retain-on-failure"
    if trace not in TRACES:
        raise pytest.UsageError(unknown("onceproof_trace", trace, TRACES))
    most = _number(config, "most")
    replay = config.getoption("--onceproof-replay")
    evidence = _given(config, "evidence")
    return Options(
        profile=name,
        faults=_number(config, "faults", MOST_FAULTS),
        batches=_number(config, "batches", MOST["BATCH"]),
        most=profile.most if most is None else most,
        seed=_seed(config),
        artifacts=Path(config.rootpath, _given(config, "artifacts") or ".onceproof"),
        trace=trace,
        shrink=_seconds(config, "shrink_budget", profile.shrink),
        timeout=_seconds(config, "timeout", TIMEOUT),
        budget=_budget(config),
        every_point=bool(config.getoption("--onceproof-every-point")),
        agent=bool(
            config.getoption("--onceproof-agent") or config.getini("onceproof_agent")
        ),
        kill_drivers=bool(
            config.getoption("--onceproof-kill-drivers")
            or config.getini("onceproof_kill_drivers")
        ),
        expect=expected_in(config),
        replay=Path(replay) if replay else None,
        spark=dict(_setting(line) for line in config.getini("onceproof_spark")),
        fixture=str(config.getini("onceproof_spark_fixture") or ""),
        evidence=Path(config.rootpath, evidence) if evidence else None,
    )


def expected_in(config: pytest.Config) -> Path:
    """Return the file of known failures, which may be absent."""
    return Path(config.rootpath, _given(config, "expect") or EXPECTED)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return a message that a word is unknown, with the nearest known one."""
    return f"{what} has no {name!r}; {did_you_mean(name, known, form='{}')}"


def _given(config: pytest.Config, name: str) -> str:
    value = config.getoption(f"--onceproof-{name.replace('_', '-')}")
    return str(config.getini(f"onceproof_{name}") or "" if value is None else value)


def _seed(config: pytest.Config) -> int:
    seed = config.getoption("--onceproof-seed")
    if seed is None:
        seed = config.getoption("--hypothesis-seed", default=None)
    try:
        return int(seed or 0)
    except ValueError:
        return 0


def _number(config: pytest.Config, name: str, most: int | None = None) -> int | None:
    """Read a count, from 1 on."""
    given: int | None = config.getoption(f"--onceproof-{name}")
    if given is not None and (given < 1 or (most is not None and given > most)):
        bounds = "at least 1" if most is None else f"1 to {most}"
        message = f"--onceproof-{name} must be {bounds}, not {given}"
        raise pytest.UsageError(message)
    return given


def _seconds(config: pytest.Config, name: str, otherwise: float) -> float:
    text = _given(config, name)
    found = seconds_in(text) if text else otherwise
    if found is None or not 0 <= found < math.inf:
        message = f"onceproof_{name} takes a time such as 90s, 5m or 1h, not {text!r}"
        raise pytest.UsageError(message)
    return found


def _budget(config: pytest.Config) -> float | None:
    """Read how long interleavings are begun; None where nothing is said."""
    if not _given(config, "budget"):
        return None
    found = _seconds(config, "budget", 0)
    if found == 0:
        message = "onceproof_budget takes a time above 0"
        raise pytest.UsageError(message)
    return found


def _setting(line: str) -> tuple[str, str]:
    name, sign, value = line.partition("=")
    if not sign or not name.strip().startswith("spark."):
        message = f"onceproof_spark takes lines like spark.name = value, not {line!r}"
        raise pytest.UsageError(message)
    return name.strip(), value.strip()


def marker_words(item: Any, marker: str, words: Iterable[str]) -> dict[str, Any]:
    """Read the arguments of a test's markers; the closest marker counts.

    Markers of its class and module provide what closer ones leave out.
    Raises ``UsageError`` without a marker, for an unknown argument, and where two
    markers of one place give an argument different values.
    """
    found: dict[str, tuple[Any, Any]] = {}
    marked = list(item.iter_markers_with_node(marker))
    if not marked:
        message = f"onceproof_replay needs a marker: @pytest.mark.{marker}(key=...)"
        raise UsageError(message)
    for node, mark in marked:
        if mark.args:
            given = mark.args[0]
            message = f"{marker} takes its arguments by name, such as key={given!r}"
            raise UsageError(message)
        for word, value in mark.kwargs.items():
            if word not in words:
                there = f"it takes {', '.join(words)}"
                hint = did_you_mean(word, words, otherwise=there, form="{}=")
                message = f"{marker} has no {word}=; {hint}"
                raise UsageError(message)
            owner, known = found.setdefault(word, (node, value))
            if owner is node and known != value:
                message = (
                    f"two {marker} markers of {node.name} give {word} different "
                    f"values, {known!r} and {value!r}; leave one out"
                )
                raise UsageError(message)
    return {word: value for word, (_, value) in found.items()}
