"""A reconciliation against a plain anti-join and datacompy, over the same data.

``python -m tests.benchmarks.reconcile`` writes a source and a sink with ten planted
faults, finds them by ``onceproof reconcile``, and counts what is missing by two
anti-joins, each in a process of its own. datacompy, if it is installed, compares a
smaller table. It prints seconds, and the peak memory of Java and Python, as JSON.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

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
import datacompy
a, b = (spark.read.parquet(name).toPandas() for name in ("source", "sink"))
found = datacompy.Compare(a, b, join_columns="id")
print(len(found.df1_unq_rows), len(found.df2_unq_rows))
"""
SESSION = """
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    .config("spark.log.level", "ERROR").getOrCreate())
"""


def measured(command: list[str], folder: Path) -> tuple[str, dict[str, float]]:
    """Run a command; give what it prints, its seconds, and its peak memory in MiB."""
    peak, over = [0], threading.Event()
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )

    def look() -> None:
        while not over.wait(0.2):
            try:
                here = psutil.Process(process.pid)
                family = [here, *here.children(recursive=True)]
                peak[0] = max(peak[0], sum(one.memory_info().rss for one in family))
            except psutil.NoSuchProcess:
                continue

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    printed, _ = process.communicate()
    over.set()
    thread.join()
    seconds = time.perf_counter() - began
    return printed, {"seconds": round(seconds, 1), "peak_mib": peak[0] >> 20}


def script(text: str) -> list[str]:
    return [sys.executable, "-c", SESSION + text]


def compared(events: int, *, by_pandas: bool) -> dict[str, object]:
    """Write the tables, and measure each way of comparing them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planted = {"lost": LOST, "twice": TWICE, "stray": STRAY}
        _, writing = measured(script(WRITE.format(events=events, **planted)), folder)
        words = ("--source", "parquet:source", "--sink", "parquet:sink", "--key", "id")
        command = [sys.executable, "-m", "onceproof.spark_checks.cli", "reconcile"]
        printed, ours = measured([*command, *words, "--json"], folder)
        summed, with_sums = measured(
            [*command, *words, "--by", "day", "--sum", "amount", "--json"], folder
        )
        found = json.loads(printed)["total"]
        grouped = json.loads(summed)["total"]
        assert found == {k: grouped[k] for k in found}, "groups change the counts"
        faults = [found[k] for k in ("missing", "duplicated", "unexplained")]
        assert faults == [len(LOST), len(TWICE), len(STRAY)], faults
        joined, theirs = measured(script(ANTI_JOIN), folder)
        result = {
            "events": events,
            "faults_found": sum(faults),
            "writing": writing,
            "reconcile": ours,
            "reconcile_with_groups_and_sums": with_sums,
            "two_anti_joins": {**theirs, "faults_found": sum(map(int, joined.split()))},
            "ratio": round(ours["seconds"] / theirs["seconds"], 2),
        }
        if by_pandas and importlib.util.find_spec("datacompy"):
            printed, pandas = measured(script(DATACOMPY), folder)
            result["datacompy"] = {**pandas, "printed": printed.strip()}
        return result


def main() -> None:
    """Measure, and print what was found as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--events", type=int, default=100_000_000)
    parser.add_argument("--small", type=int, default=1_000_000, help="for datacompy")
    asked = parser.parse_args()
    found = [compared(asked.small, by_pandas=True)]
    if asked.events != asked.small:
        found.append(compared(asked.events, by_pandas=False))
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
