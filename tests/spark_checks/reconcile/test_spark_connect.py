"""A reconciliation by Spark Connect: a real server, and what is found there."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ci, pytest.mark.spark]
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"
NEEDED = ("grpc", "grpc_status", "google.protobuf")
SECONDS = 300


def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def answers(number):
    with socket.socket() as there:
        return there.connect_ex(("127.0.0.1", number)) == 0


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """Start a server whose own zone is not UTC, and give its address."""
    import pyspark

    home = Path(pyspark.__file__).parent
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing or not [*(home / "jars").glob("spark-connect_*.jar")]:
        pytest.skip(
            f"Spark Connect is not installed: {', '.join(missing) or 'its jar'}"
        )
    folder, number = tmp_path_factory.mktemp("connect"), port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": number,
        "spark.driver.extraJavaOptions": "-Duser.timezone=America/New_York",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.warehouse.dir": folder / "warehouse",
    }
    words = [str(home / "bin" / "spark-submit"), "--master", "local[2]"]
    for name, value in settings.items():
        words += ["--conf", f"{name}={value}"]
    log = (folder / "server.log").open("w")
    server = subprocess.Popen(
        [*words, "--class", SERVER, "spark-internal"],
        cwd=folder,
        stdout=log,
        stderr=log,
        env={**os.environ, "SPARK_HOME": str(home)},
    )
    try:
        ends = time.monotonic() + SECONDS
        while not answers(number):
            ended = server.poll() is not None or time.monotonic() > ends
            assert not ended, (folder / "server.log").read_text()[-2000:]
            time.sleep(0.2)
        yield f"sc://127.0.0.1:{number}"
    finally:
        server.terminate()
        server.wait()
        log.close()


@pytest.fixture
def tables(tmp_path):
    rows = [{"id": n, "amount": n, "at": f"2026-01-01 0{n}:00:00"} for n in range(6)]
    sink = [*rows[1:5], rows[2], {**rows[3], "id": 77}]
    sink[3] = {**sink[3], "amount": 40}
    for name, some in (("source", rows), ("sink", sink)):
        lines = "".join(f"{json.dumps(row)}\n" for row in some)
        (tmp_path / f"{name}.json").write_text(lines)
    return tmp_path


def run(folder, *words):
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", "reconcile"]
    tables = [f"{folder}/{name}.json" for name in ("source", "sink")]
    return subprocess.run(
        [*command, "--source", tables[0], "--sink", tables[1], "--key", "id", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


ASKED = ("--sum", "amount", "--by", "substr(at, 12, 2)", "--json")
TIME = ("--time", "cast(at as timestamp)", "--until", "2026-01-01 04:00:00")


@pytest.mark.grid
def test_a_server_finds_what_this_machine_finds(master, tables):
    """Counts, groups, sums, examples and verdicts; a time without a zone is of UTC."""
    there = run(tables, *ASKED, *TIME, "--master", master, "--html", "page.html")
    here = run(tables, *ASKED, *TIME)

    assert there.returncode == here.returncode == 1, there.stderr
    found, same = json.loads(there.stdout), json.loads(here.stdout)
    del found["seconds"], same["seconds"]
    assert found == same
    total = found["total"]
    assert (total["owed"], total["missing"], total["duplicated"]) == (5, 1, 1)
    assert (total["unexplained"], total["changed"]) == (1, 1)
    assert found["examples"]["missing"] == [{"id": "0"}]
    assert f'<td class="key">{master}</td>' in (tables / "page.html").read_text()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--sink-query", "SELECT * FROM source"), "the sink"),
        (
            ("--sink-query", "SELECT * FROM sink WHERE rand() < 0.9"),
            "because of rand()",
        ),
        (("--sink-query", "SELECT * FROM sink LIMIT 3"), "because of LIMIT"),
        (("--source-query", "SELECT * FROM sink"), "the source"),
        (("--sum", "nonsense"), "`nonsense` cannot be resolved"),
        (("--key", "cast(at as date)=id"), "is date in the source and"),
    ],
)
def test_a_server_refuses_what_this_machine_refuses(master, tables, more, words):
    """In a sentence; the query of one table never reads the other."""
    done = run(tables, *more, "--master", master)

    assert done.returncode == 2, done.stdout + done.stderr
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
