"""Replays the reference sinks on several versions of PySpark, one after the other.

``python -m tests.matrix`` takes all versions; ``python -m tests.matrix 3.5.9`` one.
With ``--store delta --store postgres`` the sinks on these stores are replayed instead,
where the store has a connector for the version, and with ``--plugin`` the tests of the
pytest plugin are run. Each environment is made once, below ``build/matrix``, and takes
about 1.5 GB. The table in ``docs/reference/versions.md`` is written anew after each
version.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
from typing import Any

from onceproof.spark_checks.stores.known_stores import STORE_NAMES
from tests.matrix import environments, results

VERSIONS = ("3.5.9", "4.0.5", "4.1.4", "4.2.1", "4.3.0")
_TESTS = (
    *("-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not grid"),
    "tests/spark_checks/pytest_plugin",
)
_SINKS = (
    "from onceproof.spark_checks.sinks.reference import reference_sinks;"
    "print(*reference_sinks())"
)
"""Prints the reference sinks that a version can import."""
_CONNECTOR = (
    "from onceproof.spark_checks.stores.known_stores import STORES;"
    "from onceproof.spark_checks.stores.tables.connector_store import ConnectorStore;"
    "it = STORES['{store}']();"
    "print(*it.missing() if isinstance(it, ConnectorStore) else ())"
)
"""Prints why a store that Spark reads by a connector is not there on a version."""


def replayed(
    version: str, sinks: list[str], store: str = ""
) -> tuple[dict[str, Any], int]:
    """Replay sinks on a version; return what they came to, and the exit status.

    With a ``store`` these are the sinks on it; none where it has no connector.
    """
    python = str(environments.made(version))
    on = f" with {store}" if store else ""
    print(f"PySpark {version}{on}", file=sys.stderr, flush=True)
    if store and (missing := _answer(python, _CONNECTOR.format(store=store))):
        print(f"left out: {missing}", file=sys.stderr, flush=True)
        return {}, 0
    named = ["--store", store] if store else _answer(python, _SINKS).split()
    with tempfile.TemporaryDirectory() as folder:
        words = [*(sinks or named), "--json", "--output", folder]
        done = subprocess.run(
            [python, "-m", "onceproof.spark_checks.cli", "replay", *words],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            cwd=environments.ROOT,
        )
    if not done.stdout:
        print("no verdict was written", file=sys.stderr, flush=True)
        return {}, done.returncode or 2
    return results.kept(json.loads(done.stdout)["sinks"]), done.returncode


def tested(version: str) -> tuple[dict[str, Any], int]:
    """Run the tests of the plugin on a version; count how they end."""
    python = str(environments.made(version))
    print(f"PySpark {version} with the plugin's tests", file=sys.stderr, flush=True)
    done = subprocess.run(
        [python, "-m", "pytest", *_TESTS],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        cwd=environments.ROOT,
    )
    print(done.stdout, file=sys.stderr, flush=True)
    found = results.outcomes(done.stdout, done.returncode)
    return {results.PLUGIN: found}, done.returncode


def _answer(python: str, code: str) -> str:
    """Return what a line of code prints on a version."""
    done = subprocess.run(
        [python, "-c", code],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=environments.ROOT,
    )
    return done.stdout.strip()


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
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--sink", action="append", default=[], help="only this sink")
    what.add_argument(
        "--store",
        action="append",
        default=[],
        choices=STORE_NAMES,
        metavar="STORE",
        help="the sinks on this store",
    )
    what.add_argument("--plugin", action="store_true", help="the plugin's tests")
    given = parser.parse_args()
    worst = 0
    for version, store in itertools.product(given.versions, given.store or [""]):
        try:
            if given.plugin:
                found, status = tested(version)
            else:
                found, status = replayed(version, given.sink, store)
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
