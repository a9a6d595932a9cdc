"""What people and programs read of a replay: a table, stories, plain data."""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from onceproof.model.text import printable, shell_word
from onceproof.properties.verdicts import Verdict, weakest
from onceproof.spark_checks.cli.output.console import marked, stdout
from onceproof.spark_checks.report.bounds import bounds_of_replay
from onceproof.spark_checks.report.causes import causes_of
from onceproof.spark_checks.report.drift import drift_data, parting
from onceproof.spark_checks.report.exchange_coverage import exchanges_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.sink_report import SinkReport
    from onceproof.spark_checks.report.causes import Cause

WIDE = 80
_INDENT = "  "


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
                "folder": str(report.kept.get(o.interleaving.number, "")),
            }
            for o in report.outcomes
            if o.spark is None
        ],
        "left_by_budget": report.left,
        "recalled": report.recalled,
        "conforming": len(report.conforming),
        "steps_not_checked": dict(Counter(_unchecked(report))),
        "drift": len(report.drift),
        "drifts": [drift_data(report, o) for o in report.drift],
        "durable_states": len(report.classes.durable_states),
        "durable_states_covered": report.covered,
        "guarantees": {n: str(v) for n, v in report.verdicts.items()},
        "model_guarantees": {n: str(v) for n, v in report.model.verdicts.items()},
        "as_stated": report.as_stated,
        "causes": [
            {
                "interleaving": cause.outcome.interleaving.number,
                "guarantees": [prop.name for prop in cause.guarantees],
                "how": cause.how,
                "seen": cause.seen,
                "counterexample": files.get(cause.shown.name, ""),
            }
            for cause in causes_of(report)
        ],
        "counterexamples": sorted(files.values()),
        "failpoints": {
            str(o.interleaving.number): list(o.failpoints) for o in report.replayed
        },
        "ways": {str(o.interleaving.number): list(o.ways) for o in report.replayed},
        "bounds": bounds_of_replay(report),
        "seconds": round(report.seconds, 3),
    }


def show_replay(reports: list[SinkReport], files: dict[str, dict[str, str]]) -> None:
    """Print a line for each sink, what "held" rests on, and each failure once."""
    there = stdout()
    there.print(_table(reports))
    notes = (_as_stated(reports), _bounds(reports), _ways(reports), _steps(reports))
    for line in itertools.chain(*notes):
        _wrapped(there, line)
    shown = False
    for r in reports:
        for cause in causes_of(r):
            _story(there, r, cause, files[r.sink.name].get(cause.shown.name, ""))
            shown = True
        for line in _undecided(r):
            _wrapped(there, line)
        for line in (*_drifts(r, files[r.sink.name]), *_not_replayed(r)):
            there.print(line, soft_wrap=True)
        for line in exchanges_of(r):
            there.print(f"{escape(r.sink.name)}: {escape(line)}", soft_wrap=True)
    if shown:
        there.print()
        _wrapped(
            there,
            "onceproof explore FILE shows a failure step by step; onceproof replay "
            "FILE runs it again.",
        )


def _table(reports: list[SinkReport]) -> Table:
    """Return a line for each sink: its verdict, and how much was replayed."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in ("sink", "verdict", "hold", "replayed", "crash states", "drift"):
        table.add_column(name, no_wrap=name != "sink", overflow="fold")
    for r in reports:
        verdicts = r.verdicts.values()
        held = sum(verdict.holds for verdict in verdicts)
        table.add_row(
            escape(r.sink.name),
            marked(weakest(verdicts)),
            f"{held} of {len(verdicts)}",
            f"{len(r.replayed)}/{len(r.outcomes) + r.left}",
            f"{r.covered}/{len(r.classes.durable_states)}",
            str(len(r.drift) or ""),
        )
    return table


def _as_stated(reports: list[SinkReport]) -> list[str]:
    """Name the sinks, of those replayed whole, that are not judged as stated."""
    whole = [r for r in reports if len(r.outcomes) >= len(r.classes.classes)]
    if not whole:
        return []
    wrong = [r.sink.name for r in whole if not r.as_stated]
    if not wrong:
        return ["Each sink gets the verdicts that its own file states."]
    return [f"Other verdicts than its own file states: {', '.join(wrong)}."]


def _bounds(reports: list[SinkReport]) -> list[str]:
    """Return what "held" is limited to; sinks that share it are one line."""
    groups: dict[str, list[str]] = {}
    for report in reports:
        if report.judged(Verdict.HELD):
            groups.setdefault(bounds_of_replay(report), []).append(report.sink.name)
    found = []
    for bounds, names in groups.items():
        whose = f" of {', '.join(names)}" if len(groups) > 1 else ""
        found.append(f'"held" covers the runs that were made{whose}: {bounds}')
    return found


def _ways(reports: list[SinkReport]) -> Iterator[str]:
    """Say in which ways the faults of the replayed interleavings were realised."""
    found = Counter(way for r in reports for o in r.replayed for way in o.ways)
    if found:
        shown = "; ".join(f"{way}: {number}" for way, number in found.most_common())
        yield f"Faults by the way they were realised, in interleavings: {shown}."


def _steps(reports: list[SinkReport]) -> Iterator[str]:
    """Say in how many replays each step that Spark took is one of the model's."""
    conforming = sum(len(r.conforming) for r in reports)
    left = Counter(why for r in reports for why in _unchecked(r))
    if conforming or left:
        replayed = sum(len(r.replayed) for r in reports)
        yield (
            "Each step that the agent reported is a step of the model: in "
            f"{conforming} of {replayed} interleavings."
        )
    for why, number in left.most_common():
        yield f"Steps were not compared in {number}: {why}."


def _unchecked(report: SinkReport) -> Iterator[str]:
    return (o.trace.unchecked for o in report.outcomes if o.trace.unchecked)


def _story(there: Console, report: SinkReport, cause: Cause, file: str) -> None:
    """Describe one failure: what was done, what readers saw, and all that it breaks."""
    there.print()
    head = Text(report.sink.name, "bold")
    head.append(f" is not {cause.shown.name}", "not bold")
    there.print(head, soft_wrap=True)
    _wrapped(there, f"{cause.how}; {cause.seen}.", _INDENT)
    others = [prop.name for prop in cause.guarantees if prop is not cause.shown]
    if others:
        _wrapped(there, f"The same breaks {_listed(others)}.", _INDENT)
    if file:
        command = f"{_INDENT}onceproof explore {shell_word(file)}"
        there.print(Text(command), soft_wrap=True)


def _wrapped(there: Console, text: str, indent: str = "") -> None:
    """Print a text in lines of at most ``WIDE`` columns."""
    lines = textwrap.wrap(
        printable(text),
        WIDE,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines:
        there.print(Text(line), soft_wrap=True)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " * (len(names) > 1) + names[-1]


def _undecided(report: SinkReport) -> list[str]:
    """Name the guarantees that are undecided, and say why."""
    name, replayed = report.sink.name, len(report.replayed)
    if not replayed:
        return [f"{name}: nothing is judged, because nothing was replayed."]
    groups: dict[str, list[str]] = {}
    for prop in report.properties:
        if report.verdict(prop) is Verdict.UNDECIDED:
            groups.setdefault(_why(report, prop), []).append(prop.name)
    return [
        f"{name}: {_listed(names)} undecided: {why}." for why, names in groups.items()
    ]


def _why(report: SinkReport, prop: Property) -> str:
    """Return why a guarantee is undecided."""
    if report.unsteady.get(prop.name):
        return "an interleaving broke it once, and not when it was replayed again"
    if unread := report.unobserved(prop):
        return f"the reader failed in {len(unread)} of {len(report.replayed)} replays"
    if report.left:
        chosen = len(report.outcomes) + report.left
        return (
            f"time ran out before {report.left} of {chosen} interleavings; a longer "
            "--budget replays more"
        )
    replayed, total = len(report.replayed), len(report.classes.classes)
    if replayed < total:
        return (
            f"refuted in the model, but in no replay: {replayed} of {total} "
            "interleavings were replayed"
        )
    return "refuted in the model, at a moment when no replay looks"


def _drifts(report: SinkReport, files: dict[str, str]) -> Iterator[str]:
    for outcome in report.drift:
        yield from _drift(report, outcome, files)


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
            lines.append("    the query never reached rest, as the model does")
    lines += [f"    {escape(line)}" for line in outcome.trace.unexplained]
    lines += [
        f"    a restart that the model lacks, after: {escape(error)}"
        for error in outcome.unplanned
    ]
    left = str(report.kept.get(number, "nothing"))
    lines.append(f"    left behind: {escape(left)}")
    if file := files.get(f"drift-{number}"):
        lines.append(f"    onceproof replay {escape(shell_word(file))}")
    yield "\n".join(lines)


def _not_replayed(report: SinkReport) -> Iterator[str]:
    missed = [o for o in report.outcomes if o.spark is None]
    for reason in dict.fromkeys(o.not_replayed for o in missed):
        alike = [o for o in missed if o.not_replayed == reason]
        numbers = ", ".join(str(o.interleaving.number) for o in alike)
        left = "".join(
            f"\n    left behind: {escape(str(report.kept[o.interleaving.number]))}"
            for o in alike
            if o.interleaving.number in report.kept
        )
        name, why = escape(report.sink.name), escape(reason)
        yield f"{name}: not replayed {numbers}: {why}.{left}"
