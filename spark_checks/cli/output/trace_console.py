"""The traces of what a judge of a model refutes, as a table of steps and changes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from onceproof.model.language.interpreter import Interpreter
from onceproof.model.text import safe
from onceproof.properties.counterexample.explanation.slicing import joined
from onceproof.properties.counterexample.file import steps_of
from onceproof.properties.verdicts import Verdict
from onceproof.properties.words.labels import Labels

if TYPE_CHECKING:
    from rich.console import Console

    from onceproof.model.traces import Trace
    from onceproof.properties.judges.by_search import Finding, Report

INDENT = " " * 6
NOTHING = "nothing else changes, and one fault fewer may follow"
LEAST = 30
"""How much room beside its label a step's changes need; else they are below it."""


def show_traces(out: Console, report: Report) -> None:
    """Print each trace once, with all that it refutes."""
    groups: dict[Trace, list[Finding]] = {}
    for finding in report.findings:
        if finding.verdict is Verdict.REFUTED and finding.trace is not None:
            groups.setdefault(finding.trace, []).append(finding)
    for trace, findings in groups.items():
        out.print()
        for line in _refuted(findings):
            out.print(line)
        _show_steps(out, Interpreter(report.protocol), trace)


def _refuted(findings: list[Finding]) -> list[str]:
    """Name what fails, by the clauses that do."""
    claims: dict[str, list[str]] = {}
    for finding in findings:
        text = finding.property.clauses[finding.clause].text
        claims.setdefault(text, []).append(finding.property.name)
    return [
        f"{joined([f'[bold]{escape(name)}[/bold]' for name in names])} "
        f"{'fails' if len(names) == 1 else 'fail'}: {escape(safe(text))}"
        for text, names in claims.items()
    ]


def _show_steps(out: Console, interpreter: Interpreter, trace: Trace) -> None:
    """Print a trace step by step, with what each step changed."""
    steps = steps_of(interpreter, trace)
    labels = Labels(interpreter)
    if not trace.steps:
        out.print(f"{INDENT}in an initial state, before any step:")
        _print_wrapped(out, INDENT, _changes(labels.state(trace.start)))
    elif chosen := labels.chosen(trace.start):
        _print_wrapped(out, INDENT, f"it starts with {_changes(chosen)}")
    width = max((len(step.label) for step in steps), default=0)
    for number, (event, step) in enumerate(zip(trace.events, steps, strict=True), 1):
        if trace.loop is not None and number == trace.loop + 1:
            out.print(f"{INDENT}from here on, for ever:")
        mark = "fault " if event.fault else INDENT
        before, after = trace.states[number - 1 : number + 1]
        changes = _changes(labels.differences(before, after)) or NOTHING
        _print_step(out, f"  {number:3} ", mark, f"{safe(step.label):{width}}", changes)
    if trace.loop == len(trace.steps):
        out.print(f"{INDENT}the run may stay here for ever")
    if trace.loop is not None:
        stays = labels.differences(trace.start, trace.states[-1])
        _print_wrapped(out, INDENT, f"in this state: {_changes(stays)}")


def _print_step(out: Console, number: str, mark: str, label: str, changes: str) -> None:
    """Print a step; changes that do not fit beside its label go on below it."""
    head = len(number) + len(mark) + len(label) + 2
    beside = head + LEAST <= out.width
    lines = _wrapped(out, changes, first=head if beside else 2 * len(INDENT))
    shown = f"{number}[red]{mark}[/red]{escape(label)}  "
    if beside and lines:
        shown += f"[dim]{escape(lines.pop(0).strip())}[/dim]"
    out.print(shown.rstrip())
    for line in lines:
        out.print(f"[dim]{escape(line)}[/dim]")


def _wrapped(out: Console, text: str, first: int) -> list[str]:
    """Break a text into lines, of which the first one begins further right."""
    return textwrap.wrap(
        text,
        out.width,
        initial_indent=" " * first,
        subsequent_indent=INDENT * 2,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _print_wrapped(out: Console, indent: str, text: str) -> None:
    for line in _wrapped(out, text, first=len(indent)):
        out.print(escape(line))


def _changes(changes: dict[str, Any]) -> str:
    """Name what differs, budgets of faults apart."""
    return ", ".join(
        f"{name}={safe(value)}"
        for name, value in changes.items()
        if name.split(".")[0] != "faults"
    )
