"""Counterexamples of real runs: written as files, and replayed from them."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

import click

from onceproof.model.errors import UsageError
from onceproof.model.language.plain import Reference as Semantics
from onceproof.properties.check import parameters_of
from onceproof.properties.counterexample import Counterexample, read, steps_of
from onceproof.properties.guarantees import GUARANTEES
from onceproof.properties.histories import broken
from onceproof.properties.verdicts import Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay import SinkReport
    from onceproof.spark_checks.run import Outcome


def write_counterexamples(report: SinkReport, folder: Path) -> dict[str, str]:
    """Write a file for each guarantee that a sink breaks; give their paths by name."""
    found = {}
    for prop in report.properties:
        if report.verdict(prop) is Verdict.REFUTED:
            outcome = report.first_break(prop)
            if outcome is not None:
                path = folder / f"{report.sink.name}--{prop.name}.json"
                _counterexample(report, prop, outcome).write(path)
                found[prop.name] = str(path)
    for outcome in report.drift:
        number = outcome.interleaving.number
        path = folder / f"{report.sink.name}--drift-{number}.json"
        _counterexample(report, None, outcome).write(path)
        found[f"drift-{number}"] = str(path)
    return found


def _counterexample(
    report: SinkReport, prop: Property | None, outcome: Outcome
) -> Counterexample:
    semantics = Semantics(report.protocol)
    place = broken(prop, outcome.spark) if prop and outcome.spark else None
    clause, moment = place or (0, 0)
    return Counterexample(
        protocol=report.protocol.label(),
        parameters=parameters_of(report.protocol),
        property=prop.name if prop else "drift",
        clause=prop.clauses[clause].text if prop else "Spark does as its model does",
        fails_at=moment,
        steps=steps_of(semantics, outcome.interleaving.trace),
        versions=versions(),
        sink=report.sink.name,
        interleaving=outcome.interleaving.number,
        faults=report.protocol.faults,
        events=report.events,
        failpoints=outcome.failpoints,
        observed=outcome.spark,
        expected=outcome.model,
    )


def versions() -> dict[str, str]:
    """Give the versions that a result depends on."""
    found = {}
    for name in ("onceproof", "pyspark", "z3-solver", "numba"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "missing"
    return found


def replay_file(path: Path) -> int:
    """Replay a counterexample file; print FAILED, FIXED or ERROR, answer 1, 0 or 2."""
    from onceproof.spark_checks import replay as engine  # noqa: PLC0415
    from onceproof.spark_checks.sinks import reference_sinks  # noqa: PLC0415

    told = read(path)
    sink = reference_sinks().get(told.sink)
    if sink is None:
        message = f"{path} is about sink {told.sink!r}, which is not known here"
        raise UsageError(message)
    sizes = engine.Sizes(
        batches=told.parameters["BATCH"],
        partitions=told.parameters["PARTITION"],
        events=told.events,
    )
    reports = engine.replay(
        [sink],
        lambda _: None,
        faults=told.faults,
        sizes=sizes,
        only=[told.interleaving],
    )
    outcome = next(iter(reports[0].outcomes), None)
    if outcome is None or outcome.spark is None:
        reason = outcome.not_replayed if outcome else "no such interleaving any more"
        click.echo(f"ERROR {told.sink}: {reason}")
        return 2
    if (
        steps_of(Semantics(reports[0].protocol), outcome.interleaving.trace)
        != told.steps
    ):
        click.echo(
            f"ERROR {told.sink}: the model has changed since the file was written"
        )
        return 2
    if told.property == "drift":
        failed = outcome.drift
    else:
        prop = next(g for g in GUARANTEES if g.name == told.property)
        failed = broken(prop, outcome.spark) is not None
    click.echo(f"{'FAILED' if failed else 'FIXED'} {told.sink}: {told.property}")
    return 1 if failed else 0
