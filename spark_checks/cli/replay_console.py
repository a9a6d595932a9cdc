"""What people and programs read of a replay: a table, sentences, plain data."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from onceproof.model.text import printable, shell_word
from onceproof.properties.judges.by_history import broken
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.cli.console import _mark, console_to, stderr, stdout
from onceproof.spark_checks.replay import events
from onceproof.spark_checks.replay.observations import at_moment, breach, readers_see
from onceproof.spark_checks.report.bounds import bounds_of_replay
from onceproof.spark_checks.report.divergence import drift_data, parting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.sink_report import SinkReport

_STDERR = 2


@contextmanager
def replay_view() -> Iterator[Callable[[events.Event], None]]:
    """Show a replay as it goes, on stderr: bars on a terminal, else a line a sink."""
    there = stderr()
    if not there.is_terminal:
        yield lambda event: _say(there, event)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=there, transient=True) as progress:
        bars: dict[str, Any] = {}

        def listen(event: events.Event) -> None:
            if isinstance(event, events.SinkBegun):
                bars[event.sink] = progress.add_task(
                    escape(printable(event.sink)), total=event.interleavings
                )
            elif isinstance(event, events.Replayed):
                progress.advance(bars[event.sink])
            elif isinstance(event, events.ScratchKept):
                _say(there, event)

        yield listen


@contextmanager
def file_view() -> Iterator[Callable[[events.Event], None]]:
    """Report on stderr where a file's sink has changed, and many failures are replayed.

    The report bypasses a test's capture of what is printed.
    """
    with os.fdopen(os.dup(_STDERR), "w") as past:
        there = console_to(past)

        def listen(event: events.Event) -> None:
            if isinstance(event, events.SinkBegun) and event.interleavings > 1:
                there.print(
                    f"{escape(event.sink)} runs other lines than the file tells of: "
                    f"{event.interleavings} failures stand for that of the file"
                )

        yield listen


def _say(there: Console, event: events.Event) -> None:
    """Print a line for an event, if it is worth one."""
    if isinstance(event, events.Started):
        there.print(f"replaying {len(event.sinks)} sinks in {escape(event.scratch)}")
    elif isinstance(event, events.ScratchKept):
        there.print(f"the scratch folder is kept: {escape(event.scratch)}")
    elif isinstance(event, events.SinkJudged):
        report = event.report
        there.print(
            f"{escape(report.sink.name)}: {len(report.replayed)} of "
            f"{len(report.outcomes)} interleavings in {report.seconds:.1f} s"
        )


def replay_data(
    reports: list[SinkReport], files: dict[str, dict[str, str]]
) -> dict[str, Any]:
    """Return the outcome of a replay as plain data."""
    return {"sinks": [_sink_data(r, files[r.sink.name]) for r in reports]}


def _sink_data(report: SinkReport, files: dict[str, str]) -> dict[str, Any]:
    return {
        "name": report.sink.name,
        "model": report.sink.model.label(),
        "interleavings": len(report.outcomes),
        "replayed": len(report.replayed),
        "not_replayed": [
            {
                "interleaving": o.interleaving.number,
                "reason": o.not_replayed,
                "no_failpoint": o.known,
                "folder": str(o.folder or ""),
            }
            for o in report.outcomes
            if o.spark is None
        ],
        "drift": len(report.drift),
        "drifts": [drift_data(o) for o in report.drift],
        "durable_states": len(report.classes.durable_states),
        "durable_states_covered": report.covered,
        "guarantees": {n: str(v) for n, v in report.verdicts.items()},
        "model_guarantees": {n: str(v) for n, v in report.model.verdicts.items()},
        "as_stated": report.as_stated,
        "counterexamples": sorted(files.values()),
        "failpoints": {
            str(o.interleaving.number): list(o.failpoints) for o in report.replayed
        },
        "bounds": bounds_of_replay(report),
        "seconds": round(report.seconds, 3),
    }


def show_replay(reports: list[SinkReport], files: dict[str, dict[str, str]]) -> None:
    """Print a row a sink and a column a guarantee, and say what went wrong how."""
    there = stdout()
    names = [p.name for p in reports[0].properties] if reports else []
    heads = [name.replace("-", "-\n") for name in names]
    table = Table("sink", *heads, "replayed", "crash states", "drift", "s", "as stated")
    for r in reports:
        table.add_row(
            escape(r.sink.name),
            *(_mark(r.verdicts[n]) for n in names),
            f"{len(r.replayed)}/{len(r.outcomes)}",
            f"{r.covered}/{len(r.classes.durable_states)}",
            str(len(r.drift)),
            f"{r.seconds:.1f}",
            _as_stated(r),
        )
    there.print(table)
    for line in _bounds(reports):
        there.print(escape(line), soft_wrap=True)
    for r in reports:
        for line in _sentences(r, files[r.sink.name]):
            there.print(line, soft_wrap=True)


def _bounds(reports: list[SinkReport]) -> list[str]:
    """Return what "held" is limited to; sinks that share it are one line."""
    groups: dict[str, list[str]] = {}
    for report in reports:
        if report.judged(Verdict.HELD):
            groups.setdefault(bounds_of_replay(report), []).append(report.sink.name)
    found = []
    for bounds, names in groups.items():
        whose = f" ({', '.join(names)})" if len(groups) > 1 else ""
        found.append(f"held{whose}: in every run that was made; {bounds}")
    return found


def _as_stated(report: SinkReport) -> str:
    """Return whether a sink is judged as its file states, by a whole replay."""
    if len(report.outcomes) < len(report.classes.classes):
        return "-"
    return "yes" if report.as_stated else "[red]no[/red]"


def _sentences(report: SinkReport, files: dict[str, str]) -> Iterator[str]:
    for prop in report.properties:
        outcome = report.first_break(prop)
        if outcome is not None:
            yield from _broken(report, prop, outcome, files.get(prop.name, ""))
    yield from _undecided(report)
    for outcome in report.drift:
        yield from _drift(report, outcome, files)
    yield from _not_replayed(report)


def _broken(
    report: SinkReport, prop: Property, outcome: Outcome, file: str
) -> Iterator[str]:
    place = broken(prop, outcome.spark) if outcome.spark else None
    if place is None or outcome.spark is None:
        return
    clause, moment = place
    how = "; ".join(outcome.failpoints) or "the query is restarted"
    when = at_moment(outcome.spark.moments[moment], rested=outcome.spark.rested)
    seen = breach(prop, clause, readers_see(outcome.spark, moment))
    yield (
        f"[bold]{escape(report.sink.name)}[/bold] is not {prop.name}: {escape(how)}; "
        f"{escape(when)}, {escape(seen)}.\n"
        f"    onceproof replay {escape(shell_word(file))}"
    )


def _undecided(report: SinkReport) -> Iterator[str]:
    name, replayed = escape(report.sink.name), len(report.replayed)
    if not replayed:
        yield f"[bold]{name}[/bold]: nothing is judged, for nothing was replayed."
        return
    whole = replayed == len(report.classes.classes)
    for prop in report.properties:
        if report.verdict(prop) is Verdict.UNDECIDED:
            why = (
                "at a moment when no replay looks"
                if whole
                else f"and none of the {replayed} interleavings that were replayed, "
                f"of {len(report.classes.classes)}, shows it"
            )
            yield (
                f"[bold]{name}[/bold]: {prop.name} is undecided: the model refutes it "
                f"{why}."
            )


def _drift(
    report: SinkReport, outcome: Outcome, files: dict[str, str]
) -> Iterator[str]:
    number = outcome.interleaving.number
    how = "; ".join(outcome.failpoints) or "no failpoint"
    drifts = f"[red]{escape(report.sink.name)} drifts from its model[/red]"
    lines = [f"{drifts} in interleaving {number}: {escape(how)}"]
    if outcome.model is not None and outcome.spark is not None:
        for moment in parting(outcome.model, outcome.spark):
            differs = "[red]here they part[/red]" if moment.differs else "they agree"
            lines.append(f"    {escape(moment.moment)}: {differs}")
            lines += [f"        model  {escape(line)}" for line in moment.model]
            lines += [f"        Spark  {escape(line)}" for line in moment.spark]
        if not outcome.spark.rested:
            lines.append("    the query never came to rest, as the model does")
    lines += [
        f"    a restart that the model lacks, after: {escape(error)}"
        for error in outcome.unplanned
    ]
    lines.append(f"    left behind: {escape(str(outcome.folder or 'nothing'))}")
    if file := files.get(f"drift-{number}"):
        lines.append(f"    onceproof replay {escape(shell_word(file))}")
    yield "\n".join(lines)


def _not_replayed(report: SinkReport) -> Iterator[str]:
    missed = [o for o in report.outcomes if o.spark is None]
    for reason in dict.fromkeys(o.not_replayed for o in missed):
        alike = [o for o in missed if o.not_replayed == reason]
        numbers = ", ".join(str(o.interleaving.number) for o in alike)
        left = "".join(
            f"\n    left behind: {escape(str(o.folder))}"
            for o in alike
            if o.folder is not None
        )
        name, why = escape(report.sink.name), escape(reason)
        yield f"{name}: not replayed {numbers}: {why}.{left}"
