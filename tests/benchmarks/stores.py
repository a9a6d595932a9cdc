"""Replays of one kind of sink on PostgreSQL, on Delta Lake and in SQLite, in one run.

``python -m tests.benchmarks.stores --rounds 5`` replays the sinks one after the other:
each inserts a batch's rows once, by the id of the batch, so the interleavings are the
same. It prints as JSON how many interleavings each replays in a minute, how much time
of processors one of them takes, and the ratios to SQLite. Medians of the rounds are
taken, after one round that is not counted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import TYPE_CHECKING

from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.session.session_pool import SessionPool
from onceproof.spark_checks.sinks.reference import every_reference_sink
from tests.benchmarks.processor_time import processor_seconds
from tests.benchmarks.rounds import at_least_one

if TYPE_CHECKING:
    from onceproof.spark_checks.sinks.interface import ModelledSink

SINKS = ("foreach-batch-ledger", "postgres-ledger", "delta-txn")


def measured(sink: ModelledSink, rounds: int) -> list[tuple[float, float]]:
    """Return the seconds, and those of processors, of one interleaving in each round.

    The rounds share a session, and one before them is not counted: it starts Spark, and
    Java compiles the most of what the others run.
    """
    request, found = ReplayRequest(sizes=Sizes(batches=2)), []
    pool = SessionPool(ENTRY_POINTS)
    try:
        for _ in range(rounds + 1):
            used, began = processor_seconds(), time.perf_counter()
            [report] = replay([sink], lambda _: None, request, pool=pool)
            took, number = time.perf_counter() - began, len(report.replayed)
            found.append((took / number, (processor_seconds() - used) / number))
    finally:
        pool.close()
    return found[1:]


def main() -> None:
    """Measure each sink in turn, and print rates and their ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=at_least_one, default=5)
    rounds = parser.parse_args().rounds
    known = every_reference_sink()
    each = {name: measured(known[name], rounds) for name in SINKS}
    medians = {
        name: [statistics.median(column) for column in zip(*times, strict=True)]
        for name, times in each.items()
    }
    base = medians[SINKS[0]]
    found = {
        name: {
            "interleavings_a_minute": round(60 / took, 1),
            "processor_seconds_each": round(used, 2),
            "ratio_of_time": round(took / base[0], 2),
            "ratio_of_processor_time": round(used / base[1], 2),
        }
        for name, (took, used) in medians.items()
    }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
