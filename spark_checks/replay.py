"""Replays: every failure interleaving of a sink's model, on real PySpark, judged."""

from __future__ import annotations

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.model.interleavings import Interleavings, interleavings
from onceproof.model.language.plain import Reference as Semantics
from onceproof.model.protocols.micro_batch import MicroBatch
from onceproof.properties.check import Report, check
from onceproof.properties.guarantees import guarantees_of
from onceproof.properties.histories import broken
from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks import events, flights
from onceproof.spark_checks.failpoints.rules import LINES
from onceproof.spark_checks.observe import Observer
from onceproof.spark_checks.run import Bench, Case, Outcome, Ran, lines_of, run_one
from onceproof.spark_checks.session import Scratch, WarmSession, java_version
from onceproof.spark_checks.sinks.user_code import UserCode
from onceproof.spark_checks.sizes import Sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from onceproof.model.interleavings import Interleaving
    from onceproof.properties.property import Property
    from onceproof.spark_checks.events import Listener
    from onceproof.spark_checks.sinks.interface import Reference

THREADS = 2
MOST_LINES = 40
_AT_ONCE = 8


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
    def missed(self) -> list[Outcome]:
        """The outcomes of interleavings that could not be steered as planned."""
        return [o for o in self.outcomes if o.not_replayed and not o.known]

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
    """Give the exit status of a replay.

    1 for drift, or where a sink is refuted that should not be; 2 where something
    could not be steered. A ``whole`` replay is of all interleavings that a sink's
    file speaks of: there all must be judged as the file states.
    """
    if any(r.drift or r.unexpected or (whole and not r.as_stated) for r in reports):
        return 1
    if any(r.missed for r in reports) or not any(r.replayed for r in reports):
        return 2
    return 0


def protocol_of(sink: Reference, sizes: Sizes, *, faults: int = 1) -> MicroBatch:
    """Give the model that describes a sink, with a budget of faults."""
    return MicroBatch(
        sink=sink.model,
        faults=faults,
        BATCH=sizes.batches,
        PARTITION=sizes.partitions,
        ATTEMPT=sizes.attempts,
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
    end, unless ``keep``; what is left of an interleaving that drifts, or could not be
    steered as planned, stays in any case. Raises ``UsageError``, before Spark is
    started, for a number in ``only`` that no sink has, and for events that are too
    few or more than there are.
    """
    began = time.perf_counter()
    sizes = sizes or Sizes()
    wanted = None if only is None else set(only)
    if wanted is not None:
        _known(sinks, wanted, sizes, faults)
    flights.enough(sizes.events, sizes.batches, sizes.partitions)
    rows = flights.flights(sizes.events)
    java_version()
    scratch = Scratch()
    listener = _one_by_one(listener)
    listener(events.Started(tuple(s.name for s in sinks), str(scratch.path)))
    reports: list[SinkReport] = []
    well = False
    session = None
    try:
        session = WarmSession(
            scratch.path, attempts=sizes.attempts, tasks=THREADS * sizes.partitions
        )
        bench = _bench(session, scratch, sizes, rows)
        todo = _Todo(sizes, faults, wanted, keep=keep)
        reports.extend(_replay_sink(bench, sink, listener, todo) for sink in sinks)
        well = True
    finally:
        if session is not None:
            session.stop()
        kept = [o.folder for r in reports for o in r.outcomes if o.folder is not None]
        if well and not keep:
            scratch.remove(keeping=kept)
        if kept or keep or not well:
            listener(events.Kept(str(scratch.path)))
    listener(events.Finished(time.perf_counter() - began))
    return reports


@dataclass(frozen=True)
class _Todo:
    """What is asked of the replay of each sink."""

    sizes: Sizes
    faults: int
    wanted: set[int] | None
    keep: bool = field(kw_only=True)


def _known(
    sinks: Sequence[Reference], wanted: set[int], sizes: Sizes, faults: int
) -> None:
    """Refuse numbers that no sink has an interleaving of."""
    counts = {
        sink.name: len(interleavings(protocol_of(sink, sizes, faults=faults)).classes)
        for sink in sinks
        if not sink.code  # how many there are shows when it has run
    }
    if not counts:
        return
    most = max(counts.values(), default=0)
    for number in sorted(wanted):
        if not 1 <= number <= most:
            there = ", ".join(f"{name} has 1 to {n}" for name, n in counts.items())
            message = f"there is no interleaving {number}; {there}"
            raise UsageError(message)


def _one_by_one(listener: Listener) -> Listener:
    """Let threads that tell events wait for each other."""
    lock = threading.Lock()

    def tell(event: events.Event) -> None:
        with lock:
            listener(event)

    return tell


def _bench(
    session: WarmSession, scratch: Scratch, sizes: Sizes, rows: pd.DataFrame
) -> Bench:
    source = flights.Source(
        scratch.path / "flights", rows, sizes.batches, sizes.partitions
    )
    expected = rows.assign(
        late=rows["dep_delay"] > flights.LATE_MINUTES,
        unit=rows["flight_id"].map(source.units),
    ).drop(columns="dep_delay")
    frame = session.spark.createDataFrame(expected, f"{flights.OUTPUT_WITH_UNIT}")
    observer, still = Observer(frame), threading.RLock()
    return Bench(session, session.spark, source, observer, scratch.path, still)


def _replay_sink(
    bench: Bench, sink: Reference, listener: Listener, todo: _Todo
) -> SinkReport:
    began = time.perf_counter()
    if sink.code:
        sink = _by_lines(bench, sink, todo.sizes.batches)
    protocol = protocol_of(sink, todo.sizes, faults=todo.faults)
    report = SinkReport(
        sink,
        protocol,
        interleavings(protocol),
        check(protocol, guarantees_of(protocol)),
        todo.sizes.events,
    )
    chosen = [
        one
        for one in report.classes.classes
        if todo.wanted is None or one.number in todo.wanted
    ]
    listener(events.SinkBegun(sink.name, len(chosen)))
    semantics = Semantics(protocol)
    mine = threading.local()

    def go(one: Interleaving) -> Ran:
        if not hasattr(mine, "bench"):
            with bench.still:
                mine.bench = replace(bench, spark=bench.session.fork())
        listener(events.InterleavingBegun(sink.name, one.number))
        return run_one(mine.bench, Case(one, protocol, semantics, sink), listener)

    with ThreadPoolExecutor(THREADS) as pool:
        try:
            done = pool.map(go, chosen)
            while some := list(islice(done, _AT_ONCE)):
                for found in _judged(bench, some):
                    outcome = found if todo.keep else _tidied(found)
                    report.outcomes.append(outcome)
                    listener(events.Replayed(sink.name, outcome))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    report.seconds = time.perf_counter() - began
    listener(events.Judged(report))
    return report


def _by_lines(bench: Bench, sink: Reference, batches: int) -> Reference:
    """Describe a user's sink by the lines that its code is seen to run."""
    seen = max(lines_of(bench, sink, batches).values(), key=len)
    lines = tuple(seen[:MOST_LINES]) or ("the sink's code is called",)
    return replace(
        sink,
        model=UserCode(LINE=len(lines)),
        steps={"sink.run_line": LINES},
        lines=lines,
    )


def _tidied(outcome: Outcome) -> Outcome:
    """Delete what is left of the runs, unless there is something to look into."""
    if outcome.suspect or outcome.folder is None:
        return outcome
    shutil.rmtree(outcome.folder, ignore_errors=True)
    return replace(outcome, folder=None)


def _judged(bench: Bench, some: Sequence[Ran]) -> list[Outcome]:
    """Read the ledgers of several runs by one Spark job: small jobs cost dearly."""
    told = [r.telling for r in some if r.telling is not None]
    with bench.still:
        read = iter(bench.observer.histories(told) if told else [])
    return [r.judged(next(read) if r.telling is not None else None) for r in some]
