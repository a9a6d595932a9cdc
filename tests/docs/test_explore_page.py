"""The page on the explorer names every key."""

from __future__ import annotations

import re

from onceproof.properties.explorer.terminal.app import Terminal
from tests.test_house import ROOT

PAGE = ROOT / "docs" / "how-to" / "read-a-counterexample.md"


def test_the_page_names_each_key_and_its_pictures_are_there():
    """A letter that is bound stands in the table of keys."""
    text = PAGE.read_text(encoding="utf-8")

    found = set(re.findall(r"`([A-Za-z])`", text))
    bound = {
        key
        for binding in Terminal.BINDINGS
        for key in binding.key.split(",")
        if len(key) == 1 and key.isalpha()
    }
    assert bound <= found
    for picture in re.findall(r"\]\((\S*pictures/\S+)\)", text):
        size = (PAGE.parent / picture).stat().st_size
        assert 0 < size < 200_000
