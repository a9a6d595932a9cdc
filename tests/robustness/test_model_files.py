"""A file that is no model, or breaks as it is read or traced, judges nothing."""

from __future__ import annotations

import contextlib
import json

import pytest
from click.testing import CliRunner

from onceproof.spark_checks.cli import main
from tests.robustness.harness import Case, refused

HEAD = """\
from onceproof.model.language import *


class Lamp(Protocol):
    '''A lamp.'''

    on = state(False)

"""
STEP = """\
    @action
    def switch(self) -> None:
        '''Switch.'''
        {}
        self.on = not_(self.on)

"""
CLAIM = """\
    @always
    def fine(self) -> bool:
        '''It is fine.'''
        {}
"""
RIGHT = HEAD + STEP.format("pass") + CLAIM.format("return self.on == self.on")


def file(name: str, text: str | bytes, sentence: str, **more) -> Case:
    words = more.pop("words", ("check", "m.py"))
    return Case(name, words, sentence=sentence, files={"m.py": text}, **more)


def in_action(name: str, code: str, sentence: str, **more) -> Case:
    return file(
        name, HEAD + STEP.format(code) + CLAIM.format("return True"), sentence, **more
    )


def in_claim(name: str, code: str, sentence: str, **more) -> Case:
    text = HEAD + STEP.format("pass") + CLAIM.format(code)
    return file(name, text, sentence, **more)


RAISED = (
    "import sys; sys.exit(0)",
    "import sys; sys.exit(1)",
    "import sys; sys.exit()",
    "import sys; sys.exit('all is well')",
    "raise SystemExit",
    "quit()",
    "import click; raise click.exceptions.Exit(0)",
    "raise GeneratorExit",
    "raise BaseException('no')",
)
ENDS = (
    *RAISED,
    "import os; os._exit(0)",
    "import click; click.get_current_context().exit(0)",
)
LOADED = (
    *(file(f"a file that runs {code}", f"{code}\n", "m.py:1: ") for code in ENDS),
    file(
        "a file that ends the program below its protocol",
        RIGHT + "raise SystemExit(0)",
        "ends the program",
    ),
    file("an empty file", "", "holds no class that derives from Protocol"),
    file("a file of a comment", "# nothing", "holds no class"),
    file("a file of another class", "class A: pass", "holds no class"),
    file(
        "a protocol that is imported",
        "from onceproof.model.protocols.two_phase_commit import TwoPhaseCommit",
        "holds no class",
    ),
    file(
        "two protocols",
        RIGHT + "\n\nclass Other(Lamp):\n    '''Other.'''\n",
        "choose one, as m.py:",
        words=("prove", "m.py"),
    ),
    file(
        "no such protocol", RIGHT, "did you mean 'lamp'", words=("check", "m.py:lmap")
    ),
    file("a syntax error", "def f(:\n", "m.py:1: SyntaxError"),
    file("a wrong indent", "x = 1\n  y = 2\n", "m.py:2: IndentationError"),
    file("bytes that are no text", b"x = '\xff'\n", "m.py"),
    file("bytes of UTF-16", "x = 1\n".encode("utf-16"), "m.py"),
    file("an unknown encoding", b"# coding: nonsense\n", "m.py"),
    file("a NUL in a file", b"x = 1\0\n", "m.py"),
    file("a binary file", bytes(range(256)) * 9, "m.py"),
    file("a name that there is not", "\nnonsense\n", "m.py:2: NameError"),
    file(
        "a module that there is not",
        "import no_such_module\n",
        "m.py:1: ModuleNotFoundError",
    ),
    file(
        "a name that a module has not",
        "from os import no_such_name\n",
        "m.py:1: ImportError",
    ),
    file("an import of itself", "import m\nm.x\n", "m.py:"),
    file("a file that recurses", "def f(): return f()\nf()\n", "RecursionError"),
    file("a nest too deep", "x = " + "(" * 500 + ")" * 500, "m.py"),
    file(
        "an error of two lines",
        "raise ValueError('one\\ntwo')\n",
        "ValueError: one two",
    ),
    file(
        "an error with an escape", "raise ValueError('\\x1b[31mred')\n", "ValueError: "
    ),
    file("an error without a text", "raise ValueError\n", "m.py:1: ValueError"),
    file(
        "an error that cannot be shown",
        "class E(Exception):\n    def __str__(self): raise ValueError\nraise E\n",
        "m.py:3: ",
    ),
    file("a division by zero", "1 / 0\n", "m.py:1: ZeroDivisionError"),
    file("an assertion", "assert False, 'no'\n", "m.py:1: AssertionError: no"),
    Case(
        "an error in a neighbour",
        ("check", "m.py"),
        sentence="ValueError: no",
        files={"m.py": "import near\n", "near.py": "raise ValueError('no')\n"},
    ),
    Case(
        "a neighbour that ends the program",
        ("check", "m.py"),
        sentence="ends the program",
        files={"m.py": "import near\n", "near.py": "import sys; sys.exit(0)\n"},
    ),
    Case(
        "a syntax error in a neighbour",
        ("check", "m.py"),
        sentence="near.py:1: SyntaxError",
        files={"m.py": "import near\n", "near.py": "def f(:\n"},
    ),
    Case(
        "a file named as a module of Python",
        ("check", "json.py"),
        sentence="holds no class",
        files={"json.py": "x = 1\n"},
    ),
    Case(
        "a link that leads nowhere",
        ("check", "m.py"),
        sentence="there is no file m.py",
        prepare=lambda folder: (folder / "m.py").symlink_to(folder / "absent"),
    ),
    Case(
        "a link to itself",
        ("check", "m.py"),
        sentence="m.py",
        prepare=lambda folder: (folder / "m.py").symlink_to(folder / "m.py"),
    ),
)

MADE = (
    *(in_action(f"an action that runs {code}", code, "m.py") for code in RAISED),
    *(in_claim(f"a claim that runs {code}", code, "m.py") for code in RAISED),
    in_action("an action with an error", "1 / 0", "ZeroDivisionError"),
    in_action("an action that recurses", "self.switch()", "m.py"),
    in_action("an undeclared name", "self.off = True", "m.py"),
    in_claim("a claim that returns nothing", "pass", "returns"),
    in_claim("a claim that returns a text", "return 'yes'", "m.py"),
    in_claim("a claim with an error", "return 1 / 0", "ZeroDivisionError"),
    in_claim("a claim in Python's words", "return self.on and True", "m.py"),
    file(
        "a class that raises in __init__",
        RIGHT + "    def __init__(self, **k):\n        raise ValueError('no')\n",
        "ValueError: no",
    ),
    file(
        "a class that ends the program in __init__",
        RIGHT + "    def __init__(self, **k):\n        raise SystemExit(0)\n",
        "m.py",
    ),
    file("a state without a bound", RIGHT.replace("state(False)", "state(0)"), "m.py"),
    file(
        "a picture of a broken model",
        HEAD + STEP.format("1 / 0"),
        "ZeroDivisionError",
        words=("check", "m.py", "--mermaid"),
    ),
    *(
        file(
            f"{' '.join(words)} of a model that ends the program",
            HEAD + STEP.format("raise SystemExit(0)") + CLAIM.format("return True"),
            "m.py",
            words=words,
        )
        for words in (
            ("prove", "m.py"),
            ("interleavings", "m.py"),
            ("explore", "m.py"),
            ("export", "m.py", "--to", "tla"),
            ("check", "m.py", "--json"),
            ("prove", "m.py", "--json"),
            ("explore", "m.py", "--json"),
            ("check", "m.py", "--simulate", "3"),
        )
    ),
    *(
        file(
            f"{words[0]} of a file that ends the program{more}",
            "raise SystemExit(0)",
            "ends the program",
            words=words,
        )
        for words, more in (
            (("prove", "m.py"), ""),
            (("interleavings", "m.py"), ""),
            (("explore", "m.py"), ""),
            (("protocols", "m.py"), ""),
            (("export", "m.py", "--to", "tla"), ""),
            (("protocols", "m.py", "--json"), ", as data"),
        )
    ),
    file(
        "a protocol that claims nothing",
        HEAD + STEP.format("pass"),
        "claims nothing",
        words=("check", "m.py", "--json"),
        data=True,
    ),
    file(
        "a proof of nothing",
        HEAD + STEP.format("pass"),
        "claims nothing",
        words=("prove", "m.py", "--json"),
        data=True,
    ),
    file(
        "evidence of what claims nothing",
        HEAD + STEP.format("pass"),
        "no guarantee to write evidence of",
        words=("check", "m.py", "--evidence", "e"),
    ),
)

APART = (
    in_action("an action that leaves it", "import os; os._exit(0)", "m.py", apart=True),
    in_claim("a claim that leaves it", "import os; os._exit(0)", "m.py", apart=True),
    file(
        "a process of a file that ends it",
        "import sys; sys.exit(0)\n",
        "ends the program",
        apart=True,
    ),
    file(
        "a process of a file that leaves it",
        "import os; os._exit(0)\n",
        "ends the program",
        apart=True,
    ),
    file(
        "a process of an action that ends it",
        HEAD + STEP.format("raise SystemExit(0)") + CLAIM.format("return True"),
        "m.py",
        apart=True,
    ),
    file(
        "a process in which warnings are errors",
        "import warnings\nwarnings.warn('old')\n",
        "UserWarning: old",
        apart=True,
        environment={"PYTHONWARNINGS": "error"},
    ),
)

CASES = (*LOADED, *MADE, *APART)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_refused(case, there):
    """With exit status 2, and nothing left behind."""
    refused(case, there)


def run(folder, *words: str):
    with contextlib.chdir(folder):
        return CliRunner().invoke(main, list(words))


def test_the_file_that_the_cases_break_is_right(there):
    """Else they would be refused for another reason."""
    (there / "m.py").write_text(RIGHT)

    assert run(there, "check", "m.py").exit_code == 0


def test_what_a_model_prints_is_no_part_of_the_data(there):
    """Stdout holds one JSON document, whatever the model prints, and where."""
    (there / "m.py").write_text(
        "print('loading')\n"
        + HEAD
        + STEP.format("print('tracing')")
        + CLAIM.format("print('claiming'); return self.on == self.on")
    )

    for words in (
        ("check", "m.py", "--json"),
        ("prove", "m.py", "--json"),
        ("protocols", "m.py", "--json"),
        ("explore", "m.py", "--json"),
    ):
        result = run(there, *words)

        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)
        assert "loading" in result.stderr


FINE = """\
from near import FINE


def fine(self):
    return self.on == self.on if FINE else self.on != self.on


""" + RIGHT.replace("self.on == self.on", "fine(self)")


def test_each_run_reads_the_file_and_its_neighbours_anew(there):
    """Several times in one process and within a second, with texts of one length."""
    neighbour = there / "near.py"
    (there / "m.py").write_text(FINE)

    neighbour.write_text("FINE = True \n")
    first = run(there, "check", "m.py").exit_code
    neighbour.write_text("FINE = False\n")
    second = run(there, "check", "m.py").exit_code
    (there / "m.py").write_text(FINE.replace("FINE else", "TRUE else"))
    third = run(there, "check", "m.py")

    assert (first, second) == (0, 1)
    assert "NameError: name 'TRUE' is not defined" in third.stderr


def test_files_of_one_name_in_two_folders_are_two(there):
    """With neighbours of one name, too: each model has its own."""
    found = []

    for name, fine in (("a", "True"), ("b", "False")):
        folder = there / name
        folder.mkdir()
        (folder / "near.py").write_text(f"FINE = {fine}\n")
        (folder / "m.py").write_text(FINE)
        found.append(run(there, "check", f"{name}/m.py").exit_code)

    assert found == [0, 1]
