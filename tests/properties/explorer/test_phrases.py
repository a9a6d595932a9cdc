"""Terminal and page say the same: one table of phrases, and no sentences beside it."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest

from onceproof.properties.explorer import page as page_package
from onceproof.properties.explorer.phrases import PHRASES

SCRIPTS = {
    file.name: file.read_text()
    for file in resources.files(page_package).iterdir()
    if file.name.endswith(".js")
}
PYTHON = (
    "\n".join(
        file.read_text()
        for file in Path(page_package.__file__).parents[1].rglob("*.py")
        if file.name != "phrases.py"
    )
    + Path(page_package.__file__).parents[1].joinpath("phrases.py").read_text()
)


def used_by_the_page() -> set[str]:
    """Find the keys that the scripts ask for: every text of the form of a key."""
    code = "\n".join(SCRIPTS.values())
    return set(re.findall(r'"([a-z-]+)"', code)) & set(PHRASES)


def test_the_page_asks_for_phrases_that_there_are():
    """Each key that is named in a call is in the table."""
    code = "\n".join(SCRIPTS.values())

    keys = set(re.findall(r'say\("([^"]+)"', code))

    assert keys
    assert keys <= set(PHRASES)


@pytest.mark.parametrize("key", sorted(PHRASES))
def test_a_phrase_is_said_by_someone(key):
    """No phrase is left over: the page or the terminal says it."""
    assert key in used_by_the_page() or PYTHON.count(f'"{key}"') > 1


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_no_script_holds_a_sentence_of_the_table(name):
    """Nor does it spell out a part of one: only the page's own controls have words."""
    code = re.sub(r"//.*", "", SCRIPTS[name])
    texts = re.findall(r'"([^"\n]*)"|`([^`]*)`', code)
    message = {text for pair in texts for text in pair if " " in text}

    for phrase in PHRASES.values():
        parts = [p.strip(" .,;:") for p in re.split(r"\{\w+\}", phrase)]
        for part in parts:
            if part.count(" ") >= 2:
                assert not any(part in text for text in message), part


def test_no_module_reaches_into_the_private_members_of_another():
    """Neither by import nor by a dotted name, in the rooms of counterexamples."""
    root = Path(page_package.__file__).parents[2]
    rooms = [root / "explorer", root / "counterexample"]
    wrong = []
    for file in (f for room in rooms for f in room.rglob("*.py")):
        text = file.read_text()
        for line in text.splitlines():
            dotted = re.findall(r"\b(?!self\b|cls\b)\w+\._(?!_)[a-z]\w*", line)
            taken = re.findall(r"^from onceproof\S* import .*\b_[a-z]\w*", line)
            wrong += [(file.name, found) for found in (*dotted, *taken)]
    assert not wrong
