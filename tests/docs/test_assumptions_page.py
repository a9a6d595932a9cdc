"""The page of assumptions speaks of each verdict; the options that it names exist."""

from __future__ import annotations

import re
from pathlib import Path

import click

from onceproof.properties.verdicts import Verdict
from onceproof.spark_checks.cli import main
from tests.docs.reference.plugin import Declared

PAGE = Path(__file__).parents[2] / "docs/explanation/what-a-verdict-rests-on.md"


def test_every_verdict_has_a_row():
    """Of the closed set none is left out, and no other word is one."""
    table = PAGE.read_text().partition("## By verdict")[2].partition("\n## ")[0]

    rows = [row for row in table.splitlines() if row.startswith("| `")]
    named = [re.match(r"\| `([a-z]+)`", row)[1] for row in rows]

    assert set(named) == {str(verdict) for verdict in Verdict}


def test_the_options_that_it_names_exist():
    """A bound that the page says is configured can be."""
    known = {
        option
        for command in main.commands.values()
        for param in command.params
        if isinstance(param, click.Option)
        for option in param.opts
    } | set(Declared().options)

    named = set(re.findall(r"`(--[a-z-]+)", PAGE.read_text()))

    assert named
    assert named <= known
