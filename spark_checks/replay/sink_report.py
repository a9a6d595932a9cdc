"""The report on a sink: its outcomes and verdicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.judges.by_history import unobserved
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.replay.outcome import never_cut, never_hit, unforeseen
from onceproof.spark_checks.replay.smallest import Smallest
from onceproof.spark_checks.sinks.code_points import installed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from onceproof.model.interleavings.interleaving import Interleavings
    from onceproof.model.protocols.micro_batch import MicroBatch
    from onceproof.properties.judges.by_search import Report
    from onceproof.properties.property import Property
    from onceproof.spark_checks.inputs.event_files import Input
    from onceproof.spark_checks.replay.outcome import Outcome
    from onceproof.spark_checks.sinks.interface import ModelledSink, UnderTest


@dataclass(frozen=True)
class SinkReport:
    """The outcomes of a sink's failure interleavings, and the verdicts they give."""

    sink: ModelledSink
    """The sink, with the points that its code reached."""
    protocol: MicroBatch
    """The protocol that describes it."""
    classes: Interleavings
    """Its failure interleavings."""
    model: Report
    """The verdicts of the model."""
    given: Input
    """The events."""
    outcomes: tuple[Outcome, ...] = ()
    """The outcome of each interleaving that was tried, in order of numbers."""
    seconds: float = 0.0
    """How long the replay took."""
    under_test: UnderTest | None = None
    """The sink as its function built it."""
    requested: int = 0
    """How many interleavings were chosen."""
    whole: bool = True
    """Whether all were requested, rather than some by name."""
    unsteady: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """By property, the interleavings that broke it once and not again, with how often
    they did, in words."""
    again: Mapping[int, tuple[Outcome, ...]] = field(default_factory=dict)
    """The outcomes of further replays, by number."""
    kept: Mapping[int, Path] = field(default_factory=dict)
    """By number, the folders of runs that are kept for inspection."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """The version of the sink's store, by its name, if it is known."""
    patience: float = 0.0
    """The number of seconds that a run could take."""
    left: int = 0
    """How many of the chosen interleavings the budget of time left out."""
    recalled: int = 0
    """How many outcomes, and confirmations of them, were noted before."""
    agent: bool = False
    """Whether an agent was in Spark's JVM."""
    differing: tuple[str, ...] = ()
    """The data of the sink's code that differs from build to build: a restarted run
    keeps the old value, and a restarted program would have another."""
    merged: int = 0
    """How many interleavings another one stands for: between the points of their faults
    the sink's code left nothing that outlives its process."""

    @property
    def replayed(self) -> list[Outcome]:
        """The outcomes with a real run behind them."""
        return [o for o in self.outcomes if o.spark is not None]

    @property
    def drift(self) -> list[Outcome]:
        """The outcomes where Spark and the model differ."""
        return [o for o in self.outcomes if o.drift]

    @property
    def conforming(self) -> list[Outcome]:
        """The outcomes of which each step that the agent reported is a model's."""
        return [o for o in self.outcomes if o.trace.conforms]

    @property
    def properties(self) -> list[Property]:
        """The guarantees that were judged."""
        return guarantees_of(self.protocol)

    def first_break(self, prop: Property) -> Outcome | None:
        """Return the smallest replayed interleaving that breaks a property.

        One that did not break it again does not count.
        """
        unsteady = self.unsteady.get(prop.name, {})
        return self._smallest.first_break(prop, self.outcomes, unsteady)

    @cached_property
    def _smallest(self) -> Smallest:
        return Smallest(self.protocol)

    def verdict(self, prop: Property) -> Verdict:
        """Judge a property on the real runs; the model can only lower a "held".

        What the model refutes at a moment when no replay looks is undecided, and so is
        what was broken only once, or where readers failed at a moment that the property
        speaks of. Nothing is held if time ran out before all was replayed.
        """
        if not self.replayed:
            return Verdict.UNDECIDED
        if self.first_break(prop):
            return Verdict.REFUTED
        if self.unsteady.get(prop.name) or self.unobserved(prop):
            return Verdict.UNDECIDED
        refuted = self.model.verdicts.get(prop.name) is Verdict.REFUTED
        return Verdict.UNDECIDED if refuted or self.left else Verdict.HELD

    def unobserved(self, *claims: Property) -> list[Outcome]:
        """List the outcomes in which no reader could read what one of some claims asks.

        What breaks a claim at another moment is among them, too.
        """
        return [
            outcome
            for outcome in self.replayed
            if outcome.spark is not None
            and (outcome.unread or any(unobserved(c, outcome.spark) for c in claims))
        ]

    def first_unobserved(self, prop: Property) -> Outcome | None:
        """Return the smallest outcome in which no reader read what a claim asks."""
        return min(
            self.unobserved(prop),
            key=lambda outcome: self._smallest.of(outcome.interleaving),
            default=None,
        )

    @property
    def never_hit(self) -> tuple[str, ...]:
        """The lines of the user's own code that have no fault before them."""
        never = never_hit(self.sink.seen, self.replayed) if self.whole else ()
        return tuple(text for text in never if not installed(text))

    @property
    def never_cut(self) -> tuple[str, ...]:
        """The exchanges with the store that are not cut, before or after."""
        return never_cut(self.sink.exchanges, self.replayed) if self.whole else ()

    @property
    def unforeseen(self) -> tuple[str, ...]:
        """The lines of the user's own code that the first run did not reach."""
        return unforeseen(self.sink.seen, self.outcomes) if self.whole else ()

    @property
    def unknown_exchanges(self) -> int:
        """How many exchanges of the sink's code cannot be cut."""
        exchanges = self.sink.exchanges
        return 0 if exchanges is None else exchanges.unknown

    def concluded(self, prop: Property) -> Verdict:
        """Judge a property; it is not held where a fault could not be injected."""
        verdict = self.verdict(prop)
        incomplete = (
            self.missed
            or self.never_hit
            or self.unforeseen
            or self.never_cut
            or self.unknown_exchanges
            or self.differing
        )
        return Verdict.UNDECIDED if incomplete and verdict.holds else verdict

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of each guarantee, by name."""
        return {p.name: self.verdict(p) for p in self.properties}

    @property
    def covered(self) -> int:
        """How many of the model's durable crash states a replay crashed in."""
        return self.classes.covered({o.interleaving.number for o in self.replayed})

    @property
    def missed(self) -> list[Outcome]:
        """The outcomes without a verdict: not steered, or not confirmed."""
        unsteady = {number for found in self.unsteady.values() for number in found}
        return [
            o for o in self.outcomes if o.missed or o.interleaving.number in unsteady
        ]

    def judged(self, verdict: Verdict) -> frozenset[str]:
        """Name the guarantees that came out so."""
        return frozenset(n for n, v in self.verdicts.items() if v is verdict)

    @property
    def as_stated(self) -> bool:
        """Whether the sink is judged just as its file states."""
        return (
            bool(self.replayed)
            and self.judged(Verdict.REFUTED) == self.sink.refuted
            and self.judged(Verdict.UNDECIDED) == self.sink.unseen
        )

    @property
    def unexpected(self) -> frozenset[str]:
        """The guarantees that are refuted, and the sink's file does not say so."""
        return self.judged(Verdict.REFUTED) - self.sink.refuted


def status(reports: Sequence[SinkReport], *, whole: bool) -> int:
    """Return the exit status of a replay.

    1 for drift, or where a sink is refuted that should not be; 2 where something
    could not be steered, or nothing was replayed of a sink. A ``whole`` replay is of
    all interleavings that a sink's file speaks of: there all must be judged as the file
    states.
    """
    if any(r.drift or r.unexpected or (whole and not r.as_stated) for r in reports):
        return 1
    if any(r.missed or r.left for r in reports) or not (
        reports and all(r.replayed for r in reports)
    ):
        return 2
    return 0
