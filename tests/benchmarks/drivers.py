"""Replays in one warm session against a new driver for each interleaving, in one run.

``python -m tests.benchmarks.drivers`` replays every single-fault interleaving of two
batches by two partitions over all reference sinks in one session, then a sample of
them, spread over the sinks, each by a driver of its own that starts, runs the very
same interleaving and judges it. It prints rates and their ratio as JSON.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from typing import Any

CLI = [sys.executable, "-m", "onceproof.spark_checks.cli", "replay", "--batches", "2"]


def replayed(*arguments: str) -> tuple[dict[str, Any], float]:
    """Run the command line in a process of its own; give its JSON and seconds."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        result = subprocess.run(
            [*CLI, "--json", "--output", folder, *arguments],
            check=False,
            capture_output=True,
            text=True,
        )
        seconds = time.perf_counter() - began
    if result.returncode not in (0, 1):
        sys.exit(result.stderr or f"a replay ended with status {result.returncode}")
    return json.loads(result.stdout), seconds


def main() -> None:
    """Measure both, and print rates and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--each", type=int, default=1, help="drivers for each sink")
    arguments = parser.parse_args()
    warm, with_start = replayed()
    number = sum(s["replayed"] for s in warm["sinks"])
    seconds = sum(s["seconds"] for s in warm["sinks"])
    alone = []
    for sink in warm["sinks"]:
        for i in range(arguments.each):
            one = 1 + (i + 1) * sink["replayed"] // (arguments.each + 1)
            found, took = replayed(sink["name"], "--only", str(one))
            if found["sinks"][0]["replayed"]:
                alone.append(took)
    rate, rate_alone = number / seconds, len(alone) / sum(alone)
    result = {
        "interleavings": number,
        "seconds": round(seconds, 1),
        "seconds_with_session_start": round(with_start, 1),
        "drivers": len(alone),
        "seconds_for_each_driver": round(sum(alone) / len(alone), 2),
        "ratio": round(rate / rate_alone, 1),
        "ratio_with_session_start": round(number / with_start / rate_alone, 1),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
