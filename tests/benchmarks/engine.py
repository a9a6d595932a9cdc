"""The search on Spark beside the native one: time against states, and against tasks.

``python -m tests.benchmarks.engine --rm 4 6 8`` searches two-phase commit with so many
participants natively, and on Spark with one task at a time and with two. Each search is
a command of its own, as a user starts it; the native one is then given too little
memory, and stops. It prints a row for each size.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from typing import Any

COMMAND = [sys.executable, "-m", "onceproof.spark_checks.cli", "check"]
CHOSEN = ["two-phase-commit", "--property", "agreement", "--json"]
ROW = "| {} | {} | {:.1f} s | {:.1f} s | {:.1f} s | {:.0f} | {} |"


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


def row(rm: int) -> str:
    """Measure a size, and return its row of the table."""
    native, here = searched(rm)
    engine = ("--engine", "spark", "--conf", "spark.driver.memory=2g")
    one, there = searched(rm, *engine, "--master", "local[1]")
    two, _ = searched(rm, *engine, "--master", "local[2]")
    same = ("distinct", "generated", "depth", "properties")
    if any(here[name] != there[name] for name in same):
        sys.exit(f"the two engines differ at RM={rm}")
    room = here["distinct"] * 8
    _, short = searched(rm, "--max-memory", str(room))
    stopped = "stops" if short["stopped"] else "ends"
    states = f"{here['distinct']:,}"
    return ROW.format(rm, states, native, one, two, two / native, stopped)


def main() -> None:
    """Measure each size that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rm", type=int, nargs="+", default=[4, 6, 8])
    print("| participants | states | native | 1 task | 2 tasks | ratio | in 8 B each |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for rm in parser.parse_args().rm:
        print(row(rm), flush=True)


if __name__ == "__main__":
    main()
