"""`python -m tests.soundness.report`: what random protocols covered, and what failed.

Prints how often each construct and each class of terms was drawn, which verdicts each
judge gave of each modality, and how many branches of the readers ran.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

MODALITIES = (
    "always",
    "step",
    "at_rest",
    "sometimes",
    "recoverable",
    "eventually",
    "leads_to",
)
VACUOUS = ("step", "at_rest", "sometimes", "leads_to")
STATES = ("always", "step", "at_rest")
MEASURED = (
    "model/language",
    "model/search",
    "model/interleavings/enumeration.py",
    "model/interleavings/canonical_form.py",
    "model/interleavings/durable_state.py",
    "model/export/tla.py",
    "model/export/javascript.py",
    "properties/judges/by_proof",
)


def expected_cells() -> set[tuple[str, str, str]]:
    """List which verdicts each judge must have given, of which modality."""
    cells = set()
    for when in MODALITIES:
        for verdict in ("exhausted", "refuted"):
            if (when, verdict) != ("sometimes", "refuted"):
                cells.add(("search", when, verdict))
                cells.add(("symmetry", when, verdict))
    cells |= {("search", when, "vacuous") for when in VACUOUS}
    cells |= {("reduction", "states", "fewer"), ("reduction", "sometimes", "exhausted")}
    for when in STATES:
        if when != "step":
            cells |= {("reduction", when, v) for v in ("refuted", "exhausted")}
        cells |= {
            ("z3", when, v) for v in ("refuted", "exhausted", "proved", "bounded")
        }
        cells |= {("simulation", when, v) for v in ("refuted", "held")}
    cells |= {("z3", "sometimes", "bounded"), ("simulation", "sometimes", "held")}
    cells |= {
        ("z3", when, "undecided")
        for when in ("sometimes", "recoverable", "eventually", "leads_to")
    }
    cells |= {("interleavings", "runs", kind) for kind in ("several", "refused")}
    cells |= {
        ("javascript", when, v)
        for when in ("always", "at_rest", "sometimes")
        for v in ("True", "False")
    }
    return cells | {("tla", "module", "written")}


def empty_cells(tally: Counter[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """List the verdicts that ought to have occurred, and did not."""
    return sorted(cell for cell in expected_cells() if not tally[cell])


def main() -> int:
    """Draw, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--protocols", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=1_000, help="states at other sizes")
    parser.add_argument("--keep", action="store_true", help="reduce and keep failures")
    parser.add_argument("--branches", action="store_true", help="measure branches")
    options = parser.parse_args()
    measure = _measure() if options.branches else None
    found = _compare(options)
    if measure is not None:
        measure.stop()
        _branches(measure)
    return found


def _compare(options: argparse.Namespace) -> int:
    from tests.node import Node
    from tests.soundness.cases import draws
    from tests.soundness.drawing.constructs import TERMS, public, terms_of, used
    from tests.soundness.finding import failures, kept

    tally: Counter[tuple[str, str, str]] = Counter()
    constructs, terms, profiles = Counter(), Counter(), Counter()
    wrong: dict[str, list[str]] = {}
    refused: list[str] = []
    states = 0
    node = Node()
    with tempfile.TemporaryDirectory() as folder:
        cases = draws(options.seed, options.protocols, Path(folder), refused)
        for case in cases:
            constructs.update(used(case.path.read_text(encoding="utf-8")))
            terms.update(terms_of(case.kind()))
            profiles[case.name.partition(":")[0]] += 1
            states += len(case.brute.states)
            for name, what, _ in failures(case, tally, node, most=options.most):
                if options.keep and what not in wrong:
                    print("kept", kept(case, name, what, node), flush=True)
                wrong.setdefault(what, []).append(case.name)
    node.close()
    drawn = ", ".join(f"{n} {name}" for name, n in sorted(profiles.items()))
    print(f"{options.protocols} protocols from seed {options.seed}: {drawn}")
    print(f"{states} states; {len(refused)} descriptions refused by the language")
    _table("constructs drawn", {name: constructs[name] for name in sorted(public())})
    _table("classes of terms drawn", {name: terms[name] for name in TERMS})
    _table("verdicts", {" ".join(cell): n for cell, n in sorted(tally.items())})
    empty = empty_cells(tally)
    print(f"verdicts that ought to occur and did not: {len(empty)}")
    for cell in empty:
        print("   ", *cell)
    print(f"disagreements: {sum(map(len, wrong.values()))}")
    for what, names in wrong.items():
        print(f"    {len(names)} {what}: {', '.join(names[:5])}")
    missing = [n for n in public() if not constructs[n]]
    return 1 if wrong or empty or missing else 0


def _table(title: str, rows: dict[str, int]) -> None:
    print(f"{title} ({sum(1 for n in rows.values() if n)} of {len(rows)}):")
    for name, number in rows.items():
        print(f"    {number:6} {name}")


def _measure() -> Any:
    import coverage

    root = Path(__file__).parents[2]
    measure = coverage.Coverage(
        branch=True, data_file=None, include=[f"{root / place}*" for place in MEASURED]
    )
    measure.start()
    return measure


def _branches(measure: Any) -> None:
    print("branches that ran:")
    import io
    import json

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.json"
        measure.json_report(outfile=str(path), pretty_print=False)
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
    _ = io
    for place in MEASURED:
        mine = [f["summary"] for name, f in files.items() if place in name]
        ran = sum(f["covered_branches"] for f in mine)
        there = sum(f["num_branches"] for f in mine)
        share = 100 * ran / there if there else 100
        print(f"    {place}: {ran} of {there} ({share:.0f} %)")
    _least(files.items())


def _least(files: Iterable[tuple[str, Any]]) -> None:
    rows = sorted((f["summary"]["percent_covered"], name) for name, f in files)
    for share, name in rows[:12]:
        print(f"    {share:5.1f} % of {name}")


if __name__ == "__main__":
    sys.exit(main())
