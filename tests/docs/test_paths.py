"""The pages name files and names that exist; the picture of the rooms is complete."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import pages
from tests.docs.reference.filled import PART
from tests.docs.test_words import FENCED
from tests.test_house import ROOMS, ROOT

PATH = re.compile(rf"`((?:{'|'.join((*ROOMS, 'tests', 'docs'))})/[\w/.-]*)`")
NAME = re.compile(r"`([A-Za-z_][\w.]*)(?:\([^`]*\))?`")
# Names of Spark, of a marker of the tests, and of a package that a page makes up.
FOREIGN = {
    "spark.python.worker.reuse",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled",
    "spark.sql.streaming.fileStreamSink.ignoreMetadata",
    "initialOffset",
    "maxFileAge",
    "current_timestamp",
    "grid",
    "mylib",
    # Settings of Hadoop's that a user may choose.
    "fs.s3a.attempts.maximum",
    "fs.s3a.retry.limit",
}
FOLDER = re.compile(r"^( *)([\w]+)/ +\S")


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_the_files_and_folders_that_a_page_names_exist(page):
    """A page is changed with the file that it names."""
    named = PATH.findall(page.read_text(encoding="utf-8"))

    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.fixture(scope="module")
def code():
    """Give the text of all code, in which a name must occur."""
    files = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_the_names_that_a_page_quotes_occur_in_the_code(page, code):
    """A page is changed with the name that it quotes between its examples."""
    text = page.read_text(encoding="utf-8")
    examples = "".join(found.group() for found in FENCED.finditer(text))

    by_hand = PART.sub(" ", FENCED.sub(" ", text))
    quoted = set(NAME.findall(by_hand)) - FOREIGN

    there = examples + code
    assert [name for name in quoted if name.split(".")[-1] not in there] == []


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
