"""Each mistake that a modeller makes once is answered with its line and a fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.properties.judges.by_search import claims_of

if TYPE_CHECKING:
    from onceproof.model.language.tracing.system import System

HEAD = '''\
from enum import Enum
from typing import NamedTuple
from onceproof.model.language import *

class K(Enum):
    A = "a"

class M(NamedTuple):
    kind: K
    n: int

class P(Protocol):
    """A protocol with one mistake in it."""
    R = Sort("r")
    O = Sort("o", ordered=True)
    x = state(0, high=3)
    b = state(False, per=R)
    k = state(K.A)
    link = channels(M(K.A, 0), per=R, length=2, high={"n": 2})
    net = network(M(K.A, 0), per=R, high={"n": 2})
'''

ACTION = "@action\ndef a(self):\n"
ACTION_R = "@action(per=R)\ndef a(self, r):\n"

MISTAKES = {
    "an argument is missing": (
        "@action(per=R)\ndef a(self):\n    self.x = 0",
        "a must be declared as def a(self, r)",
    ),
    "self is missing": ("@action\ndef a():\n    pass", "declared as def a(self)"),
    "per is a name": (
        '@action(per="R")\ndef a(self, r):\n    self.x = 0',
        "per= takes a sort, or a tuple of sorts, not 'R'",
    ),
    "a sort has no name": (
        'y = state(False, per=Sort("other"))',
        "y is per 'other', a sort that has no name in p",
    ),
    "a budget is negative": (
        "@fault(at_most=-1)\ndef a(self):\n    self.x = 1",
        "not -1",
    ),
    "state is not declared": (
        ACTION + "    self.zz = 1",
        "p has no state 'zz'; declare it in the class, as zz = state(...)",
    ),
    "state starts out of bounds": (
        "y = state(5, high=3)",
        "y starts as 5, and holds 0..3",
    ),
    "state is a list": ("y = state([])", "y starts as [], no value of the language"),
    "an integer has no bound": ("y = state(0)", "y needs its bound: high=..."),
    "a guard is empty": (ACTION + "    when()", "when() needs a condition"),
    "an action returns a value": (
        ACTION + "    self.x = 1\n    return True",
        "an action returns nothing",
    ),
    "an action raises": (ACTION + '    raise ValueError("no")', "ValueError: no"),
    "a string is compared": (ACTION + '    when(self.k == "a")', "'a' is no value"),
    "a string is assigned": (ACTION + '    self.k = "a"', "'a' is no value"),
    "a truth is added": (ACTION_R + "    self.x = self.b[r] + 1", "`+` needs integers"),
    "a number is multiplied": (
        ACTION + "    when(self.x < 1)\n    self.x = self.x * 2",
        "numbers can be added, taken away and compared",
    ),
    "a number wraps round": (
        ACTION + "    self.x = (self.x + 1) % 3",
        "`if_else(x < 3, x + 1, 0)`",
    ),
    "a truth is inverted": (ACTION_R + "    when(~self.b[r])", "use not_(a)"),
    "membership is asked": (
        ACTION + "    when(self.k in (K.A,))",
        "use any_of(x == a, x == b)",
    ),
    "Python's max is called": (
        ACTION + "    self.x = max(self.x, 2)",
        "use max_of(a, b)",
    ),
    "Python's sum is called": (
        ACTION + "    self.x = sum(1 for r in self.R)",
        "inside all_of, any_of, count or total",
    ),
    "an index is a number": (ACTION + "    self.b[0] = True", "b is indexed by R"),
    "unordered members are compared": (
        "@action(per=(R, R))\ndef a(self, r, s):\n    when(r < s)",
        "`<` needs integers, not member of R",
    ),
    "an unordered sort has no first": (
        ACTION + "    when(self.b[self.R.first])",
        "R is not ordered, so it has no first member",
    ),
    "a family is treated as a channel": (
        ACTION + "    self.link.send(M(K.A, 0))",
        "link has no send of its own; name one, as link[...].send",
    ),
    "a message is a sort": (
        "news = network(R)",
        "is a sort; declare its parts by a NamedTuple, and this one as member_of(",
    ),
    "what is observed has no member": (
        "@observe\ndef visible(self):\n    return self.b",
        "not a field of all members; observe each, as in @observe(per=EVENT)",
    ),
    "the next place is read behind the last": (
        "t = state(0, per=O, high=3)\n"
        + ACTION
        + "    self.t.set(lambda o: self.t[o + 1])",
        "guard it with when(...), or keep it inside by min_of(...) or max_of(...)",
    ),
    "a channel has fewer indices": (
        ACTION_R + "    self.link[r, r].send(M(K.A, 0))",
        "link is indexed by R, not 2 values",
    ),
    "a message has another shape": (
        ACTION_R + "    self.link[r].send(K.A)",
        "link carries messages of kind, n, not",
    ),
    "a message has other types": (
        ACTION_R + "    self.link[r].send(M(1, K.A))",
        "link.kind holds K, not 1..1",
    ),
    "a message is out of bounds": (
        ACTION_R + "    self.net[r].send(M(K.A, 5))",
        "net.n holds 0..2, and this value may be 5..5",
    ),
    "a claim changes the state": (
        "@always\ndef a(self):\n    self.x = 1\n    return self.x == 1",
        "a claim only looks at a state; it cannot change x",
    ),
    "a claim returns nothing": (
        "@always\ndef a(self):\n    self.x == 1",
        "this one has no `return`",
    ),
    "a claim returns a number": (
        "@always\ndef a(self):\n    return self.x",
        "a claim returns a truth value, not 0..3",
    ),
    "a claim about steps sees one state": (
        "@step\ndef a(self):\n    return self.x == 0",
        "a must be declared as def a(self, after)",
    ),
    "leads_to returns one thing": (
        "@leads_to\ndef a(self):\n    return self.x == 0",
        "leads_to returns a pair",
    ),
    "the ledger has no such word": (
        "@observe(per=R)\ndef visble(self, r):\n    return self.b[r]",
        "the ledger has no word 'visble'; did you mean 'visible'?",
    ),
    "two observations are of different things": (
        (
            "@observe(per=R)\ndef visible(self, r):\n    return self.b[r]\n"
            "@observe(per=O)\ndef accepted(self, o):\n    return o == o"
        ),
        "accepted must be observed per R, as visible is",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered_with_its_line_and_a_fix(tmp_path, mistake):
    """Nothing is silently decided or ignored, and no traceback is shown."""
    body, fix = MISTAKES[mistake]
    path = tmp_path / "mine.py"
    lines = [f"    {line}" for line in body.splitlines()]
    path.write_text(HEAD + "\n".join(lines) + "\n")

    with pytest.raises(ModelError) as caught:
        judged(str(path))

    first = HEAD.count("\n") + 1
    places = {f"{path}:{first + i}" for i in range(len(lines))}
    assert fix in str(caught.value)
    assert caught.value.where in places


def judged(name: str) -> System:
    """Do with a file what every command does first."""
    protocol = make(name, {})
    system = trace(protocol)
    for claim in claims_of(protocol):
        claim.questions(system)
    return system


def test_chance_in_an_action_is_found_out(tmp_path):
    """A step that does something else when it is run again is no step."""
    path = tmp_path / "mine.py"
    body = "    @action\n    def a(self):\n        self.x = next(dice)\n"
    path.write_text(f"import itertools\ndice = itertools.cycle([1, 2])\n{HEAD}{body}")

    with pytest.raises(ModelError, match="does not do the same when it is run again"):
        judged(str(path))
