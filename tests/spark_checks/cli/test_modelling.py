"""The command line's help for modellers: the library listed and judged, files, new."""

from __future__ import annotations

import json
import shlex

import pytest
from click.testing import CliRunner

from onceproof.model.library import protocols, variants
from onceproof.spark_checks.cli import main
from tests.test_house import ROOT


def run(*words: str):
    return CliRunner().invoke(main, list(words))


def test_protocols_lists_the_whole_library():
    """Each has a citation, parameters, properties and variants with what they break."""
    data = json.loads(run("protocols", "--json").stdout)

    assert [d["name"] for d in data] == list(protocols())
    for one in data:
        assert one["citation"]
        assert one["properties"]
        assert one["actions"]
        assert one["variants"][0] == {"set": {}, "breaks": one["breaks"]}


def test_one_protocol_is_described_whole():
    """Its parts can be chosen among those that fit."""
    data = json.loads(run("protocols", "barrier-snapshot", "--json").stdout)

    assert "unaligned" in data["parts"]["alignment"]["choices"]
    assert "fail" in data["faults"]
    assert "link.lose" not in data["faults"]
    assert data["parameters"]["S"] == {"default": 2, "text": "source"}


def test_what_a_part_is_made_with_is_described_with_it():
    """By the path that --set takes, and in the part's own description."""
    protocol = json.loads(run("protocols", "event-time", "--json").stdout)
    part = json.loads(run("protocols", "transaction-timeout", "--json").stdout)
    text = run("protocols", "transaction-timeout").stdout

    assert protocol["parameters"]["watermark.delay"]["default"] == 0
    assert part["parameters"]["timeouts"]["default"] == 1
    assert "(--set output.NAME=VALUE)" in text


def test_a_part_is_described_with_the_slots_that_take_it():
    data = json.loads(run("protocols", "append-at-once", "--json").stdout)
    text = run("protocols", "append-at-once").stdout

    assert data["summary"].startswith("The operator appends a row")
    assert data["breaks"] == ["at-most-once", "effectively-once"]
    assert {"protocol": "barrier-snapshot", "slot": "output"} in data["slots"]
    assert data["methods"]["visible"] == "A reader sees every row."
    assert "snapshot" in data["methods"]
    assert "barrier-snapshot --set output=append-at-once" in text


def test_every_choice_of_a_slot_is_described():
    data = json.loads(run("protocols", "barrier-snapshot", "--json").stdout)
    slot = data["parts"]["alignment"]

    assert list(slot["text"]) == slot["choices"]
    assert all(len(text.split()) > 2 for text in slot["text"].values())


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (("sink=append-at-once",), "did you mean --set output=append-at-once?"),
        (("E=",), "E has no value"),
        (("length=1000",), "choose smaller sizes"),
    ],
)
def test_what_cannot_be_set_is_answered_with_a_way_out(given, hint):
    result = run("check", "barrier-snapshot", *(w for g in given for w in ("--set", g)))

    assert result.exit_code == 2
    assert hint in result.stderr


def test_a_note_says_that_no_lemmas_were_looked_for():
    """Every sort of the protocol is ordered, so there is no proof for every size."""
    result = run("prove", "ordered-batches", "--infer", "--depth", "2", "--json")

    data = json.loads(result.stdout)
    assert data["inferred"] == {}
    assert "no lemmas were looked for" in data["properties"]["at-most-once"]["note"]


@pytest.mark.grid
def test_all_of_the_library_is_as_stated_and_written_down():
    """Verdicts are those that the files state, and docs/verdicts.md holds them."""
    result = run("check", "--all", "--markdown")

    assert result.exit_code == 0
    assert result.stdout == (ROOT / "docs" / "verdicts.md").read_text()


def test_a_slot_is_varied_once():
    """What inherits a slot does not vary it again."""
    names = [str(v) for v in variants()]

    assert len(names) == len(set(names))
    assert "barrier-snapshot --set alignment=unaligned" in names
    assert "barrier-snapshot-unaligned --set alignment=at-least-once" not in names


def test_a_new_protocol_is_refuted_until_it_is_mended(tmp_path):
    """The file that new writes runs as it is, and a one-line fix makes it hold."""
    made = run("new", "order-intake", "--output", str(tmp_path))
    path = tmp_path / "order_intake.py"
    before = run("check", str(path), "--json")
    text = path.read_text()
    fixed = text.replace("if_else(self.rows[e] < 2, self.rows[e] + 1, 2)", "1")
    path.write_text(fixed.replace("    if_else,\n", ""))
    after = run("check", str(path), "--set", "EVENT=3", "--json")

    assert made.exit_code == 0
    assert before.exit_code == 1
    assert json.loads(before.stdout)["traces"]["at-most-once"] == [
        "write(0)",
        "crash()",
        "write(0)",
    ]
    assert fixed != text
    assert after.exit_code == 0


def test_new_overwrites_nothing(tmp_path):
    """A file that is there stays as it is."""
    (tmp_path / "order_intake.py").write_text("mine")

    again = run("new", "OrderIntake", "--output", str(tmp_path))

    assert again.exit_code == 2
    assert (tmp_path / "order_intake.py").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("class", "a word of Python"),
        ("none", "a word of Python"),
        ("json", "a module of Python's own"),
        ("protocol", "a name of the language, Protocol"),
        ("Part", "a name of the language, Part"),
        ("micro-batch", "a protocol of the library"),
        ("MicroBatch", "a protocol of the library"),
    ],
)
def test_new_refuses_a_name_that_means_something_else(tmp_path, name, taken):
    """No file is written that Python or the command line would take for another."""
    made = run("new", name, "--output", str(tmp_path))

    assert made.exit_code == 2
    assert taken in made.stderr
    assert "choose another name" in made.stderr
    assert not list(tmp_path.iterdir())


TWO = """
from onceproof.model.language import *
class One(Protocol):
    '''One.'''
class Two(Protocol):
    '''Two.'''
"""


@pytest.mark.parametrize(
    ("text", "asked", "answer"),
    [
        (None, "", "there is no file"),
        ("x = 1", "", "holds no class that derives from Protocol"),
        (TWO, ":tow", "did you mean 'two'?"),
        ("def f(:", "", "mine.py:1: SyntaxError"),
        ("\nnonsense", "", "mine.py:2: NameError: name 'nonsense' is not defined"),
    ],
)
def test_a_file_that_cannot_serve_is_refused_in_one_sentence(
    tmp_path, text, asked, answer
):
    """Not there, empty, ambiguous, or broken."""
    path = tmp_path / "mine.py"
    if text is not None:
        path.write_text(text)

    output = run("check", f"{path}{asked}")

    assert output.exit_code == 2
    assert answer in output.stderr
    assert "Traceback" not in output.stderr


def test_check_without_a_protocol_says_what_to_name():
    """A bare check is a question."""
    result = run("check")

    assert result.exit_code == 2
    assert "onceproof protocols" in result.stderr


SEVERAL = """from onceproof.model.language import Protocol, action, always, state, when

class Counter(Protocol):
    n = state(0, high=2)

    @action
    def up(self):
        when(self.n < 2)
        self.n = self.n + 1

    @always
    def is_low(self):
        return self.n < 3

class Wrong(Counter):
    breaks = ({stated})

    @always
    def is_lower(self):
        return self.n < 2
"""


@pytest.mark.parametrize(
    ("stated", "status", "as_stated"),
    [
        ('"is-lower",', 0, [True, True]),
        ("", 1, [True, False]),
        ('"is-low", "is-lower",', 1, [True, False]),
    ],
)
def test_a_file_of_several_protocols_is_judged_by_what_it_states(
    tmp_path, stated, status, as_stated
):
    """Exactly what is stated must break, no more and no less."""
    path = tmp_path / "several.py"
    path.write_text(SEVERAL.replace("({stated})", f"({stated})"))

    result = run("check", str(path), "--json")

    assert result.exit_code == status
    found = json.loads(result.stdout)
    assert [one["as_expected"] for one in found] == as_stated
    assert [one["protocol"] for one in found] == [f"{path}:counter", f"{path}:wrong"]


CLAIMLESS = """
from onceproof.model.language import *

class Idle(Protocol):
    n = state(0, high=9)

    @action
    def up(self):
        when(self.n < 9)
        self.n = self.n + 1

class Other({base}):
    m = state(False)
    {claim}
"""
LOW = "is_low = always(lambda self: self.n < 3)"
IN = "is_in = always(lambda self: self.n <= 9)"
HELD = "is_held = always(lambda self: any_of(self.m, not_(self.m)))"


@pytest.mark.parametrize(
    ("base", "claim", "status"),
    [
        ("Idle", "", 2),
        ("Protocol", HELD, 2),
        ("Idle", IN, 0),
        ("Idle", LOW, 1),
    ],
)
def test_a_file_in_which_nothing_is_claimed_is_not_as_stated(
    tmp_path, base, claim, status
):
    """A protocol may claim nothing only as the base of another that claims."""
    path = tmp_path / "several.py"
    path.write_text(CLAIMLESS.format(base=base, claim=claim))

    result = run("check", str(path))

    assert result.exit_code == status
    assert ("claims nothing, so" in result.output) == (status == 2)


def test_what_is_refuted_is_not_as_stated_though_the_search_was_stopped(tmp_path):
    """One property is refuted that is not stated to be; another is undecided."""
    path = tmp_path / "several.py"
    claims = f"{LOW}\n    {IN}"
    path.write_text(CLAIMLESS.format(base="Idle", claim=claims))

    assert run("check", str(path), "--max-states", "5").exit_code == 1
    assert run("check", str(path), "--max-states", "2").exit_code == 2


VACUOUS = """
from onceproof.model.language import *

class Cell(Part):
    breaks = ({part})
    n = state(0, high=2)

    @action(fair=True)
    def up(self):
        when(self.n < 2)
        self.n = self.n + 1

    @always
    def is_low(self):
        return self.n < {low}

class Row(Protocol):
    breaks = ({whole})
    cell = part(Cell)

    @leads_to
    def ends(self):
        return self.cell.n == {premise}, self.cell.n == 2

    @sometimes
    def is_far(self):
        return self.cell.n > {far}
"""


@pytest.mark.parametrize(
    ("given", "status", "message"),
    [
        ({}, 0, ""),
        ({"premise": 7}, 1, "row: ends: it is vacuous"),
        ({"premise": 7, "whole": '"ends",'}, 1, "row breaks ends: it is vacuous"),
        ({"far": 2}, 1, "stated to break [], and breaks ['is-far']"),
        ({"far": 2, "whole": '"is-far",'}, 0, ""),
        ({"low": 2}, 1, "breaks ['cell.is-low']"),
        ({"low": 2, "part": '"is-low",'}, 0, ""),
        ({"low": 2, "whole": '"cell.is-low",'}, 0, ""),
        ({"low": 2, "part": '"is-low",', "whole": ""}, 1, "stated to break [], and"),
        ({"part": '"is-low",'}, 1, "stated to break ['cell.is-low'], and breaks []"),
    ],
)
def test_what_says_nothing_breaks_nothing_and_a_part_states_its_own_claims(
    tmp_path, given, status, message
):
    """Only a witness that is never met breaks by that; a part names its claims."""
    text = VACUOUS
    if "whole" not in given:
        text = text.replace("    breaks = ({whole})\n", "")
    defaults = {"part": "", "low": 3, "premise": 1, "far": 1}
    for name, value in {**defaults, **given}.items():
        text = text.replace(f"{{{name}}}", str(value))
    path = tmp_path / "several.py"
    path.write_text(f"{text}\n\nclass Same(Row):\n    pass\n")

    result = run("check", str(path))

    assert result.exit_code == status, result.output
    assert message in result.output.replace("\n", " ")
    assert f"{0 if status else 2} of 2 are as stated" in result.output


UNSETTLED = """
from onceproof.model.language import *

class Other(Protocol):
    K = param(3)

class Cell(Part):
    @fault(at_most=Other.K)
    def crash(self):
        pass

class Mine(Protocol):
    ONE = Sort("place", size=1, ordered=True)
    NONE = param(0)
    {declared}

    @action
    def idle(self):
        pass
"""


@pytest.mark.parametrize(
    ("declared", "line", "message"),
    [
        ("cell = part(Cell)", 8, "K is no parameter of mine"),
        ("net = network(0, high=1, losses=Other.K)", 15, "K is no parameter of mine"),
        ("wire = channels(0, high=1, length=NONE)", 15, "there must be room"),
        ("wire = channels(0, high=1, length=1, repeats=1)", 15, "needs room for two"),
        ("net = network(0, high=1, repeats=1)", 15, "needs room for two"),
        ("net = network(0, high=1, in_flight=ONE, repeats=1)", 15, "room for two"),
    ],
)
def test_what_is_wrong_as_a_protocol_is_made_is_reported_at_its_line(
    tmp_path, declared, line, message
):
    """No file of a library is named, such as that which reads the options."""
    path = tmp_path / "mine.py"
    path.write_text(UNSETTLED.format(declared=declared))

    result = run("check", f"{path}:mine")

    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {path}:{line}: ")
    assert message in result.stderr


def test_one_of_several_protocols_is_judged_as_it_is(tmp_path):
    """What is refuted is refuted, whatever the file states; options are for one."""
    path = tmp_path / "several.py"
    path.write_text(SEVERAL.replace("({stated})", '("is-lower",)'))

    named = run("check", f"{path}:wrong")
    limited = run("check", str(path), "--max-states", "1")
    together = run("check", str(path))
    option = run("check", str(path), "--set", "n=1")

    assert (named.exit_code, limited.exit_code, option.exit_code) == (1, 2, 2)
    again = shlex.join(["onceproof", "check", f"{path}:wrong"])
    assert again in together.output.replace("\n", "")
    assert "choose one" in option.output
    assert "choose one" in run("prove", str(path)).output


def test_a_file_with_one_protocol_that_states_what_breaks_is_judged_by_it(tmp_path):
    """It is as stated, and the counterexample is a command away."""
    path = tmp_path / "alone.py"
    lines = SEVERAL.replace("({stated})", '("is-lower",)').splitlines(keepends=True)
    path.write_text("".join(li for li in lines if li != "class Wrong(Counter):\n"))

    assert run("check", str(path)).exit_code == 0
    assert run("check", f"{path}:counter").exit_code == 1
