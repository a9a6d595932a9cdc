"""Replays the reference sinks on several versions of PySpark, one after the other.

``python -m tests.matrix`` takes all versions; ``python -m tests.matrix 3.5.9`` one.
Each environment is made once, below ``build/matrix``, and takes about 1.5 GB. The table
in ``docs/reference/versions.md`` is written anew after each version.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from typing import Any

from tests.matrix import environments, results

VERSIONS = ("3.5.9", "4.0.5", "4.1.4", "4.2.1", "4.3.0")


def replayed(version: str, sinks: list[str]) -> tuple[dict[str, Any], int]:
    """Replay sinks on a version; return what they came to, and the exit status."""
    python = str(environments.made(version))
    print(f"PySpark {version}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        words = [*(sinks or _names(python)), "--json", "--output", folder]
        done = subprocess.run(
            [python, "-m", "onceproof.spark_checks.cli", "replay", *words],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            cwd=environments.ROOT,
        )
    found = json.loads(done.stdout)["sinks"] if done.stdout else []
    return results.kept(found), done.returncode


def _names(python: str) -> list[str]:
    """Return the reference sinks that this version can import."""
    ask = (
        "from onceproof.spark_checks.sinks.reference import reference_sinks as r;"
        "print(*r())"
    )
    done = subprocess.run(
        [python, "-c", ask],
        check=True,
        capture_output=True,
        text=True,
        cwd=environments.ROOT,
    )
    return done.stdout.split()


def _version(text: str) -> str:
    if not re.fullmatch(r"\d+\.\d+\.\d+", text):
        message = f"{text!r} is no version such as 4.1.4"
        raise argparse.ArgumentTypeError(message)
    return text


def main() -> int:
    """Replay, write the table, and return the worst exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.matrix", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument(
        "versions", nargs="*", default=VERSIONS, metavar="VERSION", type=_version
    )
    parser.add_argument("--sink", action="append", default=[], help="only this sink")
    given = parser.parse_args()
    worst = 0
    for version in given.versions:
        try:
            found, status = replayed(version, given.sink)
        except subprocess.CalledProcessError as error:
            failed = f"{error.cmd[0]} ended with {error.returncode}"
            print(f"PySpark {version} is left out: {failed}", file=sys.stderr)
            worst = 2
            continue
        known = results.read()
        known[version] = {**known.get(version, {}), **found}
        results.write(known)
        worst = max(worst, status)
    return worst


if __name__ == "__main__":
    sys.exit(main())
