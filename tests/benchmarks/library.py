"""States per second, and bytes per state, for each protocol of the library.

    python -m tests.benchmarks.library [--protocol NAME] [--budget S] [--json]

Each is searched at its standard size, without compilation, again and again until the
budget is used; the fastest search counts. A search that takes longer than the budget
is stopped, and what it found until then counts. Bytes are the most that the search
held at once (states, table, successors); "packed" are those of the states alone. In a
small search most bytes are those of the first table and of the first successors.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make, protocols, settings_of
from onceproof.model.search.exhaustive import explore
from onceproof.model.search.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Speed:
    """What was measured of one protocol."""

    protocol: str
    distinct: int
    generated: int
    complete: bool
    seconds: float
    states_per_second: int
    bytes_per_state: float
    packed_per_state: int


class _Timed(Limits):
    """Gives up when the time is over, which begins with the first piece."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        object.__setattr__(self, "_ends", [])
        object.__setattr__(self, "_seconds", seconds)

    def exceeded(self, states: int, memory: int) -> str:
        now, ends = time.perf_counter(), vars(self)["_ends"]
        ends.append(now + vars(self)["_seconds"])
        return "out of time" if now > ends[0] else ""


def measured(name: str, settings: Mapping[str, str], budget: float) -> Speed:
    """Search a protocol until the budget is used; give the fastest search."""
    system = trace(make(name, settings))
    began, found = time.perf_counter(), []
    while not found or time.perf_counter() - began < budget:
        found.append(explore(system, limits=_Timed(budget)))
        if not found[-1].complete:
            break
    best = min(found, key=lambda run: run.seconds)
    return Speed(
        name,
        best.distinct,
        best.generated,
        best.complete,
        round(best.seconds, 4),
        round(best.distinct / best.seconds),
        round(best.memory / best.distinct, 1),
        best.packed // best.distinct,
    )


def main() -> None:
    """Print a line for each protocol, or JSON."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--protocol", choices=list(protocols()))
    options.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options.add_argument("--budget", type=float, default=0.5, metavar="SECONDS")
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    names = [given.protocol] if given.protocol else protocols()
    found = []
    if not given.json:
        columns = ("protocol", "states", "ms", "states a second", "B a state", "packed")
        print(f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    for name in names:
        one = measured(name, settings_of(given.set), given.budget)
        found.append(one)
        if not given.json:
            states = f"{one.distinct:,}" + ("" if one.complete else "+")
            taken = f"{1000 * one.seconds:.1f}", f"{one.states_per_second:,}"
            room = f"{one.bytes_per_state:,.1f}", f"{one.packed_per_state}"
            print(f"| {' | '.join((name, states, *taken, *room))} |", flush=True)
    if given.json:
        print(json.dumps([asdict(one) for one in found], indent=2))


if __name__ == "__main__":
    main()
