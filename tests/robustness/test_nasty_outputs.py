"""Whatever text a claim, a record or a model holds, it stays text in what is made."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections import Counter
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from importlib import resources
from typing import Any

import pytest
from markdown_it import MarkdownIt

from onceproof.model.export.mermaid import mermaid
from onceproof.model.language import Protocol, action, always, one_of, state
from onceproof.model.language.tracing.trace import trace
from onceproof.model.text import printable, quoted, shell_word
from onceproof.properties.evidence.sheet import assemble
from onceproof.properties.evidence.sheet_page import as_page
from onceproof.properties.evidence.sheet_text import as_markdown
from onceproof.spark_checks.cli.commands.export import exported
from tests.node import Node
from tests.properties.evidence.test_sheet import HELD, REFUTED, claim
from tests.robustness.nasty import NASTY, clean, elements

_FIXED = ("guarantee", "group", "judge", "kind", "date", "verdict", "expected")
_PLAIN = ("em", "strong", "code", "s")


def nasty(data: Any, text: str, name: str = "") -> Any:
    """Put a text wherever a record or a claim holds one."""
    if name in _FIXED:
        return data
    if is_dataclass(data) and not isinstance(data, type):
        changed = {
            f.name: nasty(getattr(data, f.name), text, f.name) for f in fields(data)
        }
        return replace(data, **changed)
    if isinstance(data, Enum) or not isinstance(data, str | tuple | dict):
        return data
    if isinstance(data, dict):
        return {(key + text)[:3_000]: nasty(value, text) for key, value in data.items()}
    if isinstance(data, tuple):
        return tuple(nasty(one, text) for one in data)
    return (data + text)[:3_000]


def sheet(text: str) -> Any:
    """Assemble a sheet of a claim that holds, one that does not, one of neither."""
    records = {f"{n}.json": nasty(one, text) for n, one in enumerate((HELD, REFUTED))}
    names = ("at-least-once", "at-most-once", "durable")
    return assemble([nasty(claim(name), text) for name in names], records, {})


def tags(page: str) -> Counter[str]:
    return Counter(tag for tag, _ in elements(page) if tag not in _PLAIN)


@pytest.mark.parametrize("name", [name for name, text in NASTY.items() if text])
def test_a_page_of_a_sheet_has_no_other_elements(name):
    """Those of a sheet of ordinary text."""
    page = as_page(sheet(NASTY[name]))

    assert tags(page) == tags(as_page(sheet("x")))
    assert clean(page)


@pytest.mark.parametrize("name", [name for name, text in NASTY.items() if text])
def test_a_sheet_in_markdown_has_no_other_elements(name):
    """No link, no picture, no HTML, no row or column more."""
    render = MarkdownIt("commonmark", {"html": True}).enable("table").render
    text = as_markdown(sheet(NASTY[name]))

    assert tags(render(text)) == tags(render(as_markdown(sheet("x"))))
    assert clean(text)


@pytest.mark.parametrize("name", NASTY)
def test_a_row_of_markdown_has_its_cells(name):
    """Readers differ in what a backslash before a backslash before a bar is."""
    nasty_lines, lines = (
        as_markdown(sheet(text)).splitlines() for text in (NASTY[name], "x")
    )

    def bars(lines):
        rows = [re.sub(r"\\.", "", line) for line in lines if line[:1] == "|"]
        return [row.count("|") for row in rows]

    assert bars(nasty_lines) == bars(lines)
    assert len(bars(lines)) > 3


class Value(Enum):
    """Values that are what tools read as something else."""

    A = '"; note right of s1 : x\n s1 --> s2'
    B = "<script>alert(1)</script>"


ODD = Enum("ODD", {'"]; \\* (* *) \x1b': 1, "B": 2})


class Hostile(Protocol):
    """End *) (* a comment \x1b]0;t\x07 (*) \u202e."""

    value = state(one_of(*Value))
    odd = state(one_of(*ODD))

    @action
    def go(self) -> None:
        """*)"""
        self.value = Value.B

    @always
    def fine(self) -> bool:
        """(* \x1b"""
        return self.value == self.value


def test_a_picture_holds_what_mermaid_takes_for_text():
    """Each line is a state or a step, whatever the values of an enumeration are."""
    lines = mermaid(trace(Hostile())).splitlines()

    assert lines[0] == "stateDiagram-v2"
    for line in lines[1:]:
        assert re.fullmatch(r" {4}s\d+( --> s\d+)? : [^<>\"`{}\\]*", line), line
        assert clean(line)
        assert "note" not in line.split(" : ")[0]


def test_a_module_of_tla_holds_comments_and_texts_that_end_where_they_should():
    """A comment has one end, a text has no quote of its own."""
    made, _ = exported(Hostile())

    assert clean(made.text)
    for line in made.text.splitlines():
        if line.startswith("(*"):
            assert line.endswith("*)")
            assert line[2:-2].count("*)") == line[2:-2].count("(*") == 0
        rest = re.sub(r'"(\\.|[^"\\])*"', "", line)
        assert '"' not in rest or line.startswith("(*")


@pytest.mark.parametrize("name", NASTY)
def test_a_literal_of_python_is_the_text(name):
    """In ASCII, on one line."""
    text = NASTY[name][:5_000]

    assert eval(quoted(text)) == text
    assert quoted(text).isascii()
    assert quoted(text).isprintable()


def test_the_page_writes_literals_as_the_terminal_does():
    """The same function, in JavaScript."""
    code = resources.files("onceproof.properties.explorer.page").joinpath("copying.js")
    source = code.read_text(encoding="utf-8")
    start = source.index("  const short"), source.index("  const named")
    node = Node()
    try:
        for text in NASTY.values():
            taken = text[:5_000]
            body = f"text => {{ {source[start[0] : start[1]]} return quoted(text); }}"
            assert node(body, taken) == quoted(taken)
    finally:
        node.close()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("name", [n for n in NASTY if n not in ("nul", "surrogates")])
def test_a_command_that_is_copied_gives_the_text_as_one_word(name):
    """To bash; and it is clean to print."""
    text = NASTY[name][:5_000]
    word = shell_word(text)

    printed = subprocess.run(
        ["bash", "-c", f"printf '%s' {word}"],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8"},
    ).stdout

    assert printed.decode() == text
    assert clean(word)
    if text.isprintable():
        assert shlex.split(word) == [text]


@pytest.mark.parametrize("name", NASTY)
def test_what_is_printed_prints(name):
    """On one line, or on the lines that are asked for."""
    assert printable(NASTY[name]).isprintable()
    assert clean(printable(NASTY[name], keep="\n"))
