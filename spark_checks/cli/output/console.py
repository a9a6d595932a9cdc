"""What people and programs read: tables on stdout, progress on stderr, plain data."""

from __future__ import annotations

import itertools
import os
import sys
import textwrap
from typing import TYPE_CHECKING, Any, Literal, TextIO

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.search.simulation import Simulation
from onceproof.model.text import printable, safe, shell_word
from onceproof.properties.judges.by_search import Finding, Report, parameters_of
from onceproof.properties.verdicts import Verdict
from onceproof.properties.words.labels import Labels
from onceproof.spark_checks.cli.output.streams import drawn_on

if TYPE_CHECKING:
    from rich.text import Text

    from onceproof.model.interleavings.interleaving import Interleaving, Interleavings
    from onceproof.spark_checks.cli.examination import Found

_STYLES = {
    Verdict.REFUTED: "red",
    Verdict.UNDECIDED: "yellow",
    Verdict.VACUOUS: "yellow",
}


def stdout() -> Console:
    """Return what data is printed by."""
    return console_to(sys.stdout)


def stderr() -> Console:
    """Return what progress and warnings are printed by."""
    return console_to(sys.stderr)


def colored() -> bool | None:
    """Return whether output is coloured; None leaves it to whether it is a terminal.

    The option --color is heeded first, then NO_COLOR, then FORCE_COLOR.
    """
    context = click.get_current_context(silent=True)
    if context is not None and context.color is not None:
        return context.color
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR", "0") not in ("", "0")
    return True if forced else None


def console_to(stream: TextIO) -> Console:
    """Print to a stream, coloured if it is a terminal or on request."""
    system: dict[bool | None, Literal["auto", "standard"] | None] = {
        True: "standard",
        False: None,
        None: "auto",
    }
    # Colour on request does not make a terminal of a pipe.
    terminal = stream.isatty()
    return _SafeConsole(
        file=drawn_on(stream),
        width=None if terminal else 180,
        color_system=system[colored()],
        force_terminal=terminal,
        no_color=False,
    )


class _SafeConsole(Console):
    """A console that spells out what does not print, in all that it draws."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a text with its markup."""
        return super().render_str(printable(text, keep="\n"), **options)


def marked(verdict: Verdict) -> str:
    """Return a verdict in its colour."""
    style = _STYLES.get(verdict, "green")
    return f"[{style}]{verdict}[/{style}]"


# Check and prove --------------------------------------------------------------


def check_data(report: Report) -> dict[str, Any]:
    """Return the outcome of a search as plain data."""
    found = report.exploration
    data: dict[str, Any] = {
        "protocol": report.protocol.label(),
        "parameters": parameters_of(report.protocol),
    }
    if found is not None:
        data |= {
            "distinct": found.distinct,
            "generated": found.generated,
            "depth": found.steps,
            "seconds": round(found.seconds, 6),
            "compile_seconds": round(found.compile_seconds, 6),
            "stopped": found.stopped,
            "reduction": {"used": found.reduced, "not_used": found.not_reduced},
        }
    if isinstance(report.run, Simulation):
        names = [
            *("walks", "depth", "seed", "guided", "distinct", "durable"),
            *("steps", "taken", "events"),
        ]
        data |= {name: getattr(report.run, name) for name in names}
        data["curve"] = [
            {"steps": steps, "durable": durable} for steps, durable in report.run.curve
        ]
        data["seconds"] = round(report.run.seconds, 6)
    data["properties"] = {n: str(v) for n, v in report.verdicts.items()}
    if report.run is not None:
        data["never_taken"] = list(report.never_taken)
        data["never_read"] = list(report.never_read)
    data["bounds"] = {f.property.name: f.bounds for f in report.findings if f.bounds}
    data["notes"] = {f.property.name: f.note for f in report.findings if f.note}
    data["loops"] = {
        f.property.name: f.trace.loop
        for f in report.findings
        if f.trace is not None and f.trace.loop is not None
    }
    data["traces"] = {
        f.property.name: [str(e) for e in f.trace.events]
        for f in report.findings
        if f.trace is not None
    }
    data["counterexamples"] = {
        f.property.name: _finding_data(report, f)
        for f in report.findings
        if f.trace is not None and f.verdict is Verdict.REFUTED
    }
    return data


def _finding_data(report: Report, finding: Finding) -> dict[str, Any]:
    """Return a counterexample step by step, with what each changed, in words."""
    trace = finding.trace
    if trace is None:
        return {}
    labels = Labels(Interpreter(report.protocol))
    return {
        "clause": finding.property.clauses[finding.clause].text,
        "steps": [
            {
                "event": str(event),
                "label": labels.event(event, before),
                "fault": event.fault,
                "changes": labels.differences(before, after),
            }
            for event, (before, after) in zip(
                trace.events, itertools.pairwise(trace.states), strict=True
            )
        ],
        "loop": trace.loop,
        "ends_in": labels.state(trace.states[-1]),
    }


def show_check(report: Report) -> None:
    """Print the outcome of a search."""
    out = stdout()
    found = report.exploration
    if found is not None:
        out.print(
            f"{escape(report.protocol.label())}: {found.distinct:,} states, "
            f"{found.generated:,} generated, depth {found.steps}, "
            f"{found.seconds:.2f} s (and {found.compile_seconds:.2f} s to compile)"
        )
        if found.reduced:
            out.print("a partial-order reduction was used; more states are reachable")
        if found.not_reduced:
            out.print(f"[yellow]not reduced: {escape(found.not_reduced)}[/yellow]")
        if found.stopped:
            out.print(f"[yellow]stopped: {found.stopped}[/yellow]")
    if isinstance(report.run, Simulation):
        walked = report.run
        out.print(
            f"{escape(report.protocol.label())}: {walked.walks:,} "
            f"{'guided ' if walked.guided else ''}walks, {walked.steps:,} steps, "
            f"{walked.distinct:,} states, {walked.durable:,} durable ones, "
            f"{walked.taken} of {walked.events} events taken, seed {walked.seed}, "
            f"{walked.seconds:.2f} s"
        )
    _show_never_taken(out, report)
    _show_findings(out, report)


def show_files(files: dict[str, str]) -> None:
    """Print where counterexample files are, and the commands that show them."""
    if files:
        click.echo("\ncounterexample files, and how to look at them:")
    for path in files.values():
        click.echo(f"  onceproof explore {shell_word(path)}")


def prove_data(report: Report) -> dict[str, Any]:
    """Return the outcome of proofs as plain data."""
    return {
        "protocol": report.protocol.label(),
        "parameters": parameters_of(report.protocol),
        "properties": {
            f.property.name: {
                "verdict": str(f.verdict),
                "lemmas": list(f.lemmas),
                "note": f.note,
                "bounds": f.bounds,
                "confirmed": f.confirmed,
                "trace": None if f.trace is None else [str(e) for e in f.trace.events],
            }
            for f in report.findings
        },
        **({"never_taken": list(report.never_taken)} if report.confirming else {}),
        **({"inferred": report.inferred} if report.inferred else {}),
    }


def show_prove(report: Report) -> None:
    """Print the outcome of proofs, and the lemmas that were inferred for them."""
    _show_never_taken(stdout(), report)
    _show_findings(stdout(), report)
    if report.inferred:
        click.echo("\ninferred lemmas, to be put into the protocol's class:\n")
        click.echo(textwrap.indent("\n\n".join(report.inferred.values()), "    "))


def _show_never_taken(out: Console, report: Report) -> None:
    if report.never_taken:
        names = escape(safe(", ".join(report.never_taken)))
        stopped = report.exploration is not None and report.exploration.stopped
        until = " until it stopped" if stopped else ""
        out.print(f"[yellow]actions never taken{until}: {names}[/yellow]")
    if report.never_read:
        names = escape(safe(", ".join(report.never_read)))
        out.print(
            f"[yellow]state that no guard and no claim depends on: {names}[/yellow]"
        )


def _show_findings(out: Console, report: Report) -> None:
    table = Table("property", "verdict", "claim")
    for finding in report.findings:
        note = f"\n{finding.note}" if finding.note else ""
        if finding.lemmas:
            note = f"\nwith the lemmas {', '.join(finding.lemmas)}{note}"
        table.add_row(
            escape(finding.property.name),
            marked(finding.verdict),
            escape(f"{safe(finding.property.text)}{note}"),
        )
    out.print(table)
    for line in _bounds(report):
        out.print(escape(line))
    if any(finding.verdict is Verdict.REFUTED for finding in report.findings):
        # What explains a run is not needed where there is none.
        from onceproof.spark_checks.cli.output.trace_console import show_traces  # noqa: PLC0415

        show_traces(out, report)


def _bounds(report: Report) -> list[str]:
    """Return what each verdict is limited to; properties that share it are one line."""
    groups: dict[tuple[Verdict, str, str], list[str]] = {}
    for f in report.findings:
        if f.bounds or f.confirmed:
            groups.setdefault((f.verdict, f.bounds, f.confirmed), []).append(
                f.property.name
            )
    verdicts = [verdict for verdict, _, _ in groups]
    return [
        f"{_whose(verdict, names, verdicts)}: {'; '.join(filter(None, (bounds, seen)))}"
        for (verdict, bounds, seen), names in groups.items()
    ]


def _whose(verdict: Verdict, names: list[str], verdicts: list[Verdict]) -> str:
    """Name a verdict, and its properties where others have the same verdict."""
    several = verdicts.count(verdict) > 1
    return f"{verdict} ({', '.join(names)})" if several else str(verdict)


# Interleavings ----------------------------------------------------------------


def interleaving_data(one: Interleaving) -> dict[str, Any]:
    """Return an interleaving as plain data."""
    return {
        "number": one.number,
        "size": one.size,
        "durable": [str(one.trace.events[i]) for i in one.word],
        "faults": [str(one.trace.events[i]) for i in one.faults],
        "events": [str(e) for e in one.trace.events],
    }


def interleavings_data(found: Interleavings) -> dict[str, Any]:
    """Return the classes of interleavings as plain data."""
    return {
        "protocol": found.protocol.label(),
        "parameters": parameters_of(found.protocol),
        "durable_states": len(found.durable_states),
        "interleavings": [interleaving_data(one) for one in found.classes],
    }


def show_interleavings(found: Interleavings) -> None:
    """Print the classes of interleavings."""
    table = Table("no.", "class size", "faults and durable writes, in order")
    labels = Labels(Interpreter(found.protocol))
    for one in found.classes:
        words = []
        for i in one.word:
            event = one.trace.events[i]
            label = escape(safe(labels.event(event, one.trace.states[i])))
            words.append(f"[red]{label}[/red]" if event.fault else label)
        table.add_row(str(one.number), f"{one.size:,}", "  ".join(words))
    stdout().print(table)


# Doctor -----------------------------------------------------------------------


def show_doctor(findings: list[Found]) -> None:
    """Print what the machine has."""
    table = Table("what", "found", "")
    for f in findings:
        state = "[green]ok[/green]"
        if f.problem:
            state = "[red]missing[/red]" if f.needed else "[yellow]optional[/yellow]"
        table.add_row(f.name, escape(f.problem or f.version), state)
    stdout().print(table)
