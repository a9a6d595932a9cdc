"""Wherever a run is shown, messages and members are shown by what they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from onceproof.model.export.mermaid import mermaid
from onceproof.model.language import Protocol, Sort, action, state
from onceproof.model.language.interpreter import Interpreter
from onceproof.model.language.steps import Event
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import variants
from onceproof.properties.counterexample.file import lane_of
from onceproof.properties.counterexample.lanes import Lanes, as_text
from onceproof.properties.words.labels import Labels
from onceproof.properties.words.sort_words import words_of
from onceproof.spark_checks.cli import main
from tests.properties.counterexample import shown_protocols
from tests.properties.counterexample.shown_protocols import Lease, Log, Office, Pipe

FILE = Path(shown_protocols.__file__)
INSIDE = re.compile(r"\.(used|on_its_way|kind|seq|last|to|index)\b|\b(N|SERVER|SIDE)\d")


def shown(*words: str) -> str:
    """Return what a command prints."""
    return CliRunner().invoke(main, [*words]).output


@pytest.mark.parametrize("kind", [Pipe, Log, Lease, Office])
def test_no_way_to_show_a_run_names_what_is_inside(kind, tmp_path):
    """Neither arrays and numbers of messages, nor the letters of a sort."""
    named = f"{FILE}:{kind.label()}"
    texts = [
        shown("check", named, "--output", str(tmp_path)),
        shown("check", named, "--mermaid"),
        shown("explore", named, "--trust"),
        mermaid(trace(kind()), names=Labels(Interpreter(kind()))),
    ]

    files = sorted(tmp_path.iterdir())
    texts += [shown("explore", str(file), "--trust") for file in files]

    assert files
    for text in texts:
        assert text
        assert INSIDE.search(re.sub(r"faults\.\S+", "", text)) is None, text


@pytest.mark.parametrize("kind", [Pipe, Log, Lease, Office])
def test_a_file_shows_them_without_its_model(kind, tmp_path, monkeypatch):
    """Who has only the file sees the same words, and one sentence once."""
    shown("check", f"{FILE}:{kind.label()}", "--output", str(tmp_path))
    (file, *_) = sorted(tmp_path.iterdir())
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)

    text = shown("explore", str(file))
    data = shown("explore", str(file), "--json")

    assert "the model cannot be made again" in text
    assert text.count("the claim that") == 1
    assert INSIDE.search(re.sub(r"faults\.\S+", "", data)) is None, data


def test_a_channel_is_the_list_of_its_messages():
    """In the table of a trace, and what repeats a message names it."""
    text = shown("check", f"{FILE}:pipe")

    assert "wire.repeat(side 0, (data seq 0, last no))" in text
    assert "wire[side 0]=[(data seq 0, last no), (data seq 0, last no)]" in text


def test_who_takes_a_message_from_its_place_is_shown_with_it():
    """A step of the user's own for a place names what lies there, and is taken."""
    text = shown("check", f"{FILE}:log")

    assert "net.repeat(to server 0, index 17)" in text
    assert "append(to server 0, index 17)" in text
    assert "net={(to server 0, index 17), (to server 0, index 17)}" in text
    assert "net={}" in text


def test_channels_of_a_part_for_each_member_are_shown_for_each():
    """The member is the first index of all that the part holds."""
    text = shown("check", f"{FILE}:office")

    assert "drivers.inbox[worker 0]=[2, 2], drivers.notes[worker 0]={yes, yes}" in text


def test_a_step_that_takes_nothing_keeps_its_number():
    """Where nothing lies there is no message to name."""
    labels = Labels(interpreter := Interpreter(Log()))
    start = next(iter(interpreter.initial_states()))

    assert labels.event(Event("append", (1,)), start) == "append(place 1)"


def test_members_and_nobody_are_words():
    """And of several first states the one is named that a run begins in."""
    text = shown("check", f"{FILE}:lease")

    assert "holder=node 0, believes[node 0]=node 0" in text
    assert "holder=nobody" in text
    assert "it starts with first=node 0" in text


def test_what_breaks_at_once_shows_the_first_state(tmp_path):
    """The table says that no step is needed; so does what is explored."""
    text = shown("check", f"{FILE}:lease", "--output", str(tmp_path))
    explored = shown("explore", str(tmp_path / "lease--nobody-is-first.json"))

    _, _, after = text.partition("nobody-is-first fails: ")
    assert "in an initial state, before any step:" in after
    assert "holder=nobody, first=node 0, believes[node 0]=nobody" in after
    assert "At the start, first is node 0." in explored
    assert "  holder = nobody\n  first = node 0\n" in explored
    assert "How it happened" not in explored


def test_a_trace_that_refutes_two_claims_is_printed_once():
    """What breaks at-most-once breaks effectively-once, and both are named."""
    text = shown("check", "idempotent-producer-restarting")

    assert "at-most-once and effectively-once fail: no effect is ever" in text
    assert text.count("replicate()") == 1


def test_no_two_sorts_have_one_word():
    """Neither in labels nor at the head of lanes."""

    class Two(Protocol):
        """Two sorts that are called the same."""

        A = Sort("process, that sends")
        B = Sort("process, that receives")
        C = Sort("process")

        sent = state(False, per=(A, B, C))

        @action(per=A)
        def one(self, a):
            """Send."""

        @action(per=B)
        def other(self, b):
            """Receive."""

    words = words_of(Two())
    lanes = {
        lane_of(Interpreter(Two()), Event(name, (0,))) for name in ("one", "other")
    }

    assert len(set(words.values())) == len(words)
    assert lanes == {"process (A) 0", "process (B) 0"}


@pytest.mark.parametrize("variant", list(variants()), ids=str)
def test_no_two_elements_of_the_library_have_one_label(variant):
    """So that what is said of one is not said of another."""
    labels = Labels(Interpreter(variant.protocol))

    assert len(set(labels.elements)) == len(labels.elements)


@pytest.mark.parametrize(
    "names",
    [
        [f"resource manager {i}" for i in range(9)],
        ["the coordinator of commits", "the coordinator of aborts"] * 4,
        [f"{i} of the very long and common name" for i in range(9)],
    ],
)
def test_headings_of_lanes_differ_as_their_names_do(names):
    """However narrow the lanes are."""
    (head,) = as_text(Lanes(tuple(names), ()), width=60)

    headings = [head[at : at + 12] for at in range(4, len(head), 12)]
    assert len(headings) == len(names)
    assert len({heading.strip() for heading in headings}) == len(set(names))


def test_what_is_too_wide_goes_on_below_its_step():
    """Indented, so that the column of steps stays clear."""
    text = shown("check", "two-phase-commit-sink-lost-notice")

    _, _, trace = text.partition("effectively-once fail:")
    lines = [line for line in trace.splitlines()[1:] if line.strip()]
    steps = [line for line in lines if line[4:5].isdigit()]
    below = [line for line in lines if line.startswith(" " * 12)]
    assert below
    assert max(map(len, lines)) <= 180
    assert len(steps) + len(below) >= len(lines) - 2
