"""The drawn pictures say what the code says, and stand by themselves."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree as ET

import pytest

from tests.docs.drawn.canvas import DARK, LIGHT, NAMESPACE, colours
from tests.docs.drawn.collected import DRAWN, FOLDER
from tests.docs.drawn.levels import placed
from tests.docs.drawn.state_graph import BOX
from tests.test_house import ROOT

SLOW = {"guarantees-of-sinks.svg"}
"""What takes the verdicts of many protocols to draw."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.grid) if name in SLOW else name
        for name in DRAWN
    ],
)
def test_a_picture_is_what_would_be_drawn_now(name):
    """``python -m tests.docs.drawn`` would change nothing."""
    there = (FOLDER / name).read_text(encoding="utf-8")

    drawn = DRAWN[name]()

    assert drawn == there, f"{name} is stale; run python -m tests.docs.drawn"


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_stands_by_itself(name):
    """It is XML with a title, and asks for nothing from elsewhere."""
    text = (FOLDER / name).read_text(encoding="utf-8")

    root = ET.fromstring(text)

    assert root.tag == f"{{{NAMESPACE}}}svg"
    assert root.findtext(f"{{{NAMESPACE}}}title")
    assert not re.search(r"href|url\(|@import|<script|<image", text)
    assert re.findall(r"\w+://\S+?(?=\")", text) == [NAMESPACE]


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_shown_on_a_page(name):
    """No picture is drawn for nobody."""
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md")]

    shown = [page for page in pages if f"pictures/{name})" in page]

    assert len(shown) == 1


def test_the_page_has_the_colours_of_the_pictures():
    """Who chooses light or dark on a page sees the same colours as the file has."""
    css = (ROOT / "docs" / "_static" / "onceproof.css").read_text(encoding="utf-8")

    text = " ".join(css.split())

    for theme, chosen in (("light", LIGHT), ("dark", DARK)):
        rule = (
            f'body[data-theme="{theme}"] svg.onceproof-picture {{ {colours(chosen)} }}'
        )
        assert rule in text


def test_no_two_in_a_level_overlap():
    """What stands in a level is as far apart as was asked for, or farther."""
    levels = [0, 1, 1, 1, 2, 2]
    joins = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4), (3, 5)]

    places = placed(levels, joins, BOX[0])

    for level in set(levels):
        row = sorted(x for x, at in zip(places, levels, strict=True) if at == level)
        gaps = [b - a for a, b in itertools.pairwise(row)]
        assert all(gap >= BOX[0] for gap in gaps)
    assert min(places) == 0
