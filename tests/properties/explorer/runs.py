"""Runs to look at: a counterexample of real Spark, and some of the library's."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from onceproof.model.library import make
from onceproof.properties.counterexample.file import Counterexample, read
from onceproof.properties.counterexample.model_run import counterexample_of
from onceproof.properties.explorer.view_builder import Explored, explored
from onceproof.properties.judges.by_search import check, claims_of

SPARK = Path(__file__).parent / "data" / "spark.json"


def spark() -> Counterexample:
    """Give a counterexample of real Spark: a task fails after its append."""
    return read(SPARK)


@functools.cache
def broken(name: str, claim: str, **settings: Any) -> Explored:
    """Explore the shortest run of a protocol of the library that breaks a claim."""
    protocol = make(name, {k: str(v) for k, v in settings.items()})
    prop = next(p for p in claims_of(protocol) if p.name == claim)
    return explored(
        counterexample_of(protocol, check(protocol, [prop]).findings[0]), protocol
    )
