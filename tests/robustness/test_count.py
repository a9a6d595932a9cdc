"""How many bad inputs are answered is counted; no two cases have one name."""

from __future__ import annotations

import importlib
import pkgutil

import tests.robustness as room


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
