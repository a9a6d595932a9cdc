"""The pages that are written by hand use the words that a reader already knows."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import pages
from tests.docs.reference.filled import PART
from tests.test_house import ROOT

FENCED = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r"`[^`]*`")
INSTEAD = {
    "mend": "fix, repair",
    "mended": "fixed, repaired",
    "mends": "fixes, repairs",
    "strike": "hit, inject",
    "strikes": "hits, happens",
    "struck": "hit, injected",
    "told": "reported, unless you say",
    "telling": "reporting",
    "bears": "has",
    "stands": "is",
    "standing": "being",
    "is to be": "must be",
    "are to be": "must be",
    "of which": "a sentence of its own",
    "comes to": "reaches",
    "come to": "reach",
    "came to": "reached",
    "in vain": "vacuously",
}
OLD = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b", re.IGNORECASE)


def old_words(text: str) -> list[str]:
    """List the old words of a page, outside of code and of generated parts."""
    for left_out in (PART, FENCED, QUOTED):
        text = left_out.sub(" ", text)
    return OLD.findall(" ".join(text.split()))


@pytest.mark.parametrize(
    "page",
    [*pages(), ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"],
    ids=lambda page: page.stem,
)
def test_a_page_has_no_old_words(page):
    """Each has a plain word to use instead, in ``INSTEAD``."""
    found = old_words(page.read_text(encoding="utf-8"))

    assert found == []


def test_old_words_are_found_between_the_examples():
    """Code may say what it likes, and a line may end in the middle of a phrase."""
    page = "A task is\nto be `struck`.\n\n```text\nit stands\n```\n\nIt Stands.\n"

    assert old_words(page) == ["is to be", "Stands"]
