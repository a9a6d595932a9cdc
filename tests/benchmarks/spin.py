"""Two-phase commit, searched by Onceproof and by Spin in turn, in one run.

``python -m tests.benchmarks.spin --rm 9`` prints a table and JSON. It needs Spin
(Debian's package ``spin``) and gcc. Compilation is left out of both times. The
Promela has the state packed by hand and leaves steps out that change nothing, both
in Spin's favour; it checks no property, while Onceproof checks agreement.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from onceproof.model.protocols.two_phase_commit import TwoPhaseCommit
from onceproof.properties.guarantees import AGREEMENT
from onceproof.properties.judges.by_search import check
from tests.benchmarks.rounds import at_least_one

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


def by_onceproof(n: int) -> tuple[int, float]:
    """Search breadth-first with Onceproof; give states and seconds."""
    found = check(TwoPhaseCommit(RM=n), [AGREEMENT]).exploration
    if found is None:
        raise RuntimeError
    return found.distinct, found.seconds


def main() -> None:
    """Run both in turn, and print medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rm", type=int, default=9)
    parser.add_argument("--rounds", type=at_least_one, default=3)
    arguments = parser.parse_args()
    if not (shutil.which("spin") and shutil.which("gcc")):
        sys.exit("Spin and gcc are needed; apt-get install spin gcc")
    with tempfile.TemporaryDirectory() as folder:
        pan = compiled(Path(folder), arguments.rm)
        by_onceproof(2)
        rounds = [
            (by_spin(pan), by_onceproof(arguments.rm)) for _ in range(arguments.rounds)
        ]
    spin = statistics.median(s for (_, s), _ in rounds)
    ours = statistics.median(s for _, (_, s) in rounds)
    result = {
        "participants": arguments.rm,
        "rounds": arguments.rounds,
        "spin_states": rounds[0][0][0],
        "onceproof_states": rounds[0][1][0],
        "spin_seconds": round(spin, 3),
        "onceproof_seconds": round(ours, 3),
        "ratio": round(spin / ours, 2),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
