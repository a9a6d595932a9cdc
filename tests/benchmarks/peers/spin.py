"""Two-phase commit for Spin.

The Promela has the state packed by hand and leaves steps out that change nothing, both
in Spin's favour; it checks no property, while the others check agreement. Spin is
Debian's package ``spin``; it needs gcc. Compilation is left out of its time.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMPILE = [
    "-O3",
    "-march=native",
    "-DSAFETY",
    "-DNOREDUCE",
    "-DNOBOUNDCHECK",
    "-DNOFAIR",
]


def promela(n: int) -> str:
    """Write TwoPhase.tla for ``n`` resource managers, packed into bit masks."""
    full = (1 << n) - 1
    lines = [
        "int rm; short seen; short sent; byte tm; bit cs; bit as;",
        "active proctype p() { do",
        f":: d_step {{ tm == 0 && seen == {full} -> tm = 1; cs = 1 }}",
        ":: d_step { tm == 0 -> tm = 2; as = 1 }",
    ]
    for i in range(n):
        bit, shift = 1 << i, 2 * i
        value = f"((rm >> {shift}) & 3)"
        clear = f"(rm & ~(3 << {shift}))"
        lines += [
            (
                f":: d_step {{ tm == 0 && (sent & {bit}) && !(seen & {bit}) -> "
                f"seen = seen | {bit} }}"
            ),
            (
                f":: d_step {{ {value} == 0 -> rm = rm | (1 << {shift}); "
                f"sent = sent | {bit} }}"
            ),
            f":: d_step {{ {value} == 0 -> rm = rm | (3 << {shift}) }}",
            f":: d_step {{ cs && {value} != 2 -> rm = {clear} | (2 << {shift}) }}",
            f":: d_step {{ as && {value} != 3 -> rm = {clear} | (3 << {shift}) }}",
        ]
    return "\n".join([*lines, "od }", ""])


def compiled(folder: Path, n: int) -> Path:
    """Compile the Promela; give the searcher."""
    (folder / "model.pml").write_text(promela(n))
    subprocess.run(["spin", "-a", "model.pml"], cwd=folder, check=True)
    command = ["gcc", *COMPILE, "-DMEMLIM=20000", "-o", "pan", "pan.c"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "pan"


def prepared(folder: Path, n: int) -> dict[str, Callable[[], tuple[int, float]]]:
    """Compile Spin's searcher, if Spin is there; give it by its name."""
    if not (shutil.which("spin") and shutil.which("gcc")):
        return {}
    version = subprocess.run(["spin", "-V"], check=True, capture_output=True, text=True)
    name = "Spin " + version.stdout.split()[2]
    pan = compiled(folder, n)
    return {name: lambda: by_spin(pan)}


def by_spin(pan: Path) -> tuple[int, float]:
    """Search depth-first with Spin; give states and seconds."""
    began = time.perf_counter()
    result = subprocess.run(
        [pan, "-m10000", "-w25", "-E", "-n"],
        cwd=pan.parent,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    seconds = time.perf_counter() - began
    found = re.search(r"([0-9.e+]+) states, stored", result)
    return (int(float(found.group(1))) if found else 0), seconds
