"""What the plugin costs a test suite that does not use it, in one run.

``python -m tests.benchmarks.startup`` runs an empty suite with the plugin and without
it, in turns, and prints the median seconds of each, their difference and their ratio.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.rounds import at_least_one


def seconds(folder: str, *words: str) -> float:
    """Run pytest over an empty suite; give its seconds."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    began = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - began


def main() -> None:
    """Measure both, and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=at_least_one, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_nothing.py").write_text("def test_nothing(): pass\n")
        seconds(folder)
        pairs = [
            (seconds(folder), seconds(folder, "-p", "no:onceproof"))
            for _ in range(rounds)
        ]
    used, off = (statistics.median(one) for one in zip(*pairs, strict=True))
    result = {
        "seconds_with": round(used, 3),
        "seconds_without": round(off, 3),
        "difference": round(used - off, 3),
        "ratio": round(used / off, 2),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
