"""Errors name what to write instead, at a line of the model."""

from __future__ import annotations

import pytest

from onceproof.model.errors import ModelError, UsageError
from onceproof.model.language import (
    Protocol,
    Sort,
    action,
    nobody_of,
    state,
)
from onceproof.properties.judges.by_search import check
from tests.model.language.test_mistakes import judged

HEAD = """\
from enum import Enum
from onceproof.model.language import *

class K(Enum):
    A = "a"

X = Sort("foreign")

class P(Protocol):
    N = Sort("node")
    O = Sort("place", ordered=True)
    n = state(0, high=3)
    who = state(nobody_of(O))
"""

LOSE = "@fault\ndef c(self):\n    self.lose_volatile()"
ACT = "@action\ndef a(self):\n    self.n = "


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (ACT + "max(self.n, 1)", 3, "use max_of(a, b)"),
        (ACT + "min([self.n, 1])", 3, "use min_of(a, b)"),
        (ACT + "any(x for x in [self.n == 1])", 3, "use any_of(...)"),
        (ACT + "all([self.n == 1])", 3, "use all_of(...)"),
        (ACT + "sorted([self.n, 1])[0]", 3, "min_of or max_of"),
        ("z = state(None)", 1, "declare nobody_of(SORT) and write nobody"),
        ("z = state('a')", 1, "as a member of an Enum"),
        ("z = state(0.5)", 1, "use an int with bounds"),
        ("z = state(member_of(X))", 1, "'foreign' is no sort of p; declare it"),
        ("z = state(nobody_of(X), per=N)", 1, "'foreign' is no sort of p"),
        ("z = state(0, high=X)", 1, "'foreign' is no sort of p"),
        ("z = channels(member_of(X), length=1)", 1, "'foreign' is no sort of p"),
        ("z = state(member_of(N), high=3)", 1, "leave out high= and low="),
        ("z = state(nobody_of(N), low=1)", 1, "member of N or nobody, which has no"),
        ("z = state(False, high=3)", 1, "holds Bool, which has no bounds"),
        ("z = state(K.A, high=3)", 1, "holds K, which has no bounds"),
        (
            "z = state(member_of(N), volatile=True)\n" + LOSE,
            1,
            "a crash would not know which",
        ),
        (
            "z = state(one_of(0, 1), high=1, volatile=True)\n" + LOSE,
            1,
            "a crash would not know which",
        ),
        ("action = state(False)\n@action\ndef a(self):\n    pass", 2, "choose another"),
        ("state = state(False)\nz = state(False)", 2, "hides the state of the"),
        ("def fault(self):\n    pass\n@fault\ndef a(self):\n    pass", 3, "hides the"),
        (
            "def always(self):\n    pass\n@always\ndef a(self):\n    pass",
            3,
            "hides the",
        ),
        ("part = param(1)\nz = part(Part)", 2, "hides the part of the language"),
        ("z = state(0, hihg=2)", 1, "unexpected keyword argument 'hihg'"),
        ("z = network(0, high=2, losses='x')", 1, "the budget of a fault"),
        ("z = network(0, high=2, repeats=1.5, copies=2)", 1, "the budget of a fault"),
        ("z = channels(0, high=2, length=1, losses=-1)", 1, "not -1"),
        ("z = processes(N, crashes=True)", 1, "the budget of a fault"),
        ("@fault(at_most='2')\ndef c(self):\n    pass", 1, "the budget of a fault"),
        ("z = channels(0, high=2, length=None)", 1, "length= is how many messages"),
        ("z = channels(0, high=2, length='2')", 1, "length= is how many messages"),
        ("z = network(0, high=2, copies='a')", 1, "copies= is how many messages"),
        ("z = param('x')", 1, "the whole number that it is by default"),
        ("Z = Sort('a', size='x')", 1, "size= of a sort is a whole number"),
        ("Z = Sort('a', most='x')", 1, "most= of a sort is a whole number"),
        ("Z = Sort(3)", 1, "by what its members are, in words"),
        ("Z = Sort('a', ordered='yes')", 1, "by what its members are, in words"),
        ("z = state(by_member(3), per=N, high=2)", 1, "by_member(...) takes a rule"),
        (ACT + "self.who < 2", 3, "write when(... != nobody) before it"),
        (ACT + "if_else(self.who == 'a', 1, 0)", 3, "as a member of an Enum"),
    ],
)
def test_an_error_says_what_to_write_at_the_line_of_the_model(
    text, line, message, tmp_path
):
    """No message points into a library."""
    path = tmp_path / "mine.py"
    body = "".join(f"    {one}\n" for one in text.split("\n"))
    path.write_text(HEAD + body)

    with pytest.raises(ModelError) as error:
        judged(f"{path}:p")

    assert message in str(error.value)
    assert error.value.where == f"{path}:{len(HEAD.splitlines()) + line}"


def test_names_of_the_language_are_free_where_a_class_does_not_call_them():
    """A state may be called as a decorator is that comes before it, or not at all."""

    class Fine(Protocol):
        """Two states with such names."""

        n = state(0, high=1)

        @action
        def act(self) -> None:
            """Set both."""
            self.timers = True
            self.step = True

        timers = state(False)
        step = state(False)

    assert check(Fine()).exploration.distinct == 2


def test_too_many_renamings_are_refused_by_the_field_that_needs_them():
    """It is said why members cannot be sorted, and what can be done."""

    class Held(Protocol):
        """Seven alike, of whom one is held."""

        N = Sort("node", size=7)
        who = state(nobody_of(N))

        @action(per=N)
        def take(self, n) -> None:
            """Take one."""
            self.who = n

    class Pairs(Protocol):
        """Pairs of seven."""

        N = Sort("node", size=7)
        knows = state(False, per=(N, N))

        @action(per=(N, N))
        def learn(self, n, m) -> None:
            """Learn of another."""
            self.knows[n, m] = True

    with pytest.raises(UsageError, match=r"N=7 have 5,040 .* members, as who does"):
        check(Held(), symmetry=True)
    with pytest.raises(UsageError, match="pairs of members, as knows is; choose"):
        check(Pairs(), symmetry=True)
