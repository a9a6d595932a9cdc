"""What the replays came to on each version, as a file and as a page of the docs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onceproof.model.files import read_toml
from onceproof.spark_checks.stores.jars import connectors
from onceproof.spark_checks.stores.known_stores import STORES
from onceproof.spark_checks.stores.tables.connector_store import ConnectorStore
from tests.docs.reference.markdown import head, row
from tests.matrix.environments import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FILE = ROOT / "tests" / "matrix" / "results.json"
CONNECTORS = Path(connectors.__file__).with_name("jars.toml")
PAGE = ROOT / "docs" / "reference" / "versions.md"
_INTRODUCTION = """\
# Versions of Spark

`make matrix` replays the reference sinks on several versions of PySpark, each in an
environment of its own, and writes this page from `tests/matrix/results.json`. Java is
the machine's own.

A cell has the guarantees that are refuted there, those that are undecided, and then how
many interleavings were replayed. *As stated* means that the verdicts are those of the
sink's own file, and that no run drifted from the model. A dash means that this version
of Spark cannot run the sink, that its store has no connector for this version, or that
nobody has replayed it there.
Connectors exist for these versions of Spark: {connectors}.

`make matrix ARGS="--store delta --store postgres"` replays the sinks on these stores,
and `make matrix ARGS=--plugin` runs the tests of the pytest plugin, but for the long
grids.
"""
PLUGIN = "tests of the pytest plugin"
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


def outcomes(printed: str, status: int) -> dict[str, Any]:
    """Keep of what pytest printed how many tests ended how, and which failed."""
    last = printed.strip().rpartition("\n")[2]
    counted = re.findall(r"(\d+) (passed|failed|errors?|skipped|xfailed)", last)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", printed, re.MULTILINE)
    return {
        "outcomes": {what: int(number) for number, what in counted},
        "failed": failed,
        "status": status,
    }


def page(results: Results) -> str:
    """Write the page: a row for each sink, a column for each version."""
    introduction = _INTRODUCTION.format(connectors=_connectors())
    return "\n".join([introduction, *_table(results), ""])


def _connectors() -> str:
    """Say for each table format which lines of Spark it has a connector for."""
    table = read_toml(CONNECTORS)
    formats = {
        name
        for name, made in STORES.items()
        if isinstance(made(), ConnectorStore) and name in table
    }
    return "; ".join(f"{name} {', '.join(table[name])}" for name in sorted(formats))


def _table(results: Results) -> Iterator[str]:
    names = {name for found in results.values() for name in found}
    yield from head("sink", *results)
    for name in sorted(names - {PLUGIN}):
        yield row(f"`{name}`", *(_cell(found.get(name)) for found in results.values()))
    if PLUGIN in names:
        yield row(PLUGIN, *(_outcomes(found.get(PLUGIN)) for found in results.values()))


def _cell(found: dict[str, Any] | None) -> str:
    if found is None:
        return "—"
    words = ", ".join(_with("refuted", found)) or "none refuted"
    if undecided := _with("undecided", found):
        words += f" (undecided: {', '.join(undecided)})"
    counted = f"{found['replayed']} of {found['interleavings']}"
    stated = "as stated" if found["as_stated"] else "**not as stated**"
    drift = f", **{found['drift']} drifted**" if found["drift"] else ""
    return f"{stated}: {words}; {counted}{drift}"


def _with(verdict: str, found: dict[str, Any]) -> list[str]:
    """Return the guarantees with a verdict."""
    return [name for name, v in found["guarantees"].items() if v == verdict]


def _outcomes(found: dict[str, Any] | None) -> str:
    """Show how the tests of the plugin ended on a version."""
    if found is None:
        return "—"
    counted = [f"{number} {what}" for what, number in found["outcomes"].items()]
    words = ", ".join(counted) or "nothing ran"
    return words if found["status"] == 0 else f"**{words}**"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
