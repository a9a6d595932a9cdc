"""The page on how exactly-once breaks is what the entries of the zoo say."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from onceproof.model.library import make, settings_of
from onceproof.properties.judges.by_search import every_parameter_of
from tests.docs.drawn.canvas import NAMESPACE
from tests.docs.zoo.page import PAGE, PICTURES, zoo_page
from tests.docs.zoo.picture import zoo_picture
from tests.model.zoo.collected import ENTRIES, OPPOSITES
from tests.test_house import ROOT

NAMED = [pytest.param(entry, id=entry.name) for entry in ENTRIES]


def test_the_page_is_fresh():
    """``python -m tests.docs.zoo`` would change nothing."""
    there = PAGE.read_text(encoding="utf-8")

    fresh = zoo_page()

    assert fresh == there, "the page is stale; run python -m tests.docs.zoo"


def test_each_entry_has_one_picture_on_the_page():
    """No picture is missing, and none is left over."""
    text = PAGE.read_text(encoding="utf-8")

    shown = re.findall(r"\(\.\./pictures/zoo/([\w-]+)\.svg\)", text)

    assert sorted(shown) == sorted(entry.file_name for entry in ENTRIES)
    assert {path.stem for path in PICTURES.iterdir()} == set(shown)


@pytest.mark.parametrize("entry", NAMED)
def test_the_command_of_an_entry_makes_its_model(entry, monkeypatch):
    """What a reader types explores the protocol that is judged, and no other."""
    monkeypatch.chdir(ROOT)
    name, *words = entry.made.words().split(" --set ")

    made = make(name, settings_of(words))

    expected = entry.made.instance()
    assert every_parameter_of(made) == every_parameter_of(expected)
    assert made.label() == expected.label()


def test_opposite_errors_are_different_entries_that_break_different_claims():
    """Otherwise they are not opposite."""
    names = {entry.name: entry for entry in ENTRIES}

    pairs = [(names[one], names[other]) for one, other, _ in OPPOSITES]

    assert all(one.shows != other.shows for one, other in pairs)


@pytest.mark.parametrize("entry", NAMED)
def test_a_picture_needs_nothing_else(entry):
    """It is XML with a title and a row for each step, and asks for no other file."""
    text = (PICTURES / f"{entry.file_name}.svg").read_text(encoding="utf-8")

    root = ET.fromstring(text)
    words = [word.text for word in root.iter(f"{{{NAMESPACE}}}text")]

    assert root.findtext(f"{{{NAMESPACE}}}title")
    assert words.count("breaks here") == 1
    assert str(len(entry.run)) in words
    assert not re.search(r"href|url\(|@import|<script|<image", text)


@pytest.mark.ci
@pytest.mark.parametrize("entry", NAMED)
def test_a_picture_is_what_would_be_drawn_now(entry):
    """It follows the run of the entry."""
    there = (PICTURES / f"{entry.file_name}.svg").read_text(encoding="utf-8")

    drawn = zoo_picture(entry)

    assert drawn == there, "the picture is stale; run python -m tests.docs.zoo"
