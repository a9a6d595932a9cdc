"""The pictures of the pages are drawn from the project's own data, and current."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from tests.docs.drawn.pictures import DOCS, DRAWN, PICTURES


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_what_is_drawn_now(name):
    """Byte for byte; ``python -m tests.docs.drawn`` draws it again."""
    shown = (DOCS / name).read_text(encoding="utf-8")

    drawn = DRAWN[name]()

    assert drawn == shown


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_stands_alone_and_says_in_words_what_it_shows(name):
    """It is well-formed, and nothing in it has an address."""
    text = (DOCS / name).read_text(encoding="utf-8")

    root = ET.fromstring(text)

    assert root.get("aria-label")
    assert "href" not in text
    assert text.count("://") == text.count('xmlns="http://www.w3.org/2000/svg"')
