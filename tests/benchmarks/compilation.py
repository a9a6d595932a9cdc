"""How long each protocol takes to compile: cold, and from the cache.

    python -m tests.benchmarks.compilation [--protocol NAME]

Each is compiled twice, in processes of their own: with an empty cache, then with what
that left there. The search's kernels, which belong to no protocol, are compiled once
before and counted apart. The bounds to keep are 3 s and 0.3 s.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

from onceproof.model.library import protocols

CODE = """
import json, sys, time
start = time.perf_counter()
from onceproof.model.search.states import bucket_table
from onceproof.model.library import make
from onceproof.properties.judges.by_search import check
ready = time.perf_counter()
run = check(make(sys.argv[1], {})).exploration
print(json.dumps([ready - start, run.compile_seconds]))
"""


def seconds(name: str, cache: str) -> tuple[float, float]:
    """Give the seconds for imports and for compilation, in a fresh process."""
    environment = os.environ | {"ONCEPROOF_CACHE": cache}
    done = subprocess.run(
        [sys.executable, "-c", CODE, name],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    imports, compilation = json.loads(done.stdout)
    return imports, compilation


def main() -> None:
    """Print a line for each protocol."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--protocol", choices=list(protocols()))
    chosen = options.parse_args().protocol
    with tempfile.TemporaryDirectory() as cache:
        first, _ = seconds("transaction-commit", cache)
        print(f"kernels and imports, cold: {first:.2f} s")
        print(f"{'protocol':36} {'cold':>6} {'cached':>7}")
        for name in [chosen] if chosen else protocols():
            _, cold = seconds(name, cache)
            _, warm = seconds(name, cache)
            print(f"{name:36} {cold:6.2f} {warm:7.2f}", flush=True)


if __name__ == "__main__":
    main()
