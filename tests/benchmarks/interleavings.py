"""Interleavings followed orbit by orbit against state by state, in one run.

``python -m tests.benchmarks.interleavings`` enumerates the failure interleavings of
micro-batch, each way in a process of its own. It stops if the two find other classes.
With ``--large``, three faults and four partitions are followed, too: orbit by orbit.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

from onceproof.model.interleavings import enumeration, interleavings
from onceproof.model.interleavings.durable_state import names_of
from onceproof.model.interleavings.orbit_graph import OrbitGraph
from onceproof.model.interleavings.renaming_group import RenamingGroup
from onceproof.model.language.tracing.trace import trace
from onceproof.model.protocols.micro_batch import MicroBatch

SIZES = [(3, 2), (4, 2), (3, 3)]
"""Partitions and faults that both ways are measured at."""
LARGE = (4, 3)
MANY = 10**7
HEAD = "partitions | faults | states | orbits | classes | time | memory | by orbits, s"


def measure(partitions: int, faults: int, *, by_orbit: bool) -> dict[str, float]:
    """Enumerate in this process; count seconds and megabytes."""
    protocol = MicroBatch(PARTITION=partitions, faults=faults, ATTEMPT=faults + 1)
    enumeration.FEW_STATES = 0 if by_orbit else MANY
    enumeration.MOST_STATES = MANY
    began = time.perf_counter()
    found = interleavings(protocol)
    seconds = time.perf_counter() - began
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    system = trace(protocol)
    names = names_of(system)[: None if by_orbit else 1]
    return {
        "seconds": seconds,
        "megabytes": most,
        "rows": OrbitGraph(system, RenamingGroup(system, names), MANY).count,
        "classes": len(found.classes),
        "runs": sum(one.size for one in found.classes),
    }


def _apart(partitions: int, faults: int, *, by_orbit: bool) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.interleavings", "--one"]
    command += [str(partitions), str(faults), str(int(by_orbit))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--one", nargs=3, type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        partitions, faults, by_orbit = asked.one
        print(json.dumps(measure(partitions, faults, by_orbit=bool(by_orbit))))
        return
    print(f"| {HEAD} |")
    print(f"|{' --- |' * len(HEAD.split('|'))}")
    for partitions, faults in SIZES:
        plain = _apart(partitions, faults, by_orbit=False)
        orbits = _apart(partitions, faults, by_orbit=True)
        if any(plain[key] != orbits[key] for key in ("classes", "runs")):
            sys.exit(f"{partitions} partitions, {faults} faults: other classes")
        print(
            f"| {partitions} | {faults} | {plain['rows']:,} | {orbits['rows']:,} "
            f"| {orbits['classes']:,} | {plain['seconds'] / orbits['seconds']:.1f} "
            f"| {plain['megabytes'] / orbits['megabytes']:.1f} "
            f"| {orbits['seconds']:.1f} |",
            flush=True,
        )
    if asked.large:
        partitions, faults = LARGE
        found = _apart(partitions, faults, by_orbit=True)
        print(
            f"| {partitions} | {faults} |  | {found['rows']:,} | {found['classes']:,} "
            f"|  |  | {found['seconds']:.1f} |"
        )


if __name__ == "__main__":
    main()
