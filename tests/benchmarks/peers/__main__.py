"""Two-phase commit, searched by Onceproof and by other model checkers, in one run.

``python -m tests.benchmarks.peers --rm 9 --rounds 5`` has them search in turn, and
prints medians and the ratio of each to Onceproof. A peer that is not installed is left
out, and named. All have to find the same number of states. Compilation is left out of
all times.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from onceproof.model.protocols.two_phase_commit import TwoPhaseCommit
from onceproof.properties.guarantees import AGREEMENT
from onceproof.properties.judges.by_search import check
from tests.benchmarks.peers import spin, stateright, tlc
from tests.benchmarks.rounds import at_least_one

PEERS = {"spin": spin, "stateright": stateright, "tlc": tlc}
OURS = "Onceproof"


def by_onceproof(n: int) -> tuple[int, float]:
    """Search breadth-first with Onceproof; give states and seconds."""
    found = check(TwoPhaseCommit(RM=n), [AGREEMENT]).exploration
    if found is None:
        raise RuntimeError
    return found.distinct, found.seconds


def main() -> None:
    """Have all search in turn; print medians and ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rm", type=at_least_one, default=9, help="participants")
    parser.add_argument("--rounds", type=at_least_one, default=3)
    parser.add_argument(
        "--only", nargs="+", choices=PEERS, default=list(PEERS), help="these peers"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, and no table")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="onceproof-peers-") as folder:
        searches = {OURS: lambda: by_onceproof(asked.rm)}
        for name in asked.only:
            place = Path(folder) / name
            place.mkdir()
            found = PEERS[name].prepared(place, asked.rm)
            if not found:
                print(f"{name} is not installed, and left out", file=sys.stderr)
            searches |= found
        if len(searches) == 1:
            parser.error("there is nothing to compare with")
        by_onceproof(2)
        seconds = {name: [] for name in searches}
        states = {}
        for number in range(asked.rounds):
            for name, search in searches.items():
                states[name], took = search()
                seconds[name].append(took)
                print(f"round {number + 1}: {name} {took:.2f} s", file=sys.stderr)
    if len(set(states.values())) != 1:
        sys.exit(f"the numbers of states differ: {states}")
    ours = statistics.median(seconds[OURS])
    rows = [
        {
            "search": name,
            "seconds": round(statistics.median(taken), 3),
            "ratio": round(statistics.median(taken) / ours, 2),
            "least_ratio": round(min(_ratios(taken, seconds[OURS])), 2),
            "most_ratio": round(max(_ratios(taken, seconds[OURS])), 2),
        }
        for name, taken in seconds.items()
    ]
    if asked.json:
        head = {"participants": asked.rm, "rounds": asked.rounds}
        print(json.dumps({**head, "states": states[OURS], "searches": rows}, indent=2))
        return
    print(f"{asked.rm} participants, {states[OURS]:,} states, {asked.rounds} rounds\n")
    print("| search | seconds | ratio | in each round |")
    print("| --- | --- | --- | --- |")
    for row in rows:
        spread = f"{row['least_ratio']:g} to {row['most_ratio']:g}"
        print(f"| {row['search']} | {row['seconds']} | {row['ratio']:g} | {spread} |")


def _ratios(taken: list[float], ours: list[float]) -> list[float]:
    return [one / other for one, other in zip(taken, ours, strict=True)]


if __name__ == "__main__":
    main()
