"""How many interleavings of the reference sinks are replayed in a minute.

``python -m tests.benchmarks.rates --rounds 3`` replays every single-fault interleaving
of two batches by two partitions of all reference sinks without a store, in one warm
session: first without an agent in Spark, then with one. It prints as JSON the rate of
the first round, in which Java compiles the most of what it runs, the median of the
others, and how much time of processors one interleaving takes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import Any

from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.inputs.sizes import Sizes
from onceproof.spark_checks.replay.engine import replay
from onceproof.spark_checks.replay.request import ReplayRequest
from onceproof.spark_checks.session.session_pool import SessionPool
from onceproof.spark_checks.sinks.reference import reference_sinks
from tests.benchmarks.processor_time import processor_seconds
from tests.benchmarks.rounds import at_least_one


def measured(rounds: int, *, agent: bool) -> dict[str, Any]:
    """Replay all sinks in each round; return rates, and processor seconds of one."""
    request = ReplayRequest(sizes=Sizes(batches=2), agent=agent)
    sinks = list(reference_sinks().values())
    pool = SessionPool(ENTRY_POINTS, agent=agent)
    rates, used, number = [], [], 0
    try:
        for done in range(rounds + 1):
            spent, began = processor_seconds(), time.perf_counter()
            reports = replay(sinks, lambda _: None, request, pool=pool)
            number = sum(len(report.replayed) for report in reports)
            rates.append(60 * number / (time.perf_counter() - began))
            used.append((processor_seconds() - spent) / number)
            if pool.no_agent:
                sys.exit(pool.no_agent)
            print(f"round {done}: {rates[-1]:.0f} a minute", file=sys.stderr)
    finally:
        pool.close()
    return {
        "interleavings": number,
        "a_minute_in_the_first_round": round(rates[0], 1),
        "a_minute": round(statistics.median(rates[1:]), 1),
        "processor_seconds_each": round(statistics.median(used[1:]), 2),
    }


def main() -> None:
    """Measure both, and print the figures and the ratio of the rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=at_least_one, default=3)
    rounds = parser.parse_args().rounds
    plain = measured(rounds, agent=False)
    with_agent = measured(rounds, agent=True)
    ratio = with_agent["a_minute"] / plain["a_minute"]
    found = {"plain": plain, "agent": with_agent, "ratio": round(ratio, 2)}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
