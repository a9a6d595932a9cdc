"""A verdict names what it is limited to, and no fault is granted that cannot happen."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from onceproof.model.errors import ModelError
from onceproof.model.language import (
    Protocol,
    action,
    always,
    channels,
    network,
    param,
    state,
    when,
)
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check
from onceproof.spark_checks.cli import main


class Note(NamedTuple):
    """A message of one bit."""

    urgent: bool


class Post(Protocol):
    """Three kinds of rooms for messages, each of a size that no parameter names."""

    room = param(2)

    sent = state(0, high=3)
    line = channels(Note(urgent=False), length=2)
    named = channels(Note(urgent=False), length=room)
    counted = network(Note(urgent=False), copies=3, repeats=1)
    sorted_ = network(Note(urgent=False), in_flight=4, copies=2)

    @action
    def send(self) -> None:
        """Send a note by all of them."""
        when(self.sent < 3)
        self.sent = self.sent + 1
        self.line.only.send(Note(urgent=True))
        self.named.only.send(Note(urgent=True))
        self.counted.only.send(Note(urgent=True))
        self.sorted_.only.send(Note(urgent=True))

    @action
    def skip(self) -> None:
        """Never possible, since two notes fill a line."""
        when(self.sent == 3)
        self.sent = 0

    @always
    def never_three(self) -> bool:
        """It holds for want of room alone."""
        return self.sent < 3


ROOMS = "line.length=2, counted.copies=3, sorted_.in_flight=4, sorted_.copies=2"


@pytest.mark.parametrize("judge", [check, prove])
def test_a_verdict_names_the_room_for_messages(judge):
    """Each number that no parameter names already, beside parameters and faults."""
    report = judge(Post())

    (finding,) = report.findings
    assert finding.verdict.holds
    assert f"room=2; {ROOMS}; at most 1 fault in a run" in finding.bounds


@pytest.mark.parametrize("judge", [check, prove])
def test_actions_that_never_happen_are_named(judge):
    """By the search, and by the search that confirms a proof."""
    assert "skip" in judge(Post()).never_taken


def test_prove_prints_the_actions_that_never_happen(tmp_path):
    """In the text and in the data, where the search came to its end."""
    path = tmp_path / "post.py"
    path.write_text(
        "from onceproof.model.language import Protocol, action, always, state, when\n"
        "class Door(Protocol):\n"
        '    """A door that nobody can open."""\n'
        "    open = state(False)\n"
        "    key = state(False)\n"
        "    knocked = state(False)\n"
        "    @action\n"
        "    def enter(self) -> None:\n"
        '        """Open it by the key."""\n'
        "        when(self.key)\n"
        "        self.open = True\n"
        "    @action\n"
        "    def knock(self) -> None:\n"
        '        """Nothing opens."""\n'
        "        self.knocked = True\n"
        "    @always\n"
        "    def shut(self) -> bool:\n"
        '        """It is shut."""\n'
        "        return self.open == self.key\n"
    )
    run = CliRunner()

    text = run.invoke(main, ["prove", str(path)]).output
    data = json.loads(run.invoke(main, ["prove", str(path), "--json"]).output)

    assert "actions never taken: enter" in text
    assert data["never_taken"] == ["enter"]


def made(**options):
    """Make a protocol with a network, or with channels where a length is given."""
    kind = channels if "length" in options else network

    class Own(Protocol):
        """A protocol with one network."""

        net = kind(Note(urgent=False), **options)
        sent = state(False)

        @action
        def send(self) -> None:
            """Send."""
            self.net.only.send(Note(urgent=True))
            self.sent = True

    return Own


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"copies": 0}, "net has copies=0: there must be room"),
        ({"length": 0}, "net has length=0: there must be room"),
        ({"in_flight": 0}, "in_flight= is how many messages"),
        ({"in_flight": 2, "copies": 0}, "net has copies=0: there must be room"),
        ({"repeats": 1}, "net has repeats=1 and copies=1"),
        ({"repeats": 1, "copies": 1}, "net has repeats=1 and copies=1"),
        ({"in_flight": 1, "repeats": 2}, "net has repeats=2 and in_flight=1"),
        ({"in_flight": 3, "copies": 1, "repeats": 1}, "repeats=1 and copies=1"),
        ({"length": 1, "repeats": 1}, "net has repeats=1 and length=1"),
        ({"length": 1, "overtakings": 1}, "net has overtakings=1 and length=1"),
    ],
)
def test_a_fault_that_could_never_happen_is_refused(options, text):
    """Else a verdict would name its budget, and rest on nothing."""
    with pytest.raises(ModelError, match=text):
        made(**options)()


@pytest.mark.parametrize(
    "options",
    [
        {"copies": 2, "repeats": 1},
        {"length": 2, "repeats": 1, "overtakings": 1},
        {"in_flight": 2, "repeats": 1},
        {"length": 1, "losses": 1},
    ],
)
def test_with_room_the_fault_happens(options):
    """What is not refused is taken."""
    names = check(made(**options)()).never_taken

    assert not [name for name in names if name.startswith("net.")] or names == (
        "net.overtake",
    )


def test_a_parameter_that_leaves_no_room_is_refused():
    """By its value, when the protocol is made."""
    with pytest.raises(ModelError, match="named has length=0: there must be room"):
        Post(room=0)
