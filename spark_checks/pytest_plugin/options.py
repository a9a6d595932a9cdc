"""Options of the plugin, on the command line, in the ini file, and by profile."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from onceproof.model.errors import UsageError
from onceproof.model.text import did_you_mean
from onceproof.spark_checks.inputs.sizes import MOST, MOST_FAULTS, TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Iterable

EXPECTED = "onceproof_expect.toml"
TRACES = ("on", "off", "retain-on-failure")


@dataclass(frozen=True)
class Profile:
    """How thorough a run is: at ``most`` so many interleavings of a sink, or all.

    ``faults`` and ``batches`` are the least that an interleaving is given, whatever
    markers say; ``shrink`` is how many seconds a failing example may be made smaller.
    With ``stop`` a sink is replayed no further once it is refuted.
    """

    most: int | None
    faults: int = 1
    batches: int = 1
    shrink: float = 60.0
    stop: bool = False


PROFILES = {
    "dev": Profile(most=60, shrink=30.0, stop=True),
    "ci": Profile(most=None, shrink=120.0),
    "nightly": Profile(most=2000, faults=2, batches=3, shrink=600.0),
}


@dataclass(frozen=True)
class Options:
    """What was asked for, of the command line first and then of the ini file."""

    profile: str
    faults: int | None
    batches: int | None
    most: int | None
    seed: int
    artifacts: Path
    trace: str
    shrink: float
    expect: Path
    replay: Path | None
    spark: dict[str, str]
    fixture: str
    evidence: Path | None = None
    timeout: float = TIMEOUT

    def __str__(self) -> str:
        """Say it in a line, as it can be given again."""
        first, *others = self.words.split(" ")
        return " ".join([first, f"--onceproof-seed={self.seed}", *others])

    @property
    def words(self) -> str:
        """Give what says how much is replayed, as it can be given again."""
        words = [f"--onceproof-profile={self.profile}"]
        given = {"faults": self.faults, "batches": self.batches}
        words += [f"--onceproof-{k}={v}" for k, v in given.items() if v is not None]
        return " ".join(words)


def add_options(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("onceproof", "replays of sinks on real PySpark")
    add = group.addoption
    add(
        "--onceproof-profile",
        default=None,
        metavar="NAME",
        help="how thorough: dev (at most 60 interleavings of a sink), ci (all; chosen "
        "by itself where CI is set) or nightly (two faults)",
    )
    add(
        "--onceproof-faults",
        type=int,
        default=None,
        help="how many faults an interleaving may hold, whatever the markers say",
    )
    add(
        "--onceproof-batches",
        type=int,
        default=None,
        help="how many micro-batches the events come in, whatever the markers say",
    )
    add(
        "--onceproof-most",
        type=int,
        default=None,
        help="replay at most so many interleavings of a sink, of each kind its share",
    )
    add(
        "--onceproof-seed",
        type=int,
        default=None,
        help="what is chosen at random is chosen by this (default: that of Hypothesis, "
        "or 0)",
    )
    add(
        "--onceproof-artifacts",
        default=None,
        metavar="DIR",
        help="where counterexamples are written (default: .onceproof)",
    )
    add(
        "--onceproof-trace",
        default=None,
        choices=TRACES,
        help="when counterexamples and what is left of their runs are written: on "
        "keeps a report of what held as well (default: retain-on-failure)",
    )
    add(
        "--onceproof-shrink-budget",
        type=float,
        default=None,
        metavar="SECONDS",
        help="how long a failing example of @given is made smaller on Spark",
    )
    add(
        "--onceproof-timeout",
        type=float,
        default=None,
        metavar="SECONDS",
        help="how long the first run of a sink may take, to which nothing is done "
        "(default: 600); the others may take five times as long as it did, or a minute",
    )
    add(
        "--onceproof-expect",
        default=None,
        metavar="FILE",
        help="failures that are known (default: onceproof_expect.toml)",
    )
    add(
        "--onceproof-replay",
        default=None,
        metavar="FILE",
        help="replay the interleaving of a counterexample file, and no other",
    )
    add(
        "--onceproof-evidence",
        default=None,
        metavar="DIR",
        help="leave a record of each guarantee judged, for onceproof guarantees",
    )
    parser.addini("onceproof_profile", "dev, ci or nightly")
    parser.addini("onceproof_artifacts", "where counterexamples are written")
    parser.addini("onceproof_trace", "on, off or retain-on-failure")
    parser.addini(
        "onceproof_shrink_budget", "seconds to make a failing example smaller"
    )
    parser.addini("onceproof_timeout", "seconds that the first run of a sink may take")
    parser.addini("onceproof_expect", "the file of failures that are known")
    parser.addini("onceproof_evidence", "where records of what was judged are left")
    parser.addini(
        "onceproof_spark",
        "settings of the Spark session, a line each: spark.jars.packages = ...",
        type="linelist",
    )
    parser.addini(
        "onceproof_spark_fixture",
        "a session-scoped fixture that gives a Spark session of your own: the replays "
        "take over its settings",
    )


def options_of(config: pytest.Config) -> Options:
    """Read the options.

    Raises ``pytest.UsageError`` for a value that there is not.
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
        expect=expected_in(config),
        replay=Path(replay) if replay else None,
        spark=dict(_setting(line) for line in config.getini("onceproof_spark")),
        fixture=str(config.getini("onceproof_spark_fixture") or ""),
        evidence=Path(config.rootpath, evidence) if evidence else None,
    )


def expected_in(config: pytest.Config) -> Path:
    """Give the file of known failures, which need not be there."""
    return Path(config.rootpath, _given(config, "expect") or EXPECTED)


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Say that there is no such word, and which was perhaps meant."""
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
    try:
        found = float(text) if text else otherwise
    except ValueError:
        found = -1
    if not 0 <= found < math.inf:
        message = f"onceproof_{name} takes seconds, not {text!r}"
        raise pytest.UsageError(message)
    return found


def _setting(line: str) -> tuple[str, str]:
    name, sign, value = line.partition("=")
    if not sign or not name.strip().startswith("spark."):
        message = f"onceproof_spark takes lines like spark.name = value, not {line!r}"
        raise pytest.UsageError(message)
    return name.strip(), value.strip()


def marker_words(item: Any, marker: str, words: Iterable[str]) -> dict[str, Any]:
    """Read the words of a test's markers: the closest says what it says.

    Markers of its class and module say what closer ones leave open.
    Raises ``UsageError`` where it has none, for a word that there is not, and where two
    markers of one place give a word different values.
    """
    found: dict[str, tuple[Any, Any]] = {}
    marked = list(item.iter_markers_with_node(marker))
    if not marked:
        message = f"onceproof_replay needs a marker: @pytest.mark.{marker}(key=...)"
        raise UsageError(message)
    for node, mark in marked:
        if mark.args:
            message = f"{marker} takes its words by name, such as key={mark.args[0]!r}"
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
