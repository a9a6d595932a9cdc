"""How many bad inputs are answered is counted; no two cases have one name."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import tests.robustness as room

PAGE = Path(__file__).parents[2] / "docs/explanation/what-a-verdict-rests-on.md"


def cases():
    """List the cases of all modules of this room."""
    found = []
    for info in pkgutil.iter_modules(room.__path__):
        module = importlib.import_module(f"{room.__name__}.{info.name}")
        found += getattr(module, "CASES", ())
    return found


def test_no_two_cases_have_one_name():
    """A case is found by its name."""
    names = [case.name for case in cases()]

    assert len(set(names)) == len(names)


def test_the_documentation_says_no_more_than_there_are():
    """Its figure is a floor, and not far below what is counted."""
    [figure] = re.findall(r"holds more than (\d+) bad inputs", PAGE.read_text())

    assert int(figure) < len(cases()) < 2 * int(figure) + 100
