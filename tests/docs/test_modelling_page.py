"""The modelling page works as it is written, from the empty file to the proof."""

from __future__ import annotations

import sys

from tests.docs.pages import agrees, blocks, commands, run
from tests.test_house import ROOT

STATUS = {"payments.py": 0, "crashing.py": 1, "keyed.py": 0, "proved.py": 0}


def test_the_page_does_what_it_says(tmp_path, monkeypatch):
    """Each file is written as shown; each command prints what stands below it."""
    monkeypatch.chdir(tmp_path)
    page = blocks(ROOT / "docs" / "modelling.md")
    ran = []

    for block in page:
        if block.name:
            (tmp_path / block.name).write_text(block.text)
        for command in commands(block) if block.kind == "console" else ():
            for name in STATUS:
                sys.modules.pop(name.removesuffix(".py"), None)
            status, printed = run(command)
            assert agrees(command, printed), printed
            ran.append((command.words[1:3], status))

    assert ran == [
        (("check", "payments.py"), 0),
        (("check", "crashing.py"), 1),
        (("check", "keyed.py"), 0),
        (("prove", "keyed.py"), 0),
        (("prove", "proved.py"), 0),
        (("check", "wrong.py"), 2),
    ]
