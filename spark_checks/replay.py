"""Replays: every failure interleaving of a sink's model, on real PySpark, judged."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from onceproof.model.interleavings import Interleavings, interleavings
from onceproof.model.language.plain import Reference as Semantics
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.properties.check import Report, check
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.histories import broken
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import events, flights
from onceproof.spark_checks.failpoints.driver import still
from onceproof.spark_checks.observe import Observer
from onceproof.spark_checks.run import Bench, Outcome, Ran, run_one
from onceproof.spark_checks.session import Scratch, WarmSession, java_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onceproof.model.interleavings import Interleaving
    from onceproof.properties.property import Property
    from onceproof.spark_checks.events import Listener
    from onceproof.spark_checks.sinks.interface import Reference

THREADS = 2
_AT_ONCE = 8


@dataclass(frozen=True)
class Sizes:
    """How much a replay runs: events, cut into batches, cut into partitions."""

    batches: int = 4
    partitions: int = 2
    events: int = flights.A_DAY


@dataclass
class SinkReport:
    """How a sink came out of all its interleavings."""

    sink: Reference
    protocol: MicroBatch
    classes: Interleavings
    model: Report
    events: int
    outcomes: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def replayed(self) -> list[Outcome]:
        """The outcomes with a real run behind them."""
        return [o for o in self.outcomes if o.spark is not None]

    @property
    def drift(self) -> list[Outcome]:
        """The outcomes where Spark and the model differ."""
        return [o for o in self.outcomes if o.drift]

    @property
    def properties(self) -> list[Property]:
        """The guarantees that were judged."""
        return guarantees_of(self.protocol)

    def first_break(self, prop: Property) -> Outcome | None:
        """Give the smallest replayed interleaving that breaks a property."""
        for outcome in self.replayed:
            if outcome.spark is not None and broken(prop, outcome.spark):
                return outcome
        return None

    def verdict(self, prop: Property) -> Verdict:
        """Judge a property on the real runs; the model can only lower a "held".

        What the model refutes at a moment when no replay looks is undecided.
        """
        if not self.replayed:
            return Verdict.UNDECIDED
        if self.first_break(prop):
            return Verdict.REFUTED
        refuted = self.model.verdicts.get(prop.name) is Verdict.REFUTED
        return Verdict.UNDECIDED if refuted else Verdict.HELD

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of each guarantee, by name."""
        return {p.name: self.verdict(p) for p in self.properties}

    @property
    def covered(self) -> int:
        """How many of the model's durable crash states were struck by a replay."""
        return self.classes.covered({o.interleaving.number for o in self.replayed})

    @property
    def as_stated(self) -> bool:
        """Whether the sink is judged just as its file states."""
        found = self.verdicts
        refuted = {n for n, v in found.items() if v is Verdict.REFUTED}
        unseen = {n for n, v in found.items() if v is Verdict.UNDECIDED}
        stated = (self.sink.refuted, self.sink.unseen)
        return bool(self.replayed) and (refuted, unseen) == stated


def protocol_of(sink: Reference, sizes: Sizes, *, faults: int = 1) -> MicroBatch:
    """Give the model that describes a sink, with a budget of faults."""
    return MicroBatch(
        sink=sink.model,
        faults=faults,
        BATCH=sizes.batches,
        PARTITION=sizes.partitions,
        **sink.parameters,
    )


def replay(
    sinks: Sequence[Reference],
    listener: Listener,
    *,
    faults: int = 1,
    sizes: Sizes | None = None,
    only: Iterable[int] | None = None,
    keep: bool = False,
) -> list[SinkReport]:
    """Steer each sink through each failure interleaving, and judge what is left.

    ``only`` picks interleavings by number. The scratch folder is removed at the
    end, unless ``keep`` or an interleaving could not be steered as planned.
    """
    began = time.perf_counter()
    sizes = sizes or Sizes()
    java_version()
    scratch = Scratch()
    listener = _one_by_one(listener)
    listener(events.Started(tuple(s.name for s in sinks), str(scratch.path)))
    reports = []
    well = False
    session = None
    try:
        session = WarmSession(scratch.path)
        bench = _bench(session, scratch, sizes)
        reports.extend(
            _replay_sink(bench, sink, listener, sizes, faults, only) for sink in sinks
        )
        well = True
    finally:
        if session is not None:
            session.stop()
        if well and not keep:
            scratch.remove()
        else:
            listener(events.Kept(str(scratch.path)))
    listener(events.Finished(time.perf_counter() - began))
    return reports


def _one_by_one(listener: Listener) -> Listener:
    """Let threads that tell events wait for each other."""
    lock = threading.Lock()

    def tell(event: events.Event) -> None:
        with lock:
            listener(event)

    return tell


def _bench(session: WarmSession, scratch: Scratch, sizes: Sizes) -> Bench:
    rows = flights.flights(sizes.events)
    source = flights.Source(
        scratch.path / "flights", rows, sizes.batches, sizes.partitions
    )
    expected = rows.assign(
        late=rows["dep_delay"] > flights.LATE_MINUTES,
        unit=rows["flight_id"].map(source.units),
    ).drop(columns="dep_delay")
    frame = session.spark.createDataFrame(expected, f"{flights.OUTPUT_WITH_UNIT}")
    return Bench(session, session.spark, source, Observer(frame), scratch.path)


def _replay_sink(
    bench: Bench,
    sink: Reference,
    listener: Listener,
    sizes: Sizes,
    faults: int,
    only: Iterable[int] | None,
) -> SinkReport:
    began = time.perf_counter()
    protocol = protocol_of(sink, sizes, faults=faults)
    report = SinkReport(
        sink,
        protocol,
        interleavings(protocol),
        check(protocol, guarantees_of(protocol)),
        sizes.events,
    )
    wanted = None if only is None else set(only)
    chosen = [
        one for one in report.classes.classes if wanted is None or one.number in wanted
    ]
    listener(events.SinkBegun(sink.name, len(chosen)))
    semantics = Semantics(protocol)
    mine = threading.local()

    def go(one: Interleaving) -> Ran:
        if not hasattr(mine, "bench"):
            with still():
                mine.bench = replace(bench, spark=bench.session.fork())
        listener(events.InterleavingBegun(sink.name, one.number))
        return run_one(mine.bench, sink.build, one, protocol, semantics, sink)

    with ThreadPoolExecutor(THREADS) as pool:
        try:
            done = pool.map(go, chosen)
            while some := list(islice(done, _AT_ONCE)):
                for outcome in _judged(bench.observer, some):
                    report.outcomes.append(outcome)
                    listener(events.Replayed(sink.name, outcome))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    report.seconds = time.perf_counter() - began
    listener(events.Judged(report))
    return report


def _judged(observer: Observer, some: Sequence[Ran]) -> list[Outcome]:
    """Read the ledgers of several runs by one Spark job: small jobs cost dearly."""
    told = [r.telling for r in some if r.telling is not None]
    with still():
        read = iter(observer.histories(told) if told else [])
    return [r.judged(next(read) if r.telling is not None else None) for r in some]
