"""The page on cost: its figures as they are stored, and the tables made from them."""

from __future__ import annotations

import json
from typing import Any

from tests.benchmarks.cost.claims import claims
from tests.benchmarks.cost.tables import (
    counts,
    frequency,
    grid,
    growth,
    one_failure,
    prices,
    recovery,
    settings,
    sinks,
)
from tests.test_house import ROOT

PAGE = ROOT / "docs" / "explanation" / "cost.md"
FIGURES = PAGE.with_suffix(".json")
MADE = {
    "claims": claims,
    "counts": counts,
    "frequency": frequency,
    "grid": grid,
    "growth": growth,
    "one-failure": one_failure,
    "prices": prices,
    "recovery": recovery,
    "settings": settings,
    "sinks": sinks,
}


def stored() -> dict[str, Any]:
    """Return the figures that are stored; none before the first run."""
    return json.loads(FIGURES.read_text()) if FIGURES.exists() else {}


def store(found: dict[str, Any]) -> None:
    """Store figures beside the page."""
    text = json.dumps(found, indent=1, sort_keys=True)
    FIGURES.write_text(text + "\n", encoding="utf-8")


def cost(name: str) -> list[str]:
    """Return the lines of a table of the page, from the figures that are stored."""
    found = stored()
    if not _has(found, name):
        return ["This part has not been measured yet."]
    return MADE[name](found).split("\n")


def write() -> None:
    """Make the tables of the page anew, and its pictures."""
    # Both are made from the figures that are stored, by what makes all pages.
    from tests.docs.drawn.collected import DRAWN, FOLDER
    from tests.docs.reference.filled import filled

    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for name, draw in DRAWN.items():
        if name.startswith("cost-"):
            (FOLDER / name).write_text(draw(), encoding="utf-8")


def tables(found: dict[str, Any]) -> str:
    """Return the tables of the parts that were measured."""
    return "\n\n".join(
        f"{name}\n{make(found)}" for name, make in MADE.items() if _has(found, name)
    )


def _has(found: dict[str, Any], table: str) -> bool:
    wanted = {
        "sinks": {"sinks"},
        "recovery": {"recovery"},
        "settings": set(),
    }
    return wanted.get(table, {"simulated"}) <= found.keys()
