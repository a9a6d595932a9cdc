"""A user's own sink, judged: the engine's answer in the words of a test's report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.properties.guarantees import EFFECTIVELY_ONCE, RECOVERABLE
from onceproof.properties.histories import broken
from onceproof.properties.verdicts import Verdict, weakest
from onceproof.spark_checks import replay as engine
from onceproof.spark_checks.artifacts import write_counterexamples
from onceproof.spark_checks.drift import times
from onceproof.spark_checks.sinks.own import own_sink
from onceproof.spark_checks.sizes import Sizes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onceproof.properties.property import Property
    from onceproof.spark_checks.replay import SinkReport
    from onceproof.spark_checks.run import Outcome
    from onceproof.spark_checks.sinks.interface import Build

CLAIMED = (EFFECTIVELY_ONCE, RECOVERABLE)


@dataclass(frozen=True)
class Judged:
    """How a sink came out: a headline that stands alone, and the story behind it."""

    verdict: Verdict
    headline: str
    story: str
    replayed: int

    @property
    def holds(self) -> bool:
        """Whether the sink held in every interleaving that was replayed."""
        return self.verdict.holds


def judge(
    build: Build, *, code: Path, faults: int, batches: int, artifacts: Path
) -> Judged:
    """Replay a sink under every failure interleaving, and judge what readers saw.

    ``build`` is called with a fresh target for each. ``code`` is the folder below which
    the user's code lies: every line of it that the driver runs may be the last one.
    Counterexamples are written to ``artifacts``.
    """
    sink = own_sink(build, code)
    sizes = Sizes(batches=batches)
    [report] = engine.replay([sink], lambda _: None, faults=faults, sizes=sizes)
    verdict = weakest(report.verdict(prop) for prop in CLAIMED)
    if report.missed and verdict.holds:
        verdict = Verdict.UNDECIDED
    replayed = len(report.replayed)
    if verdict is Verdict.REFUTED:
        files = write_counterexamples(report, artifacts)
        headline, story = _refuted(report, files)
    elif verdict.holds:
        headline = f"{sink.name} held in {replayed} interleavings"
        story = "\n".join(_left_out(report))
    else:
        headline = f"{sink.name} is undecided: {len(report.missed)} were not replayed"
        story = "\n".join(_left_out(report))
    return Judged(verdict, headline, story, replayed)


def _refuted(report: SinkReport, files: dict[str, str]) -> tuple[str, str]:
    prop = next(p for p in CLAIMED if report.verdict(p) is Verdict.REFUTED)
    outcome = report.first_break(prop)
    if outcome is None or outcome.spark is None:
        message = f"{prop.name} is refuted, and by no interleaving"
        raise RuntimeError(message)
    clause, moment = broken(prop, outcome.spark) or (0, 0)
    seen = ", ".join(f"{n} {times(k)}" for k, n in outcome.spark.seen(moment).items())
    name = report.sink.name.rpartition("::")[2]
    claim = prop.clauses[clause].text
    headline = (
        f"{name} is not {prop.name}: {outcome.spark.moments[moment]}, of the events "
        f"readers see {seen}; claimed is that {claim}"
    )
    story = [*_story(outcome, prop, moment), *_left_out(report)]
    if "::" in report.sink.name:
        story.append(f"again:   onceproof replay {files[prop.name]}")
    else:
        story.append(f"written: {files[prop.name]}")
    return headline, "\n".join(story)


def _story(outcome: Outcome, prop: Property, moment: int) -> Iterator[str]:
    """Tell what was done to the sink, and what readers saw at each moment."""
    yield "what was done:"
    for how in outcome.failpoints:
        yield f"    {how}"
    yield "what readers saw:"
    if outcome.spark is not None:
        for number, name in enumerate(outcome.spark.moments):
            seen = outcome.spark.seen(number)
            told = ", ".join(f"{n} events {times(k)}" for k, n in seen.items())
            mark = f"   <- here {prop.name} breaks" if number == moment else ""
            yield f"    {name}: {told}{mark}"


def _left_out(report: SinkReport) -> Iterator[str]:
    """Tell what was not replayed, and why."""
    reasons: dict[str, int] = {}
    for outcome in report.outcomes:
        if outcome.not_replayed:
            reasons[outcome.not_replayed] = reasons.get(outcome.not_replayed, 0) + 1
    for reason, number in reasons.items():
        yield f"not replayed, {number}: {reason}"
