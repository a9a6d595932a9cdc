"""What is neither run nor marked is found, in examples and between the lines."""

from __future__ import annotations

import re

import click
import pytest

from onceproof.model.errors import UsageError
from onceproof.model.library import protocols
from onceproof.spark_checks.cli import main
from onceproof.spark_checks.sinks.reference import every_reference_sink
from tests.docs.ini import Ini
from tests.docs.pages import blocks, pages
from tests.docs.session import Session
from tests.docs.shell import Shell
from tests.test_house import ROOT

INLINE = re.compile(r"`onceproof ([a-z]+)([^`]*)`")
NAMED = re.compile(
    r"`onceproof (check|explore|export|interleavings|protocols|prove|replay)"
    r" ([a-z][a-z-]*)(?=[ `])"
)
PLUGIN = re.compile(r"`[^`]*?(--onceproof-[a-z-]+)")


def page(folder, text):
    path = folder / "page.md"
    path.write_text(text)
    return path


WRONG = {
    "```python\n1 / 0\n```": "division by zero",
    "- a list\n\n  ```python\n  1 / 0\n  ```": "division by zero",
    "```python broken.py\ndef broken(:\n```": "invalid syntax",
    "```toml\n[tool.onceproof]\nsheets = 'a'\n```": "did you mean 'sheet'",
    "```toml\n[tool.pytest.ini_options]\nonceproof_traces = 'on'\n```": "has no",
    "```toml\n[[expected]]\ntest = 'a'\n```": "entry 1, needs guarantee",
    "```toml\n[tool.other]\na = 1\n```": "nothing reads this",
    "```console\n$ onceproof protocols\nno such thing\n```": "onceproof protocols",
    "```sh\nmake coffee\n```": "make is not run",
    "```\nno language\n```": "a block is not run",
    "```rust\nfn main() {}\n```": "rust is not run",
    "Text:\n\n    git push\n": "git is not run",
    "<!-- not run:  -->\n```python\n1 / 0\n```": "division by zero",
    "<!-- not run: far above -->\n\ntext\n\n```rust\n```": "rust is not run",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_an_example_that_is_wrong_or_not_run_is_found(text, message, tmp_path):
    """It fails, whatever its language, unless it is marked."""
    found = blocks(page(tmp_path, f"{text}\n"))

    assert len(found) == 1
    with pytest.raises(BaseException, match=message):
        Session(tmp_path, Shell(tmp_path)).one(found[0])


@pytest.mark.parametrize("between", ["", "\n"])
def test_a_mark_is_about_the_next_example_alone(between, tmp_path):
    """It holds a reason, which stands in the page's source."""
    example = "```python\n1 / 0\n```\n"

    first, second = blocks(
        page(tmp_path, f"<!-- not run: a mistake -->\n{between}{example}\n{example}")
    )

    assert (first.mark, second.mark) == ("a mistake", "")


def test_what_is_said_of_settings_is_read_by_the_projects_own_readers():
    """A key that there is not is refused, and so is a value that cannot be."""
    known = Ini({"onceproof_spark": ["spark.a = 1"]})

    assert known.read().spark == {"spark.a": "1"}
    with pytest.raises((UsageError, pytest.UsageError)):
        Ini({"onceproof_trace": "sometimes"}).read()


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.stem)
def test_commands_and_options_between_the_lines_are_there(path):
    """A command that the text names exists, and has the options that it gives it."""
    text = path.read_text(encoding="utf-8")
    plugin = Ini({}).options

    for name, rest in INLINE.findall(text):
        command = main.get_command(click.Context(main), name)
        assert command is not None, f"{path.relative_to(ROOT)}: onceproof {name}"
        there = {o for param in command.params for o in (*param.opts, "--help")}
        for option in re.findall(r"(?<!\S)--[a-z-]+", rest):
            assert option in there, f"{path.relative_to(ROOT)}: {name} {option}"
    assert set(PLUGIN.findall(text)) <= plugin


@pytest.mark.parametrize(
    "path",
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")],
    ids=lambda path: path.stem,
)
def test_protocols_and_sinks_between_the_lines_are_there(path):
    """A protocol or reference sink that a page names can be judged."""
    there = {command: set(protocols()) for command in main.commands}
    there["replay"] = set(every_reference_sink())

    named = NAMED.findall(path.read_text(encoding="utf-8"))

    assert [(verb, name) for verb, name in named if name not in there[verb]] == []
