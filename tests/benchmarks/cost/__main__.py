"""What each guarantee costs: ``python -m tests.benchmarks.cost``.

It measures the reference sinks on real Spark, the recovery of stateful queries whose
driver is killed, and simulated topologies of 10 to 10,000 operators. It stores the
figures in docs/explanation/cost.json, and makes the tables of docs/explanation/cost.md
and the pictures from them. ``--quick`` measures little, and stores nothing. ``--only``
measures a part, and leaves the figures of the others. ``--json`` prints the figures.
``--page`` makes the tables and pictures anew from the figures that are stored.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.benchmarks.cost import page, recovery, simulated, sinks

if TYPE_CHECKING:
    from collections.abc import Callable


def measured_sinks(*, quick: bool) -> dict[str, Any]:
    """Measure the reference sinks."""
    if quick:
        return sinks.of_all_sinks([200], 2, 1)
    return sinks.of_all_sinks([1_000, 20_000], 4, 3)


def measured_recovery(*, quick: bool) -> dict[str, Any]:
    """Measure the recovery of stateful queries."""
    if quick:
        return recovery.of_stateful_queries([(1_000, 100), (5_000, 100)], 1)
    cases = [(3_000, 1_000), (30_000, 1_000), (300_000, 1_000)]
    cases += [(30_000, 10_000), (30_000, 100_000)]
    return recovery.of_stateful_queries(cases, 7)


PARTS: dict[str, Callable[..., dict[str, Any]]] = {
    "simulated": simulated.all_of_them,
    "sinks": measured_sinks,
    "recovery": measured_recovery,
}


def settings() -> dict[str, Any]:
    """Say what was measured on."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[1], 1),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def main() -> None:
    """Measure, and store or print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small run")
    parser.add_argument("--json", action="store_true", help="print the figures")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--page", action="store_true", help="measure nothing")
    asked = parser.parse_args()
    found = {} if asked.quick else page.stored()
    for name in () if asked.page else asked.only:
        began = time.perf_counter()
        before = settings()
        figures = PARTS[name](quick=asked.quick)
        seconds = round(time.perf_counter() - began)
        print(f"{name}: {seconds} s", file=sys.stderr)
        measured = {name: {"measured": {**before, "seconds": seconds}, **figures}}
        if asked.quick:
            found |= measured
        else:
            found = page.stored() | measured
            page.store(found)
    if not asked.quick:
        page.write()
    if asked.json:
        print(json.dumps(found, indent=2))
    elif asked.quick:
        print(page.tables(found))


if __name__ == "__main__":
    main()
