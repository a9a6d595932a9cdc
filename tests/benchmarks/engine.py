"""The search on Spark beside the native one: time against states, and executors.

``python -m tests.benchmarks.engine --rm 4 6 8`` searches two-phase commit with so many
participants natively, on Spark with one task at a time and with two, and on a cluster
of this machine with one executor and with two. Each search is a command of its own, as
a user starts it; the native one is then given too little memory, and stops. It prints a
row for each size.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from onceproof.spark_checks.session.cluster import Cluster

COMMAND = [sys.executable, "-m", "onceproof.spark_checks.cli", "check"]
CHOSEN = ["two-phase-commit", "--property", "agreement", "--json"]
HEADS = (
    "participants",
    "states",
    "levels",
    "native",
    "1 task",
    "2 tasks",
    "1 executor",
    "2 executors",
    "in 8 B each",
)


def searched(rm: int, *options: str) -> tuple[float, dict[str, Any]]:
    """Search, and return how many seconds it took, and what was found."""
    began = time.perf_counter()
    done = subprocess.run(
        [*COMMAND, *CHOSEN, "--set", f"RM={rm}", *options],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
    )
    if done.returncode not in {0, 2}:
        sys.exit(done.stderr)
    return time.perf_counter() - began, json.loads(done.stdout)


def on_a_cluster(rm: int, folder: Path, executors: int) -> tuple[float, dict[str, Any]]:
    """Search on a cluster that gives as many executors of one core each."""
    cluster = Cluster(folder / f"cluster-{rm}-{executors}", folder, cores=1)
    try:
        where = ("--master", cluster.url, "--conf", f"spark.cores.max={executors}")
        room = ("--conf", "spark.executor.memory=640m")
        return searched(rm, "--engine", "spark", *where, *room)
    finally:
        cluster.stop()


def row(rm: int, folder: Path) -> list[str]:
    """Measure a size, and return its row of the table."""
    native, here = searched(rm)
    engine = ("--engine", "spark", "--conf", "spark.driver.memory=2g")
    found = [
        searched(rm, *engine, "--master", f"local[{tasks}]") for tasks in (1, 2)
    ] + [on_a_cluster(rm, folder, executors) for executors in (1, 2)]
    same = ("distinct", "generated", "depth", "properties")
    if any(here[name] != there[name] for name in same for _, there in found):
        sys.exit(f"the engines differ at RM={rm}")
    room = here["distinct"] * 8
    _, short = searched(rm, "--max-memory", str(room))
    times = [f"{seconds:.1f} s" for seconds in (native, *(s for s, _ in found))]
    stopped = "stops" if short["stopped"] else "ends"
    return [str(rm), f"{here['distinct']:,}", str(here["depth"]), *times, stopped]


def main() -> None:
    """Measure each size that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rm", type=int, nargs="+", default=[4, 6, 8])
    given = parser.parse_args()
    print(f"| {' | '.join(HEADS)} |\n|{' --- |' * len(HEADS)}")
    with tempfile.TemporaryDirectory(prefix="onceproof-engines-") as folder:
        for rm in given.rm:
            print(f"| {' | '.join(row(rm, Path(folder)))} |", flush=True)


if __name__ == "__main__":
    main()
