"""What the plugin costs a suite that does not use it, and what a small check takes.

``python -m tests.benchmarks.startup`` runs an empty suite with the plugin and without
it, in turns, and prints the median seconds of each, their difference and their ratio.
With them in turn, it runs a whole ``onceproof check`` of a small protocol, which is
compiled already, and a Python that does nothing.
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

PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
CHECK = ("check", "transaction-commit", "--json")


def seconds(folder: str, *words: str) -> float:
    """Run pytest over an empty suite; give its seconds."""
    return _of([sys.executable, *PYTEST, *words], folder)


def seconds_of_check(folder: str) -> float:
    """Check a small protocol as a user does; give the seconds of the whole command."""
    return _of([str(Path(sys.executable).with_name("onceproof")), *CHECK], folder)


def seconds_of_nothing(folder: str) -> float:
    """Start Python; give its seconds."""
    return _of([sys.executable, "-c", ""], folder)


def _of(command: list[str], folder: str) -> float:
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
        seconds_of_check(folder)
        taken = [
            (
                seconds(folder),
                seconds(folder, "-p", "no:onceproof"),
                seconds_of_check(folder),
                seconds_of_nothing(folder),
            )
            for _ in range(rounds)
        ]
    used, off, check, nothing = map(statistics.median, zip(*taken, strict=True))
    result = {
        "seconds_with": round(used, 3),
        "seconds_without": round(off, 3),
        "difference": round(used - off, 3),
        "ratio": round(used / off, 2),
        "seconds_of_check": round(check, 3),
        "seconds_of_python": round(nothing, 3),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
