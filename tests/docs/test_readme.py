"""What README says about adding Onceproof to a project is so."""

from __future__ import annotations

import re
import tomllib

import pytest

from onceproof.spark_checks.pytest_plugin.options import PROFILES, options_of
from tests.test_house import ROOT

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PART = TEXT.partition("## Add it to your project")[2].partition("\n## ")[0]


def test_the_extra_of_the_dependency_exists():
    """And it brings what README says a project may have already."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    [extra] = re.findall(r"onceproof\[(\w+)\]", PART)

    brought = " ".join(project["optional-dependencies"][extra])
    assert all(name in brought for name in ("pyspark", "pandas", "pyarrow"))


def test_the_command_of_ci_is_understood(pytester, monkeypatch):
    """Its profile is there, replays every interleaving, and is the one that CI gets."""
    monkeypatch.setenv("CI", "true")
    [words] = re.findall(r"\$ pytest (.*)", PART)
    profile, path = words.split()

    given = options_of(pytester.parseconfig(profile))
    chosen = options_of(pytester.parseconfig())

    assert given.profile == chosen.profile == "ci"
    assert PROFILES["ci"].most is None
    assert path in PART.partition("3. ")[0]
    assert given.artifacts.name in PART


@pytest.mark.parametrize("path", re.findall(r"`(docs/\S+)`", PART))
def test_the_pages_that_it_names_are_there(path):
    """A link that leads nowhere is worse than none."""
    assert (ROOT / path).is_file()
