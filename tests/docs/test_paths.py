"""The pages name files that exist, and the picture of the rooms shows every folder."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import pages
from tests.test_house import ROOMS, ROOT

PATH = re.compile(rf"`((?:{'|'.join((*ROOMS, 'tests', 'docs'))})/[\w/.-]*)`")
FOLDER = re.compile(r"^( *)([\w]+)/ +\S")


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_the_files_and_folders_that_a_page_names_exist(page):
    """A page is changed with the file that it names."""
    named = PATH.findall(page.read_text(encoding="utf-8"))

    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_picture_of_the_rooms_shows_every_folder():
    """A folder of modules that the picture lacks fails, and so does one too many."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    picture = text.partition("\n## The rooms\n")[2].partition("```text\n")[2]

    shown, above = set(), []
    for line in picture.partition("```")[0].splitlines():
        indent, name = FOLDER.match(line).groups()
        above = [*above[: len(indent) // 2], name]
        shown.add("/".join(above))

    there = {
        str(path.parent.relative_to(ROOT))
        for room in ROOMS
        for path in (ROOT / room).rglob("__init__.py")
    }
    assert shown == there
