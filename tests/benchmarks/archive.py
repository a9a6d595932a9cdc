"""A Spark session with an archive of classes against one without, in one run.

``python -m tests.benchmarks.archive`` makes an archive in a folder of its own, then
starts sessions with it and without it, in turns, each in a process of its own, to the
end of a first small job. It prints the median seconds of each, their ratio, and after
how many sessions the archive has paid.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from onceproof.spark_checks.cli import class_archive_training
from onceproof.spark_checks.session.java import class_archive
from onceproof.spark_checks.session.java.jvm import java_version
from tests.benchmarks.rounds import at_least_one

ONE_SESSION = """
import time
began = time.perf_counter()
from onceproof.spark_checks.session.session_pool import SessionPool
pool = SessionPool(ENTRY_POINTS)
with pool.session(attempts=2, partitions=2) as session:
    session.spark.range(3).count()
    print(time.perf_counter() - began)
pool.close()
"""


def seconds(archive: Path) -> float:
    """Start a session where an archive lies, or would lie; give its seconds."""
    environment = {**os.environ, class_archive.VARIABLE: str(archive)}
    command = [sys.executable, "-c", ONE_SESSION]
    done = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True
    )
    return float(done.stdout)


def main() -> None:
    """Measure both, and print what they took."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=at_least_one, default=7)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        there, none = Path(folder, "spark.jsa"), Path(folder, "none.jsa")
        os.environ[class_archive.VARIABLE] = str(there)
        began = time.perf_counter()
        class_archive_training.make(java_version())
        made = time.perf_counter() - began
        seconds(none)
        pairs = [(seconds(there), seconds(none)) for _ in range(rounds)]
        size = there.stat().st_size
    used, without = (statistics.median(one) for one in zip(*pairs, strict=True))
    saved = without - used
    result = {
        "seconds_with": round(used, 2),
        "seconds_without": round(without, 2),
        "ratio": round(used / without, 2),
        "seconds_to_make": round(made, 1),
        "megabytes": round(size / 1e6),
        "pays_after_sessions": math.ceil(made / saved) if saved > 0 else None,
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
