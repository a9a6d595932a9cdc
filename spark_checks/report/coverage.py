"""What a replay left out, and why: interleavings, lines, and code that was called."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.spark_checks.plan.run_plan import FAILED
from onceproof.spark_checks.replay.outcome import after_faults, never_hit
from onceproof.spark_checks.replay.recovery import lines_of_restarts
from onceproof.spark_checks.report.exchange_coverage import exchanges_of
from onceproof.spark_checks.sinks.code_points import installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onceproof.spark_checks.plan.choice import Choice
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.replay.sink_report import SinkReport

BEYOND, SKIPPED, OTHERS = "beyond the cap", "skipped after a refutation", "not chosen"
LEFT = "left when time ran out"
MERGED = "merged with others"
_MOST_SHOWN = 3
_MOST_SAID = 160


def by_cause(report: SinkReport, choice: Choice) -> dict[str, int]:
    """Count the interleavings that were not replayed, by cause."""
    causes = Counter(o.cause or FAILED for o in report.outcomes if o.not_replayed)
    causes[SKIPPED] = report.requested - len(report.outcomes) - report.left
    causes[LEFT] = report.left
    beyond = OTHERS if choice.most is None else BEYOND
    causes[MERGED] = report.merged
    causes[beyond] = len(report.classes.classes) - report.requested - report.merged
    return {cause: number for cause, number in causes.items() if number}


def in_short(report: SinkReport, choice: Choice) -> str:
    """Say in brackets what was left out: interleavings, and why, moments, and lines."""
    parts = []
    if causes := by_cause(report, choice):
        each = ", ".join(f"{number} {cause}" for cause, number in causes.items())
        parts.append(f"{sum(causes.values())} not replayed: {each}")
    if early := sum(o.released_early for o in report.replayed):
        parts.append(f"{early} with a given-up task released early")
    if more := sum(bool(o.unplanned) for o in report.replayed):
        parts.append(f"{more} only after a restart that no fault explains")
    seen = report.sink.seen
    never = never_hit(seen, report.replayed) if choice.whole else ()
    theirs = [text for text in never if installed(text)]
    lines = len(theirs) + (seen.unlisted if seen is not None else 0)
    if lines:
        parts.append(f"{_lines(lines)} of installed packages hit by no fault")
    return f" ({'; '.join(parts)})" if parts else ""


def left_out_of(report: SinkReport, choice: Choice) -> list[str]:
    """Say, a line each, what was not replayed and which code had no fault injected."""
    reasons = Counter(
        (o.cause or FAILED, o.not_replayed) for o in report.outcomes if o.not_replayed
    )
    lines = []
    for (cause, reason), number in reasons.items():
        first = reason.splitlines()[0][:_MOST_SAID].rstrip(":")
        lines.append(f"not replayed, {number} {cause}: {first}")
    causes = by_cause(report, choice)
    there = len(report.classes.classes)
    if skipped := causes.get(SKIPPED):
        more = "" if choice.first else ": --onceproof-profile=ci replays them"
        lines.append(f"not replayed, {skipped} {SKIPPED}{more}")
    if left := causes.get(LEFT):
        lines.append(f"not replayed, {left} {LEFT}")
    if merged := causes.get(MERGED):
        lines.append(
            f"not replayed, {merged} {MERGED}: in the fault-free run nothing that "
            "outlives the process happens between their points, so a crash leaves the "
            "same; --onceproof-every-point replays all"
        )
    if beyond := causes.get(BEYOND):
        lines.append(
            f"not replayed, {beyond} {BEYOND}: --onceproof-most={there} replays all"
        )
    if others := causes.get(OTHERS):
        lines.append(f"not replayed, {others} {OTHERS}")
    lines += _unread(report)
    again = Counter(o.failed_first for o in report.replayed if o.failed_first)
    for reason, number in again.items():
        first = reason.splitlines()[0][:_MOST_SAID].rstrip(":")
        lines.append(f"replayed again after a failure, {number}: {first}")
    for found in report.unsteady.values():
        lines += [
            f"not reproducible: interleaving {n} {how}" for n, how in found.items()
        ]
    errors = Counter(o.unplanned[0] for o in report.replayed if o.unplanned)
    for error, number in errors.items():
        first = error.splitlines()[0][:_MOST_SAID]
        lines.append(
            f"replayed with a restart that no fault explains, {number}: the query "
            f"failed once more: {first}"
        )
    if early := sum(o.released_early for o in report.replayed):
        lines.append(
            f"replayed with the given-up task released early, {early}: others waited "
            "for what it held, such as a lock"
        )
    if report.differing:
        lines.append(
            "kept after a crash, though it differs from build to build: "
            f"{', '.join(report.differing)}; help: take it from target, or make it "
            "where your code runs; if your program has the same value after a restart, "
            "or it makes no difference, use target.lasting(value)"
        )
    return [*lines, *_code(report, whole=choice.whole), *exchanges_of(report)]


def reader_errors(outcomes: Iterable[Outcome]) -> list[str]:
    """List why readers failed, moment by moment."""
    kept = (o for o in outcomes if o.spark is not None)
    return [error for o in kept for error in (*o.unread_before, o.unread) if error]


def _unread(report: SinkReport) -> list[str]:
    """Say at how many moments no reader could read, why, and what to do about it."""
    found = []
    for when, errors in (
        ("after a fault", [e for o in report.replayed for e in o.unread_before]),
        ("once the query had finished", [o.unread for o in report.replayed]),
    ):
        for error, number in Counter(filter(None, errors)).items():
            moments = "1 moment" if number == 1 else f"{number} moments"
            first = error.splitlines()[0][:_MOST_SAID]
            found.append(f"not judged, {moments} {when}: the reader failed: {first}")
    if found:
        found.append(
            "help: if a failing reader is what your users would see, the sink breaks "
            "them; if there is just nothing to read yet, let read= return no rows"
        )
    return found


def _lines(number: int) -> str:
    return f"{number} line{'s' if number != 1 else ''}"


def _code(report: SinkReport, *, whole: bool) -> list[str]:
    """Return which code had no fault injected."""
    seen = report.sink.seen
    if seen is None:
        return []
    found = []
    never = never_hit(seen, report.replayed) if whole else ()
    for what, lines in (
        ("of your code", [text for text in never if not installed(text)]),
        ("of installed packages", [text for text in never if installed(text)]),
    ):
        if lines:
            found.append(
                f"hit by no fault, {_lines(len(lines))} {what}: {_such(lines)}"
            )
    for how, no_points in (
        ("your code takes other ways from run to run", report.unforeseen),
        ("they run only after a fault", after_faults(seen, report.outcomes)),
    ):
        if no_points:
            shown = _such(no_points)
            found.append(f"hit by no fault, {_lines(len(no_points))}: {how}: {shown}")
    if second := _within_reach(report):
        found.append(
            f"help: faults=2 injects a second fault at {second} of them, such as in "
            "the repair of what a crash left"
        )
    if not (seen.driver or seen.tasks):
        found.append(
            "not injected into: what the sink does inside Spark; no line of your own "
            "code runs in it"
        )
    if seen.unlisted:
        found.append(
            f"hit by no fault, {_lines(seen.unlisted)} of installed packages, because "
            "there are too many; name those that matter in code="
        )
    if seen.outside:
        named = ", ".join(f"{name} ({why})" for name, why in seen.outside)
        found.append(f"not injected into: {named}")
    if seen.passed:
        found.append(
            f"not injected into: {seen.passed} repetitions of lines that have faults "
            "at their first and last time"
        )
    return found


def _within_reach(report: SinkReport) -> int:
    """Count the lines that a second fault would hit, where only one was allowed."""
    seen = report.sink.seen
    faults = report.protocol.argument(MicroBatch.faults)
    if seen is None or faults > 1:
        return 0
    again = lines_of_restarts(report.replayed)
    return len(again & {*after_faults(seen, report.outcomes)})


def _such(lines: Sequence[str]) -> str:
    """Name the first few lines, and say how many more there are."""
    more = len(lines) - _MOST_SHOWN
    ends = f" and {more} more" if more > 0 else ""
    return "; ".join(lines[:_MOST_SHOWN]) + ends
