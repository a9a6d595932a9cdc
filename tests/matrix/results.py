"""What the replays came to on each version, as a file and as a page of the docs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.docs.reference.markdown import head, row
from tests.matrix.environments import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FILE = ROOT / "tests" / "matrix" / "results.json"
PAGE = ROOT / "docs" / "reference" / "versions.md"
_INTRODUCTION = """\
# Versions of Spark

`make matrix` replays the reference sinks on several versions of PySpark, each in an
environment of its own, and writes this page from `tests/matrix/results.json`. Java is
the machine's own.

A cell has the guarantees that are refuted there, and then how many interleavings were
replayed. *As stated* means that these are what the sink's own file states, and that no
run drifted from the model. A dash means that this version of Spark cannot run the sink.
"""
Results = dict[str, dict[str, Any]]


def read() -> Results:
    """Read what is known: for each version, each sink by its name."""
    if not FILE.exists():
        return {}
    found: Results = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def write(results: Results) -> None:
    """Write the file and the page."""
    ordered = {v: results[v] for v in sorted(results, key=_numbers)}
    FILE.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(ordered), encoding="utf-8")


def kept(sinks: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Keep of a replay's JSON what the page shows."""
    return {
        one["name"]: {
            "guarantees": one["guarantees"],
            "interleavings": one["interleavings"],
            "replayed": one["replayed"],
            "drift": one["drift"],
            "as_stated": one["as_stated"],
        }
        for one in sinks
    }


def page(results: Results) -> str:
    """Write the page: a row for each sink, a column for each version."""
    return "\n".join([_INTRODUCTION, *_table(results), ""])


def _table(results: Results) -> Iterator[str]:
    names = sorted({name for found in results.values() for name in found})
    yield from head("sink", *results)
    for name in names:
        yield row(f"`{name}`", *(_cell(found.get(name)) for found in results.values()))


def _cell(found: dict[str, Any] | None) -> str:
    if found is None:
        return "—"
    refuted = [name for name, v in found["guarantees"].items() if v == "refuted"]
    words = ", ".join(refuted) or "none refuted"
    counted = f"{found['replayed']} of {found['interleavings']}"
    stated = "as stated" if found["as_stated"] else "**not as stated**"
    drift = f", **{found['drift']} drifted**" if found["drift"] else ""
    return f"{stated}: {words}; {counted}{drift}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
