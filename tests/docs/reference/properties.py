"""The guarantees, the words of the ledger, and the verdicts."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from onceproof.properties.evidence.sheet import ASPECTS
from onceproof.properties.guarantees import GUARANTEES
from onceproof.properties.ledger import VOCABULARY, Ledger
from onceproof.properties.verdicts import Verdict
from tests.docs.reference.markdown import head, row, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator


def guarantees() -> Iterator[str]:
    """Write a table of the guarantees: clauses, and what a protocol must observe."""
    yield from head("guarantee", "clauses", "aspect", "needs")
    for prop in GUARANTEES:
        clauses = "<br>".join(f"*{c.when}*: {c.text}" for c in prop.clauses)
        needs = ", ".join(f"`{need}`" for need in prop.needs)
        yield row(f"`{prop.name}`", clauses, ASPECTS[prop.name], needs)


def ledger_words() -> Iterator[str]:
    """Write a table of the words that ``@observe`` methods are named after."""
    yield from head("word", "meaning")
    for word in VOCABULARY:
        yield row(f"`{word}`", inspect.getdoc(getattr(Ledger, word)) or "")


def verdicts() -> Iterator[str]:
    """Write a table of the closed set of verdicts."""
    yield from head("verdict", "holds", "meaning")
    for verdict in Verdict:
        holds = "yes" if verdict.holds else "no"
        yield row(f"`{verdict}`", holds, sentence(verdict.meaning))
