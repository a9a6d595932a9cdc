"""How many states a partial-order reduction leaves of each protocol of the library.

``python -m tests.benchmarks.reduction`` searches each protocol, without variants, four
times: all states, reduced, with symmetry, and with both. It asks the claims that a
reduction keeps, all of them at once. The last columns are of the claim that needs the
fewest states on its own. It stops if two of the searches judge a claim differently.
Names of protocols limit it to these, and ``--set NAME=VALUE`` changes their sizes.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make, variants
from onceproof.model.search.symmetry import interchangeable
from onceproof.properties.judges.by_search import check
from tests.model.search.test_reduction import reducible

if TYPE_CHECKING:
    from onceproof.model.language.composition.protocol import Protocol

HEAD = "protocol | states | reduced | factor | symmetry | both | one claim | factor"


def row(protocol: Protocol) -> str:
    """Measure a protocol, and return its row of the table."""
    claims = reducible(protocol)
    symmetric = (False, True) if interchangeable(trace(protocol)) else (False,)
    found = {
        (symmetry, reduce): check(protocol, claims, symmetry=symmetry, reduce=reduce)
        for symmetry in symmetric
        for reduce in (False, True)
    }
    verdicts = [report.verdicts for report in found.values()]
    ones = {c.name: check(protocol, [c], reduce=True) for c in claims}
    alone = {name: report.verdicts[name] for name, report in ones.items()}
    if any(each != alone for each in verdicts):
        sys.exit(f"{protocol.label()}: the searches differ")
    counts = {how: report.exploration.distinct for how, report in found.items()}
    whole = counts[False, False]
    least = min(ones, key=lambda name: ones[name].exploration.distinct)
    fewest = ones[least].exploration.distinct
    cells = (
        protocol.label(),
        f"{whole:,}",
        f"{counts[False, True]:,}",
        f"{whole / counts[False, True]:.1f}",
        f"{counts[True, False]:,}" if len(symmetric) > 1 else "",
        f"{counts[True, True]:,}" if len(symmetric) > 1 else "",
        f"{fewest:,} ({least})",
        f"{whole / fewest:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="PROTOCOL", help="default: all")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    asked = parser.parse_args()
    settings = dict(one.split("=", 1) for one in asked.set)
    print(f"| {HEAD} |")
    print(f"|{' --- |' * len(HEAD.split('|'))}")
    if asked.names:
        chosen = [make(name, settings) for name in asked.names]
    else:
        chosen = [v.protocol for v in variants() if not v.settings]
    for protocol in chosen:
        print(row(protocol), flush=True)


if __name__ == "__main__":
    main()
