"""Shows how many processes Hadoop starts for local files, and what a rename does.

It needs PySpark alone. A ``chmod`` comes first on the path, which notes each of its
calls and hands them on. Then ten tasks write a file of Parquet each, and a file is
renamed to the name of another one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

TASKS = 10


def noting(folder: Path) -> Path:
    """Put a ``chmod`` that notes its calls on the path; return its notes."""
    notes, place = folder / "notes", folder / "bin"
    place.mkdir()
    tool = place / "chmod"
    tool.write_text(
        f'#!/bin/sh\necho "$@" >> "{notes}"\nexec {shutil.which("chmod")} "$@"\n'
    )
    tool.chmod(0o755)
    os.environ["PATH"] = f"{place}{os.pathsep}{os.environ['PATH']}"
    notes.touch()
    return notes


def main() -> None:
    """Print how many processes a file takes, and what a rename does."""
    folder = Path(tempfile.mkdtemp())
    notes = noting(folder)
    spark: Any = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    print(f"PySpark {pyspark.__version__}", flush=True)

    spark.range(0, TASKS, 1, TASKS).write.parquet(str(folder / "table"))
    called = [n for n in notes.read_text().splitlines() if "part-" in n]
    each = len(called) / TASKS
    print(f"{TASKS} files and their checksums: {each:g} processes for each")

    path = getattr(spark._jvm, "org.apache.hadoop.fs.Path")  # noqa: SLF001
    one, other = folder / "one", folder / "other"
    one.write_text("one")
    other.write_text("other")
    files = path(str(one)).getFileSystem(spark._jsc.hadoopConfiguration())  # noqa: SLF001
    print(f"local files are those of {files.getClass().getName()}")
    done = files.rename(path(str(one)), path(str(other)))
    print(f"a rename onto another file: {'done' if done else 'refused'}")
    spark.stop()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
