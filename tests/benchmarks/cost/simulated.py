"""Snapshots against logs of record numbers, as topologies grow and failures come."""

from __future__ import annotations

import gc
import random
import statistics
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.benchmarks.cost import own_counts
from tests.benchmarks.cost.barriers import BarrierTopology
from tests.benchmarks.cost.following import follow_barriers, follow_logs
from tests.benchmarks.cost.kernel import Layers
from tests.benchmarks.cost.logs import LogTopology
from tests.benchmarks.cost.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Topology: TypeAlias = "BarrierTopology | LogTopology"

DEPTH, FAN = 5, 2
PRICES = Prices()
FREE = replace(PRICES, deploy=0.0, acknowledge=0.0, store_bandwidth=float("inf"))
DEAR = replace(PRICES, log_write=PRICES.work)
BOTH = {"snapshot": PRICES, "log": PRICES}
OFTEN = {"snapshot": PRICES, "snapshot, often": replace(PRICES, interval=0.5)}
OFTEN["log"] = PRICES
GIVEN_UP = 20
"""A run that takes so many times as long as one without any protection is ended."""
KINDS = ("none", "snapshot", "log")


def layers_of(operators: int) -> Layers:
    """Lay out so many operators."""
    return Layers(operators // DEPTH, DEPTH, FAN)


def made(kind: str, operators: int, prices: Prices, records: int) -> Topology:
    """Make a topology that protects its results in one way."""
    layers = layers_of(operators)
    if kind == "log":
        return LogTopology(layers, prices, records)
    return BarrierTopology(layers, prices, records, checkpoints=kind == "snapshot")


def measured(run: Topology, *, limit: float) -> dict[str, Any]:
    """Run it; give its seconds, its steps, and what a failure did to it."""
    with _without_collector():
        finished = run.run(limit=limit)
    counts = run.steps.counts
    processed = [time for times in run.processed_at for time in times]
    logs = isinstance(run, LogTopology)
    found: dict[str, Any] = {
        "seconds": round(run.clock.now, 3) if finished else None,
        "failures": counts["fail"],
        "steps": dict(sorted(counts.items())),
        "processed_again": counts["drop"] if logs else run.lost_records,
        "bytes_written": run.log_bytes if logs else run.snapshot_bytes,
        "bytes_restored": run.restored_bytes,
        "processed_after": round(statistics.fmean(processed), 6) if finished else None,
    }
    if run.recovery_seconds:
        found["recovery"] = round(statistics.fmean(run.recovery_seconds), 3)
    if not logs and run.checkpoints and finished:
        visible = [time for times in run.visible_at for time in times]
        later = statistics.fmean(visible) - statistics.fmean(processed)
        found["visible_later"] = round(later, 3)
    return found


@contextmanager
def _without_collector() -> Iterator[None]:
    """Let no time go to the search for cycles: there are none."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


def with_failures(run: Topology, mean: float, seed: int) -> Topology:
    """Let operators fail at random, with so many seconds between failures."""
    draw = random.Random(seed)

    def fail() -> None:
        run.fail_at(run.clock.now, draw.randrange(run.layers.operators))
        run.clock.after(draw.expovariate(1 / mean), fail)

    run.clock.after(draw.expovariate(1 / mean), fail)
    return run


def growth(operators: int, records: int) -> dict[str, Any]:
    """Measure each way without a failure, and with one in the middle of the run."""
    alone = measured(made("none", operators, PRICES, records), limit=1e9)
    seconds = alone["seconds"]
    found: dict[str, Any] = {"operators": operators, "none": alone}
    for label, kind, prices in (
        ("snapshot", "snapshot", PRICES),
        ("log", "log", PRICES),
        ("snapshot, free coordinator", "snapshot", FREE),
        ("log, dear writes", "log", DEAR),
    ):
        limit = GIVEN_UP * seconds
        calm = measured(made(kind, operators, prices, records), limit=limit)
        if label == "log, dear writes":
            found[label] = {"calm": calm}
            continue
        run = made(kind, operators, prices, records)
        # An operator in the middle of the topology.
        run.fail_at(0.6 * seconds, operators // 2)
        once = measured(run, limit=limit)
        found[label] = {"calm": calm, "one_failure": once}
    return found


def frequency(
    operators: int,
    records: int,
    means: list[float],
    seeds: int,
    kinds: Mapping[str, Prices],
) -> dict[str, Any]:
    """Measure both as the time between two failures of the whole job shrinks."""
    alone = measured(made("none", operators, PRICES, records), limit=1e9)
    limit = GIVEN_UP * alone["seconds"]
    rows = []
    for mean in means:
        row: dict[str, Any] = {"seconds_between_failures": mean}
        for label, prices in kinds.items():
            kind = label.partition(",")[0]
            runs = [
                measured(
                    with_failures(made(kind, operators, prices, records), mean, seed),
                    limit=limit,
                )
                for seed in range(seeds)
            ]
            row[label] = _mean_of(runs, alone["seconds"])
        rows.append(row)
    return {"operators": operators, "none": alone, "rows": rows}


def _mean_of(runs: list[dict[str, Any]], alone: float) -> dict[str, Any]:
    """Take the means of several runs; there is no ratio where one did not end."""
    ended = [run["seconds"] for run in runs if run["seconds"] is not None]
    all_ended = len(ended) == len(runs)
    return {
        "ratio": round(statistics.fmean(ended) / alone, 2) if all_ended else None,
        "runs": len(runs),
        "ended": len(ended),
        "failures": round(statistics.fmean(run["failures"] for run in runs), 1),
        "processed_again": round(
            statistics.fmean(run["processed_again"] for run in runs), 1
        ),
    }


def grid(
    sizes: Mapping[int, tuple[int, int]], means: list[float]
) -> list[dict[str, Any]]:
    """Measure both where each operator fails as rarely, whatever their number.

    Each size has the records of a source, and how many runs there are.
    """
    return [
        {
            "operators": operators,
            "seconds_between_failures_of_an_operator": mean,
            "none": found["none"]["seconds"],
            "snapshot": found["rows"][0]["snapshot"],
            "log": found["rows"][0]["log"],
        }
        for operators, (records, seeds) in sizes.items()
        for mean in means
        for found in [frequency(operators, records, [mean / operators], seeds, BOTH)]
    ]


def validated(rounds: int) -> dict[str, Any]:
    """Follow small random topologies with failures through the protocols."""
    sums = {"snapshot": {"runs": 0, "steps": 0}, "log": {"runs": 0, "steps": 0}}
    failures = 0
    for seed in range(rounds):
        for kind, follow in (("snapshot", follow_barriers), ("log", follow_logs)):
            run = small(kind, seed)
            failures += run.steps.counts["fail"]
            for what, number in follow(run).items():
                sums[kind][what] += number
    return {**sums, "failures": failures}


def small(kind: str, seed: int) -> Topology:
    """Run a small random topology to its end, with up to five failures."""
    draw = random.Random(seed)
    fan = draw.choice((1, 2, 3))
    layers = Layers(fan + draw.choice((0, 1)), draw.choice((2, 3)), fan)
    prices = Prices(
        interval=draw.choice((0.1, 0.3, 1.0)),
        room=draw.choice((1, 2, 8)),
        detect=0.1,
        start=0.1,
    )
    shape = BarrierTopology if kind == "snapshot" else LogTopology
    run = shape(layers, prices, 4 * fan, kept=True)
    for _ in range(draw.choice((0, 1, 2, 5))):
        run.fail_at(draw.uniform(0, 3), draw.randrange(layers.operators))
    ended = run.run(limit=1000)
    if isinstance(run, LogTopology):
        ended = ended and run.settle(limit=2000)
    assert ended, f"{kind}, seed {seed}: a small topology does not end"
    return run


def all_of_them(*, quick: bool) -> dict[str, Any]:
    """Run the simulations; the quick ones are small."""
    sizes = [10, 100] if quick else [10, 100, 1_000, 10_000]
    records = 30 if quick else 60
    means = [5.0, 2.0] if quick else [60.0, 20.0, 10.0, 5.0, 3.0, 2.0, 1.0, 0.5]
    # Few operators fail so rarely that their runs must be long.
    of_grid = {10: (3_000, 5), 100: (600, 5), 1_000: (60, 5), 10_000: (60, 1)}
    return {
        "prices": asdict(PRICES),
        "depth": DEPTH,
        "fan": FAN,
        "records": records,
        "given_up": GIVEN_UP,
        "often": OFTEN["snapshot, often"].interval,
        "own_counts": {
            "barrier-snapshot": own_counts.of_barriers(),
            "deduplication-log": own_counts.of_logs(),
        },
        "validated": validated(10 if quick else 60),
        "growth": [growth(operators, records) for operators in sizes],
        "frequency": frequency(100, 5 * records, means, 1 if quick else 3, OFTEN),
        "grid": grid({10: (300, 1)} if quick else of_grid, [1e4, 1e3]),
    }
