"""A reconciliation against a plain anti-join and datacompy, over the same data.

``python -m tests.benchmarks.reconcile`` writes a source and a sink with ten planted
faults, finds them by ``onceproof reconcile``, and counts what is missing by two
anti-joins, each in a process of its own with the same memory for Java. datacompy
compares the smallest tables; ``--datacompy`` names a Python that has it. It prints
seconds, and the peak memory of Java and of Python, as lines of JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator

LOST, TWICE, STRAY = (7, 11, 13, 17), (19, 23, 29), (1, 2, 3)
WRITE = """
rows = spark.range({events}).selectExpr(
    "id", "cast(id % 1000 as decimal(18,2)) amount", "cast(id % 365 as int) day")
rows.write.parquet("source")
sink = rows.where("id not in {lost}").union(rows.where("id in {twice}"))
strays = rows.where("id in {stray}").selectExpr("-id id", "amount", "day")
sink.union(strays).write.parquet("sink")
"""
ANTI_JOIN = """
a, b = spark.read.parquet("source"), spark.read.parquet("sink")
print(a.join(b, "id", "anti").count(), b.join(a, "id", "anti").count())
"""
DATACOMPY = """
import datacompy, pandas
a, b = (pandas.read_parquet(name) for name in ("source", "sink"))
compare = getattr(datacompy, "PandasCompare", None) or datacompy.Compare
found = compare(a, b, join_columns="id")
print(datacompy.__version__, len(found.df1_unq_rows), len(found.df2_unq_rows))
"""
SESSION = """
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "{memory}").config("spark.log.level", "ERROR")
    .getOrCreate())
"""
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


def measured(command: list[str], folder: Path) -> tuple[str, dict[str, Any]]:
    """Run a command; give what it prints, its seconds, and its peak memory in MiB."""
    peaks: dict[str, dict[int, int]] = {"java": {}, "python": {}}
    over = threading.Event()
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def look() -> None:
        while not over.wait(0.5):
            try:
                here = psutil.Process(process.pid)
                for one in (here, *here.children(recursive=True)):
                    status = Path(f"/proc/{one.pid}/status").read_text()
                    kind = "java" if one.name() == "java" else "python"
                    if found := _PEAK.search(status):
                        peaks[kind][one.pid] = int(found[1])
            except (psutil.NoSuchProcess, OSError):
                continue

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    printed, errors = process.communicate()
    over.set()
    thread.join()
    seconds = time.perf_counter() - began
    if process.returncode not in (0, 1):
        message = f"{command[:4]} ended with {process.returncode}: {errors[-2000:]}"
        raise SystemExit(message)
    memory = {
        f"{kind}_peak_mib": max(found.values()) >> 10
        for kind, found in peaks.items()
        if found
    }
    return printed, {"seconds": round(seconds, 1), **memory}


def script(text: str, memory: str) -> list[str]:
    """Return the command that runs a script in a Spark session."""
    return [sys.executable, "-c", SESSION.format(memory=memory) + text]


def compared(events: int, memory: str, datacompy: str) -> Iterator[tuple[str, Any]]:
    """Write the tables, and give the figures of each way of comparing them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planted = {"lost": LOST, "twice": TWICE, "stray": STRAY}
        yield "events", events
        writing = script(WRITE.format(events=events, **planted), memory)
        yield "writing", measured(writing, folder)[1]
        found, ours = _reconciled(folder, memory)
        yield "reconcile", {**ours, "faults_found": _faults(found)}
        joined, theirs = measured(script(ANTI_JOIN, memory), folder)
        seen = sum(map(int, joined.split()))
        yield "two_anti_joins", {**theirs, "faults_found": seen}
        yield "ratio", round(ours["seconds"] / theirs["seconds"], 2)
        if datacompy:
            printed, pandas = measured([datacompy, "-c", DATACOMPY], folder)
            version, *some = printed.split()
            seen = sum(map(int, some))
            yield "datacompy", {**pandas, "version": version, "faults_found": seen}
        more = ("--by", "day", "--sum", "amount")
        grouped, with_sums = _reconciled(folder, memory, *more)
        assert _faults(grouped) == _faults(found), "groups change the counts"
        yield "reconcile_with_groups_and_sums", with_sums


def _reconciled(
    folder: Path, memory: str, *more: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run the command, and see that it finds each planted fault, and no other."""
    words = ("--source", "parquet:source", "--sink", "parquet:sink", "--key", "id")
    command = [sys.executable, "-m", "onceproof.spark_checks.cli", "reconcile"]
    command += [*words, *more, "--conf", f"spark.driver.memory={memory}", "--json"]
    printed, figures = measured(command, folder)
    found = json.loads(printed)
    planted = {
        "missing": set(LOST),
        "duplicated": set(TWICE),
        "unexplained": {-one for one in STRAY},
    }
    for fault, keys in planted.items():
        shown = {int(key["id"]) for key in found["examples"][fault]}
        assert shown == keys, f"{fault}: {shown}"
        assert found["total"][fault] == len(keys), f"{fault}: {found['total']}"
    return found, figures


def _faults(found: dict[str, Any]) -> int:
    return sum(found["total"][one] for one in ("missing", "duplicated", "unexplained"))


def main() -> None:
    """Measure, and print what was found, a line of JSON each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--events", type=int, nargs="+", default=[1_000_000, 10_000_000, 100_000_000]
    )
    parser.add_argument("--memory", default="2g", help="Java's, as in -Xmx")
    parser.add_argument(
        "--datacompy", default="", help="a Python with datacompy, for the smallest"
    )
    asked = parser.parse_args()
    if not asked.datacompy:
        print("datacompy is not measured: no --datacompy PYTHON", file=sys.stderr)
    for number, events in enumerate(sorted(asked.events)):
        python = "" if number else asked.datacompy
        for name, figures in compared(events, asked.memory, python):
            print(json.dumps({name: figures}), flush=True)


if __name__ == "__main__":
    main()
