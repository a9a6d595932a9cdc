"""How many runs are saved where a crash leaves the same, and whether a verdict changes.

``python -m tests.benchmarks.merging`` replays the sinks of
``tests/spark_checks/mutants`` twice, with a crash at every point and with one for
points that are alike. It prints a line of JSON for each sink, with the sums up to it,
so that a measurement that is stopped has its sums. ``saved`` is the part of the runs
that merging saves, of all and of those where a process dies. Names of sinks limit it.
With ``--planned`` it counts the runs that are planned, and replays none.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.spark_checks.inject.entry_points import ENTRY_POINTS
from onceproof.spark_checks.plan.choice import Choice, faults_of
from onceproof.spark_checks.report.assessment import (
    CLAIMED,
    OFF,
    AssessmentRequest,
    judge,
)
from onceproof.spark_checks.report.counterexamples import RequestingTest
from onceproof.spark_checks.session.session_pool import SessionPool
from tests.spark_checks.mutants.mutant import kind_of
from tests.spark_checks.test_mutants import HERE, MUTANTS, NAMED, kinds_that_break

if TYPE_CHECKING:
    from tests.spark_checks.mutants.mutant import Mutant


def measured(mutant: Mutant, pool: SessionPool, *, every: bool) -> dict[str, Any]:
    """Replay a sink; give its verdict, what breaks it, and how many runs it took."""
    words = {"events": NAMED, "partitions": 1, "choice": Choice(), **mutant.words}
    claims = words.pop("claims", CLAIMED)
    test = RequestingTest("", ("id",), (), claims)
    with tempfile.TemporaryDirectory() as name:
        asked = AssessmentRequest(
            HERE, Path(name), test=test, trace=OFF, every_point=every, **words
        )
        found = judge(mutant.build, asked, pool=pool)
    names = Counter(faults_of(o.interleaving)[0] for o in found.report.replayed)
    return {
        "verdict": found.verdict.value,
        "broken_by": sorted(kinds_that_break(found, mutant)),
        "replayed": len(found.report.replayed),
        "merged": found.report.merged,
        "deaths": sum(n for name, n in names.items() if "die" in kind_of((name,))),
    }


def planned(mutant: Mutant, pool: SessionPool) -> dict[str, int]:
    """Plan a sink's replays; give how many runs there are, and how many are merged."""
    words = {"events": NAMED, "partitions": 1, "choice": Choice(), **mutant.words}
    test = RequestingTest("", ("id",), (), words.pop("claims", CLAIMED))
    with tempfile.TemporaryDirectory() as name:
        words |= {"test": test, "trace": OFF, "budget": sys.float_info.min}
        asked = AssessmentRequest(HERE, Path(name), **words)
        report = judge(mutant.build, asked, pool=pool).report
    faults = [faults_of(one) for one in report.classes.classes if one.faults]
    kinds = [kind_of(some[:1]) for some in faults]
    deaths = sum("die" in kind for kind in kinds)
    return {
        "every_replayed": len(kinds),
        "every_deaths": deaths,
        "merged_replayed": len(kinds) - report.merged,
        "merged_deaths": deaths - report.merged,
    }


def saved(sums: Counter[str]) -> dict[str, float]:
    """Give the part of the runs that merging saves, of all and of the deaths."""
    return {
        what: round(1 - sums[f"merged_{what}"] / sums[f"every_{what}"], 3)
        for what in ("replayed", "deaths")
        if sums[f"every_{what}"]
    }


def main() -> None:
    """Measure, and print what was found, a line of JSON each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="SINK", help="default: all")
    parser.add_argument("--planned", action="store_true", help="replay nothing")
    given = parser.parse_args()
    names = given.names or sorted(MUTANTS)
    if unknown := sorted(set(names) - set(MUTANTS)):
        parser.error(f"unknown sink {unknown[0]!r}")
    sums: Counter[str] = Counter()
    with contextlib.closing(SessionPool(ENTRY_POINTS)) as pool:
        for name in names:
            if given.planned:
                sums.update({"sinks": 1, **planned(MUTANTS[name], pool)})
                line = {"sink": name, "sums": dict(sums), "saved": saved(sums)}
                print(json.dumps(line), flush=True)
                continue
            ways = {
                label: measured(MUTANTS[name], pool, every=label == "every")
                for label in ("every", "merged")
            }
            same = all(
                ways["every"][what] == ways["merged"][what]
                for what in ("verdict", "broken_by")
            )
            sums["sinks"] += 1
            sums["changed"] += not same
            for label, found in ways.items():
                sums[f"{label}_replayed"] += found["replayed"]
                sums[f"{label}_deaths"] += found["deaths"]
            line = {"sink": name, "same": same, **ways}
            line |= {"sums": dict(sums), "saved": saved(sums)}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
