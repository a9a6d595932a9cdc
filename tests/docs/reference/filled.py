"""Finds the generated parts of a page, and fills them from the code.

A part begins with ``<!-- generated: KIND WORDS -->`` and ends with ``<!-- end -->``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.benchmarks.cost.page import cost
from tests.docs.reference.commands import commands
from tests.docs.reference.fields import fields, form, schema
from tests.docs.reference.library import described_parts, protocols, sinks
from tests.docs.reference.names import members, names
from tests.docs.reference.plugin import keys, marker, options, profiles
from tests.docs.reference.properties import guarantees, ledger_words, verdicts
from tests.test_house import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PART = re.compile(
    r"^<!-- generated: ([\w-]+)([^\n]*?) -->\n(.*?)^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)
KINDS = {
    "commands": commands,
    "cost": cost,
    "fields": fields,
    "form": form,
    "guarantees": guarantees,
    "keys": keys,
    "ledger-words": ledger_words,
    "marker": marker,
    "members": members,
    "names": names,
    "options": options,
    "parts": described_parts,
    "profiles": profiles,
    "protocols": protocols,
    "schema": schema,
    "sinks": sinks,
    "verdicts": verdicts,
}


def pages_with_parts() -> list[Path]:
    """List the pages that have generated parts."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    return [p for p in found if PART.search(p.read_text(encoding="utf-8"))]


def parts(text: str) -> list[tuple[str, list[str]]]:
    """List the parts of a page: the kind of each, and its words."""
    return [(kind, words.split()) for kind, words, _ in PART.findall(text)]


def filled(text: str) -> str:
    """Fill every part of a page from the code."""
    return PART.sub(_one, text)


def _one(found: re.Match[str]) -> str:
    kind, words, _ = found.groups()
    lines = "\n".join(KINDS[kind](*words.split())).strip("\n")
    return f"<!-- generated: {kind}{words} -->\n\n{lines}\n\n<!-- end -->"
