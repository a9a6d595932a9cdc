"""The reference is plain Markdown that follows from the code and misses no name."""

from __future__ import annotations

import importlib

import pytest

from tests.docs.reference.filled import filled, pages_with_parts, parts
from tests.test_house import ROOT

PUBLIC = (
    "onceproof.model.interleavings",
    "onceproof.model.language",
    "onceproof.properties",
    "onceproof.properties.machine",
    "onceproof.properties.strategies",
    "onceproof.spark_checks",
)


@pytest.mark.parametrize("page", pages_with_parts(), ids=lambda page: page.stem)
def test_the_generated_parts_follow_from_the_code(page):
    """``python -m tests.docs.reference`` would change nothing."""
    text = page.read_text(encoding="utf-8")

    fresh = filled(text)

    name = page.relative_to(ROOT)
    assert fresh == text, f"{name} is stale; run python -m tests.docs.reference"


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_in_a_table_once(module):
    """A public name without an entry fails, and so does an entry without a name."""
    shown = [
        name
        for page in pages_with_parts()
        for kind, words in parts(page.read_text(encoding="utf-8"))
        if kind == "names" and words[0] == module
        for name in words[1:]
    ]

    assert sorted(shown) == sorted(importlib.import_module(module).__all__)


def test_a_name_that_does_not_exist_is_refused():
    """An entry is made from the thing itself."""
    part = "<!-- generated: names onceproof.model.language no_such_name -->"

    with pytest.raises(AttributeError, match="no_such_name"):
        filled(f"{part}\n<!-- end -->")


def test_a_stale_part_is_found():
    """What was edited by hand is written over."""
    page = "<!-- generated: verdicts -->\n\nedited by hand\n\n<!-- end -->"

    fresh = filled(page)

    assert "edited" not in fresh
    assert "| `proved` | yes |" in fresh
