"""A stateful query is killed with its driver, and started again: how long it takes."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from typing import Any

from tests.benchmarks.cost.recovery_driver import DIES_IN


def of_stateful_queries(cases: list[tuple[int, int]], rounds: int) -> dict[str, Any]:
    """Kill a driver with a query of each size in a batch; measure the restarts.

    A case is the number of keys in the state, and of rows in a batch.
    """
    with tempfile.TemporaryDirectory(prefix="onceproof-cost-") as folder:
        _killed(folder, cases)
        done = subprocess.run(
            _command(folder, "recover", cases, rounds),
            check=False,
            capture_output=True,
            text=True,
        )
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    found = json.loads(done.stdout.splitlines()[-1])
    return {
        "session": round(found["session"], 1),
        "rounds": rounds,
        "dies_in_batch": DIES_IN,
        "rows": _medians(cases, found["runs"]),
    }


def _command(
    folder: str, what: str, cases: list[tuple[int, int]], rounds: int
) -> list[str]:
    asked = json.dumps([folder, what, cases, rounds])
    return [sys.executable, "-m", "tests.benchmarks.cost.recovery_driver", asked]


def _killed(folder: str, cases: list[tuple[int, int]]) -> None:
    """Start a driver, and kill it with its JVM once each query is in its batch."""
    driver = subprocess.Popen(
        _command(folder, "prepare", cases, 0),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        ready = driver.stdout and driver.stdout.readline()
        if not ready:
            _, errors = driver.communicate()
            raise SystemExit(errors[-2000:])
    finally:
        if driver.poll() is None:
            os.killpg(driver.pid, signal.SIGKILL)
        driver.communicate()


def _medians(
    cases: list[tuple[int, int]], runs: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Compare each case with the first of the same round."""
    of_case = [
        sorted(
            (run for run in runs if (run["keys"], run["rows"]) == tuple(case)),
            key=lambda run: run["round"],
        )
        for case in cases
    ]
    base = [run["recovery"] for run in of_case[0]]
    return [
        {
            "keys": keys,
            "rows": rows,
            "recovery": round(statistics.median(r["recovery"] for r in mine), 2),
            **_spread(
                "first_row",
                [r["recovery"] / b for r, b in zip(mine, base, strict=True)],
            ),
            **_spread("next_batch", [r["recovery"] / r["next_batch"] for r in mine]),
            "state_bytes": mine[0]["state_bytes"],
        }
        for (keys, rows), mine in zip(cases, of_case, strict=True)
    ]


def _spread(name: str, ratios: list[float]) -> dict[str, float]:
    """Return the median of the rounds, the least and the most."""
    taken = {"ratio": statistics.median, "least": min, "most": max}
    return {f"{name}_{label}": round(take(ratios), 2) for label, take in taken.items()}
