"""Counterexamples of real runs, written as files."""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.text import slug
from onceproof.model.versions import versions_of
from onceproof.properties.counterexample.file import Counterexample, steps_of
from onceproof.properties.guarantees import GUARANTEES
from onceproof.properties.judges.by_history import broken, left_open
from onceproof.properties.judges.by_search import every_parameter_of
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.inject.failures.redaction import redacted
from onceproof.spark_checks.inputs.sizes import TIMEOUT
from onceproof.spark_checks.inputs.user_events import to_json
from onceproof.spark_checks.report.explanation import because
from onceproof.spark_checks.report.steps_taken import steps_taken

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.sink_report import SinkReport
    from onceproof.spark_checks.sinks.interface import ModelledSink

DRIFT = "drift"
GUARANTEE_NAMED = {prop.name: prop for prop in GUARANTEES}


@dataclass(frozen=True)
class RequestingTest:
    """The test that requests a replay, with the options to run it again from a file."""

    node_id: str = ""
    """The node id of the test."""
    key: tuple[str, ...] = ()
    """The columns that identify an event."""
    allow: tuple[str, ...] = ()
    """The places that the sink may write to, besides its own."""
    claims: tuple[Property, ...] = GUARANTEES
    """The guarantees that are claimed."""
    code: tuple[str, ...] = ()
    """The packages and paths that are followed too, or not, with a ``-``."""
    profile: str = ""
    """The profile of the replay."""
    most: int | None = None
    """How many interleavings were replayed at most; None for all."""
    seed: int = 0
    """The seed of random choices."""
    timeout: float = TIMEOUT
    """How many seconds the fault-free run may take."""

    def to_json(self) -> dict[str, Any]:
        """Return the options as plain data, without any password."""
        return {
            "key": list(self.key),
            "allow": [redacted(place) for place in self.allow],
            "code": list(self.code),
            "guarantees": [prop.name for prop in self.claims],
            "profile": self.profile,
            "most": self.most,
            "seed": self.seed,
            "timeout": max(1, math.ceil(self.timeout)),
        }


def write_counterexamples(
    report: SinkReport, folder: Path, test: RequestingTest | None = None
) -> dict[str, str]:
    """Write a file for each guarantee that a sink breaks; give their paths by name."""
    test = test or RequestingTest()
    found = {}
    for prop in report.properties:
        if prop in test.claims and report.verdict(prop) is Verdict.REFUTED:
            outcome = report.first_break(prop)
            if outcome is not None:
                path = folder / f"{_plain(report.sink)}--{prop.name}.json"
                counterexample(report, prop, outcome, test).write(path)
                found[prop.name] = str(path)
    for outcome in report.drift:
        number = outcome.interleaving.number
        path = folder / f"{_plain(report.sink)}--drift-{number}.json"
        counterexample(report, None, outcome, test).write(path)
        found[f"drift-{number}"] = str(path)
    return found


def write_unread(report: SinkReport, folder: Path, test: RequestingTest) -> str:
    """Write a file for the smallest replay that no reader could read; give its path.

    It is about the first claim that this leaves open. Gives the empty text if there is
    no such replay.
    """
    for prop in test.claims:
        outcome = report.first_unobserved(prop)
        if outcome is not None:
            path = folder / f"{_plain(report.sink)}--{prop.name}--unread.json"
            counterexample(report, prop, outcome, test).write(path)
            return str(path)
    return ""


def keep_run(report: SinkReport, outcome: Outcome, file: Path) -> None:
    """Move what is left of the runs of an outcome beside its file."""
    folder = report.kept.get(outcome.interleaving.number)
    if folder is None or not folder.is_dir():
        return
    kept = file.with_suffix("")
    shutil.rmtree(kept, ignore_errors=True)
    shutil.move(folder, kept)


def _plain(sink: ModelledSink) -> str:
    """Return a sink's name as it may stand in that of a file."""
    return slug(sink.name.rpartition("::")[2])


def counterexample(
    report: SinkReport, prop: Property | None, outcome: Outcome, test: RequestingTest
) -> Counterexample:
    """Describe how an outcome breaks a property, or how it drifts, if there is none."""
    semantics = Interpreter(report.protocol)
    clause, moment = 0, 0
    if prop is not None and outcome.spark is not None:
        place = broken(prop, outcome.spark) or left_open(prop, outcome.spark)
        clause, moment = place or (0, 0)
    taken = steps_taken(outcome)
    looks = [run.state for run in outcome.runs]
    if taken is not None:
        looks[-1] = taken
    return Counterexample(
        protocol=report.protocol.label(),
        parameters=every_parameter_of(report.protocol),
        property=prop.name if prop else DRIFT,
        clause=prop.clauses[clause].text if prop else "Spark does as its model does",
        fails_at=moment,
        steps=steps_of(semantics, outcome.interleaving.trace),
        versions=versions(),
        sink=report.sink.name,
        interleaving=outcome.interleaving.number,
        faults=report.protocol.faults,
        events=report.given.events,
        failpoints=outcome.failpoints,
        observed=outcome.spark,
        expected=outcome.model,
        looks=tuple(looks),
        taken=taken,
        input=to_json(report.given) if report.given.own else None,
        test=test.node_id,
        options=test.to_json(),
        because=because(outcome, prop, report.sink.seen) if prop else (),
    )


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    return versions_of("onceproof", "pyspark", "z3-solver", "llvmlite")
