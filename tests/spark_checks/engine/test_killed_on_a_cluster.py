"""A search on a cluster outlives a killed worker, and goes on after a killed driver."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from onceproof.spark_checks.session.cluster import Cluster

pytestmark = [pytest.mark.spark, pytest.mark.grid]

PARTICIPANTS = 3
PATIENCE = 240


@pytest.fixture
def cluster(tmp_path):
    """Start a master and two workers, and end them."""
    started = Cluster(tmp_path / "cluster", tmp_path, cores=1)
    yield started
    started.stop()


def searching(cluster, folder):
    """Start the search on the cluster, as a user does."""
    command = ["check", "two-phase-commit", "--set", f"RM={PARTICIPANTS}"]
    engine = ["--engine", "spark", "--master", cluster.url, "--folder", str(folder)]
    settings = ["--conf", "spark.executor.memory=512m", "--property", "agreement"]
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "onceproof.spark_checks.cli"),
            *(*command, *engine, *settings, "--json"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"},
        text=True,
        start_new_session=True,
    )


def wait_for_level(process, folder, level):
    """Wait until a search has noted so many levels."""
    file, until = folder / "search.json", time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        if file.exists() and len(json.loads(file.read_text())["counts"]) > level:
            return
        time.sleep(0.05)
    process.kill()
    pytest.fail(f"level {level} was not reached: {process.communicate()[1][-2000:]}")


def test_a_killed_worker_and_a_killed_driver_lose_nothing(cluster, tmp_path):
    """The counts are those of the formula that TLC's agree with."""
    folder = tmp_path / "states"
    first = searching(cluster, folder)
    wait_for_level(first, folder, 3)
    os.kill(cluster.workers[0], signal.SIGKILL)
    wait_for_level(first, folder, 5)
    assert first.poll() is None
    first.kill()
    first.communicate()

    second = searching(cluster, folder)
    out, err = second.communicate(timeout=PATIENCE)

    n = PARTICIPANTS
    assert second.returncode == 0, err
    found = json.loads(out)
    assert found["distinct"] == 6**n + 4**n + 2**n
    generated = (n + 1) * 4**n + 4 * n * 6**n // 3 + n * 2**n + 2
    assert found["generated"] == generated
    assert found["depth"] == 3 * n + 1
    assert found["properties"] == {"agreement": "exhausted"}
