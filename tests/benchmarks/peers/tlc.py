"""Two-phase commit for TLC: the TLA+ beside this file, with agreement as an invariant.

It needs Java. TLC runs with as many workers as there are cores; its time has the start
of Java in it, about a second.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests import tlc

if TYPE_CHECKING:
    from collections.abc import Callable

MODULE = Path(__file__).with_name("TwoPhase.tla")


def prepared(folder: Path, n: int) -> dict[str, Callable[[], tuple[int, float]]]:
    """Write the configuration, if Java is there; give the search by its name."""
    if not shutil.which("java"):
        return {}
    shutil.copy(MODULE, folder / MODULE.name)
    members = ", ".join(f"r{number}" for number in range(n))
    lines = (
        "SPECIFICATION Spec",
        "INVARIANT Agreement",
        f"CONSTANT RM = {{{members}}}",
    )
    (folder / "TwoPhase.cfg").write_text("\n".join(lines) + "\n")
    return {"TLC": lambda: by_tlc(folder)}


def by_tlc(folder: Path) -> tuple[int, float]:
    """Search with TLC; give states and the seconds of the whole command."""
    states = folder / "states"
    shutil.rmtree(states, ignore_errors=True)
    command = ["java", "-XX:+UseParallelGC", "-cp", str(tlc.jar()), "tlc2.TLC"]
    command += ["-workers", str(os.cpu_count()), "-metadir", str(states)]
    command += ["-deadlock", "TwoPhase"]
    began = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True
    )
    seconds = time.perf_counter() - began
    (*_, (_, distinct)) = tlc.COUNTS.findall(done.stdout)
    return int(distinct.replace(",", "")), seconds
