"""What is declared is what is judged: nothing is lost, doubled or shared unseen."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from onceproof.model.errors import ModelError, UsageError
from onceproof.model.language import (
    Member,
    Part,
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    count,
    eventually,
    fault,
    min_of,
    not_,
    observe,
    param,
    part,
    state,
    step,
    when,
)
from onceproof.model.language.composition.reserved_names import (
    OF_PROTOCOLS,
    names_of,
)
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.properties.guarantees import AT_MOST_ONCE
from onceproof.properties.judges.by_proof import prove
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.verdicts import Verdict
from tests.model.language.test_mistakes import judged
from tests.model.test_readers_agree import compare_successors

BASE = '''\
from dataclasses import dataclass
from enum import Enum, Flag, auto
from onceproof.model.language import *

class K(Enum):
    A = "a"

class Sink(Part):
    R = Sort("row")
    rows = state(0, per=R, high=2)

class Base(Protocol):
    """Each row is written, and after a crash once more."""
    R = Sink.R
    O = Sort("o", ordered=True)
    n = param(2)
    sink = part(Sink)
    x = state(0, high=3)
    done = state(False, per=R, volatile=True)

    @action(per=R)
    def write(self, r):
        when(self.sink.rows[r] < 2, not_(self.done[r]))
        self.sink.rows[r] = self.sink.rows[r] + 1
        self.done[r] = True

    @fault
    def crash(self):
        self.lose_volatile()

    @observe(per=R)
    def visible(self, r):
        return self.sink.rows[r]

    @observe(per=R)
    def accepted(self, r):
        return r == r

    @always
    def is_fine(self):
        return self.x <= 3

class Sub(Base):
    """The same, changed."""
'''

LOST = {
    "a fault is overridden without its decorator": (
        "def crash(self):\n    self.lose_volatile()",
        (
            "Sub.crash is a plain method or value, and hides the @fault crash of Base; "
            "decorate it with @fault, choose another name, or write crash = None"
        ),
    ),
    "an action is overridden without its decorator": (
        "def write(self, r):\n    self.done[r] = True",
        "hides the @action write of Base; decorate it with @action",
    ),
    "an observation is overridden without its decorator": (
        "def visible(self, r):\n    return 0",
        "hides the @observe visible of Base; decorate it with @observe",
    ),
    "a claim is overridden without its decorator": (
        "def is_fine(self):\n    return self.x == 0",
        "hides the @always is_fine of Base; decorate it with @always",
    ),
    "a fault is overridden by an action": (
        "@action\ndef crash(self):\n    self.lose_volatile()",
        "Sub.crash is declared by @action, and hides the @fault crash of Base",
    ),
    "a claim is overridden by another kind": (
        "@sometimes\ndef is_fine(self):\n    return self.x == 0",
        "Sub.is_fine is declared by @sometimes, and hides the @always is_fine",
    ),
    "a claim is overridden by state": (
        "is_fine = state(True)",
        "Sub.is_fine is declared by state(...), and hides the @always is_fine",
    ),
    "state is overridden by a method": (
        "def x(self):\n    return 0",
        (
            "Sub.x is a plain method or value, and hides the state(...) x of Base; "
            "declare it as state(...)"
        ),
    ),
    "a sort is overridden by a parameter": (
        "O = param(2)",
        "Sub.O is declared by param(...), and hides the Sort(...) O of Base",
    ),
    "a part is overridden by a value": (
        "sink = 3",
        "Sub.sink is a plain method or value, and hides the part(...) sink of Base",
    ),
    "the budget of all faults is overridden by state": (
        "faults = state(0, high=3)",
        "'faults' is a name of the language; choose another",
    ),
    "a fault is overridden by a mixin": (
        (
            "pass\n\nclass Mixin:\n    def crash(self):\n        pass\n\n"
            "class Mixed(Mixin, Base):\n    pass"
        ),
        "Mixin.crash is a plain method or value, and hides the @fault crash of Base",
    ),
    "a fault is declared twice": (
        "@fault\ndef harm(self):\n    self.x = 0\n\ndef harm(self):\n    self.x = 1",
        "harm is declared twice in Sub",
    ),
    "state is declared twice": (
        "f = state(False)\ng = state(False)\nf = state(True)",
        "f is declared twice in Sub, here and at {first}, and only the last",
    ),
    "a parameter is declared twice": (
        "f = param(1)\nf = param(2)",
        "f is declared twice in Sub, here and at {first}",
    ),
    "a sort is declared twice": (
        "F = Sort('one')\nF = Sort('other')",
        "F is declared twice in Sub, here and at {first}",
    ),
    "a part is declared twice": (
        "f = part(Sink)\nf = part(Sink)",
        "f is declared twice in Sub, here and at {first}",
    ),
    "state and an action share a name": (
        "f = state(0, high=1)\n\n@action\ndef f(self):\n    self.x = 0",
        "f is declared twice in Sub, here and at {first}",
    ),
    "a class is a dataclass": (
        "pass\n\n@dataclass\nclass Data(Base):\n    f: bool = state(False)",
        "Data cannot be a dataclass: its fields would be arguments, and no state",
    ),
    "an action and a claim share a name": (
        (
            "@action\ndef a(self):\n    self.x = 0\n\n"
            "@always\ndef a(self):\n    return self.x == 0"
        ),
        "a is declared twice in Sub",
    ),
    "a method has two decorators": (
        "@always\n@action\ndef a(self):\n    self.x = 0",
        "a has two decorators of the language",
    ),
    "an observation is a property": (
        "@property\n@observe()\ndef unexplained(self):\n    return 0",
        "unexplained is a property, which hides its @observe",
    ),
    "a decorator is above property": (
        "@observe()\n@property\ndef unexplained(self):\n    return 0",
        "a decorator of the language is for methods, not <property",
    ),
    "a claim has the name of a guarantee": (
        "@always\ndef at_most_once(self):\n    return self.x <= 3",
        "two claims are called at-most-once: this one, and the guarantee of that name",
    ),
    "two claims have names that are spelled alike": (
        "@always\ndef isFine(self):\n    return self.x <= 2",
        "two claims are called is-fine: this one, and ",
    ),
    "a sort has two names": (
        "P = Base.R",
        "the sort R is also called P, and only one of the names would set its size",
    ),
    "an action sets a private attribute": (
        "@action\ndef a(self):\n    self._seen = 1",
        "sub has no state '_seen'; declare it in the class, as _seen = state(...)",
    ),
    "an action sets a private attribute of a part": (
        "@action\ndef a(self):\n    self.sink._seen = 1",
        "sink has no state '_seen'",
    ),
    "an action sets an attribute of its dictionary": (
        "@action\ndef a(self):\n    self.__dict__['seen'] = 1",
        "a changes the attribute seen, which is no state",
    ),
    "an action sets an attribute without asking": (
        "@action\ndef a(self):\n    object.__setattr__(self.sink, '_seen', 1)",
        "a changes the attribute sink._seen, which is no state",
    ),
    "an action removes an attribute": (
        "@action\ndef a(self):\n    del self._path",
        "a changes the attribute _path, which is no state",
    ),
    "an action adds to a list of its class": (
        "log = []\n\n@action\ndef a(self):\n    self.log.append(1)",
        "a changes Sub.log, which is no state of the model",
    ),
    "an action changes a dictionary in a list of its class": (
        "log = [{}]\n\n@action\ndef a(self):\n    self.log[0]['n'] = 1",
        "a changes Sub.log, which is no state of the model",
    ),
    "an action changes the sizes": (
        "@action\ndef a(self):\n    self.sizes[Base.R] = 9",
        "does not support item assignment",
    ),
    "an enumeration is a flag": (
        "class F(Flag):\n    A = auto()\n    B = auto()\n\nf = state(F.A)",
        "F is a Flag, whose values are sets; use an Enum",
    ),
    "an enumeration has two names for a value": (
        "class E(Enum):\n    A = 1\n    B = True\n\nf = state(E.A)",
        "E.B is another name of E.A, for their values are equal",
    ),
    "a number is compared with an enumeration of numbers": (
        (
            "class E(int, Enum):\n    A = 1\n    B = 2\n\nf = state(E.A)\n\n"
            "@always\ndef a(self):\n    return self.f == 1"
        ),
        "cannot compare E with 1..1",
    ),
    "a field starts from values of two types": (
        "f = state(one_of(K.A, True))",
        "f starts as True, and holds K",
    ),
    "a field starts from no value": (
        "f = state(one_of())",
        "one_of() needs the values",
    ),
    "a member's start is out of bounds": (
        "f = state(by_member(lambda r: r + 1), per=Base.O, high=1)",
        "f starts as 2, and holds 0..1",
    ),
    "a bound is too large": (
        "f = state(0, high=2**63)",
        "f holds 0..9223372036854775808; whole numbers go from",
    ),
    "a sum is too large": (
        (
            "f = state(0, per=Base.R, high=2**52)\n\n@always\ndef a(self):\n"
            "    return total(self.f[r] for r in self.R) + 1 >= 0"
        ),
        "a number may reach 9007199254740993 here",
    ),
    "a bound is a sort of nobody": (
        "f = state(0, high=Sort('other'))",
        "'other' is no sort of sub; declare it in the class",
    ),
    "what is accepted is a number": (
        "@observe(per=Base.R)\ndef accepted(self, r):\n    return 3",
        "accepted returns a truth value, not a value of 3..3",
    ),
    "what is accepted is nothing": (
        "@observe(per=Base.R)\ndef accepted(self, r):\n    self.x == 1",
        "accepted returns a truth value, not None",
    ),
    "what is accepted is a text": (
        "@observe(per=Base.R)\ndef accepted(self, r):\n    return 'yes'",
        "accepted returns a truth value, not 'yes'",
    ),
    "what is visible is a value of an enumeration": (
        "@observe(per=Base.R)\ndef visible(self, r):\n    return K.A",
        "visible returns a number or a truth value, not a value of K",
    ),
    "what is unexplained is a truth": (
        "@observe()\ndef unexplained(self):\n    return self.x > 2",
        "unexplained returns a number, not a value of Bool",
    ),
    "what is rejected is a member": (
        "@observe(per=Base.R)\ndef rejected(self, r):\n    return r",
        "rejected returns a truth value, not a value of member of R",
    ),
    "a plain number is negated": (
        "@always\ndef a(self):\n    return implies(3, self.x == 0)",
        "a truth value is needed here, not 3..3",
    ),
    "nothing is negated": (
        "@always\ndef a(self):\n    return not_(None)",
        "None is no value of the language",
    ),
    "truths are added up": (
        "@always\ndef a(self):\n    return total(self.done[r] for r in self.R) < 9",
        "a whole number is needed here, not Bool",
    ),
    "a helper compares by `is`": (
        "@always\ndef a(self):\n    return one(self.x, 0)",
        "`is` would be decided now",
    ),
    "a property compares by `is`": (
        (
            "@property\ndef none(self):\n    return self.x is True\n\n"
            "@always\ndef a(self):\n    return self.none"
        ),
        "`is` would be decided now",
    ),
    "a static method compares by `is`": (
        (
            "@staticmethod\ndef none(x):\n    return x is True\n\n"
            "@always\ndef a(self):\n    return self.none(self.x)"
        ),
        "`is` would be decided now",
    ),
    "an action has the name of what crashes use": (
        "@action\ndef lose_volatile(self):\n    self.x = 1",
        "'lose_volatile' is a name of the language; choose another",
    ),
    "a method has the name of what quantifiers use": (
        "def members(self, sort):\n    return []",
        "'members' is a name of the language; choose another",
    ),
    "a claim has the name of a statement": (
        "@always\ndef breaks(self):\n    return self.x < 9",
        "'breaks' is a name of the language; choose another",
    ),
    "a helper decides by identity": (
        "@always\ndef a(self):\n    return same(self.x, 0)",
        "this claim is",
    ),
    "a guard decides by identity in a helper": (
        "@action\ndef a(self):\n    when(same(self.x, 0))\n    self.x = 1",
        "a() can happen in plain Python, and cannot as it was traced, where ",
    ),
    "an effect decides by identity in a helper": (
        "@action\ndef a(self):\n    self.x = 1 if same(self.x, 0) else 2",
        "a() gives x the value 1 in plain Python, and 2 as it was traced, where ",
    ),
    "an effect that no sampled state allows decides by identity": (
        (
            "y = state(0, high=2**40)\n\n@action\ndef a(self):\n"
            "    when(self.y == 2**39)\n    self.done.fill(same(self.x, 0))"
        ),
        "in plain Python, and False as it was traced, where ",
    ),
    "a claim keeps count of what it was asked": (
        (
            "seen = []\n\n@always\ndef a(self):\n"
            "    self.seen.append(1)\n    return self.x < 9 - len(self.seen)"
        ),
        "this claim is",
    ),
}

HELPERS = (
    "import operator\n\ndef same(a, b):\n    return operator.is_(a, b)\n\n"
    "def one(a, b):\n    return a is b\n\n"
)


@pytest.mark.parametrize("mistake", LOST)
def test_what_would_be_lost_or_mixed_up_is_refused(tmp_path, mistake):
    """Each of these was judged as if all were well, or ended in a raw error."""
    body, message = LOST[mistake]
    path = tmp_path / "mine.py"
    lines = "".join(f"    {line}\n" if line else "\n" for line in body.splitlines())
    if "class Mixin" in body:
        lines = lines.replace("\n    class", "\nclass").replace("\n    ", "\n")
    before = HELPERS + BASE
    path.write_text(before + lines)
    first = f"{path}:{before.count(chr(10)) + 1}"

    with pytest.raises(ModelError) as caught:
        judged(f"{path}:{'mixed' if 'class Mixed' in body else 'sub'}")

    assert message.replace("{first}", first) in str(caught.value)
    assert caught.value.where.startswith(str(path))


FAIR = """from onceproof.model.language import *

class Base(Protocol):
    n = state(0, high=2)

    @action(fair=True)
    def up(self):
        when(self.n < 2)
        self.n = self.n + 1

    @eventually
    def ends(self):
        return self.n == 2

class Sub(Base):
{line}
    {mark}
    def up(self):
        when(self.n != 1)
        super().up()
"""


@pytest.mark.parametrize(
    ("mark", "line", "fair"),
    [
        ("@action(fair=True)", "", True),
        ("@action(fair=False)", "", False),
        ("@action", '    fair_actions = ("*",)', True),
        ("@action", '    fair_actions = ("up",)', True),
        ("@action", "", None),
        ("@action(by='driver')", "", None),
        ("@action", '    fair_actions = ("down",)', None),
    ],
)
def test_an_action_that_overrides_a_fair_one_says_whether_it_is(
    tmp_path, mark, line, fair
):
    """Fairness that is dropped in silence would turn claims about runs around."""
    path = tmp_path / "mine.py"
    text = FAIR.replace("{mark}", mark).replace("{line}", line)
    path.write_text(text)

    if fair is None:
        line_of_mark = text.splitlines().index(f"    {mark}", 15) + 1
        with pytest.raises(ModelError, match="does not say whether it is") as caught:
            judged(f"{path}:sub")
        assert caught.value.where == f"{path}:{line_of_mark}"
    else:
        (up,) = judged(f"{path}:sub").actions
        assert bool(up.fair) is fair


def test_what_is_inherited_is_removed_by_none(tmp_path):
    """A subclass says so on purpose, and what it removes is gone everywhere."""
    path = tmp_path / "mine.py"
    path.write_text(BASE + "    crash = None\n    is_fine = None\n")

    system = judged(f"{path}:sub")

    assert [action.name for action in system.actions] == ["write"]
    assert "is-fine" not in {p.name for p in claims_of(system.protocol)}


def test_what_is_inherited_is_declared_anew(tmp_path):
    """A decorator of the same kind is all that an override needs."""
    path = tmp_path / "mine.py"
    crash = "    @fault(per=Base.R)\n    def crash(self, r):\n        self.x = 0\n"
    path.write_text(BASE + crash + "    x = state(1, high=3)\n    n = param(3)\n")

    system = judged(f"{path}:sub")

    assert [len(a.params) for a in system.actions if a.fault] == [1]


def test_a_file_is_read_again_though_it_was_wrong_before(tmp_path):
    """What an older text of the file declared is not taken for a declaration of it."""
    path = tmp_path / "mine.py"
    harm = "    @fault\n    def harm(self):\n        self.x = 0\n"
    path.write_text(BASE + harm + "    1 / 0\n")
    with pytest.raises(ModelError, match="ZeroDivisionError"):
        judged(f"{path}:sub")
    path.write_text(BASE + harm)

    judged(f"{path}:sub")
    judged(f"{path}:sub")


class Log(Part):
    """Remembers who has written."""

    P = Sort("process")

    written = state(False, per=P)


class Outer(Part):
    """Holds a part of its own."""

    log = part(Log)


class Holder(Protocol):
    """Each process writes once."""

    P = Log.P

    outer = part(Outer)
    spare = part(Outer)

    @action(per=P)
    def write(self, p: Member) -> None:
        """Write."""
        self.outer.log.written[p] = True

    @always
    def few_write(self) -> bool:
        """At most two write."""
        return count(self.outer.log.written[p] for p in self.P) <= 2


def test_a_part_that_two_protocols_are_given_belongs_to_both():
    """Each has the sizes that it was made with, whichever was made last."""
    shared = Outer()
    large = Holder(P=5, outer=shared)
    small = Holder(P=2, outer=shared)

    found = {p: check(p).verdicts["few-write"] for p in (large, small)}

    assert found == {large: Verdict.REFUTED, small: Verdict.EXHAUSTED}
    assert large.outer.log.sizes[Log.P] == 5
    assert [len(f.places(large.sizes)) for f in large.all_fields()] == [5, 5]


def test_one_part_in_two_slots_is_two_parts():
    """They have places, and state, of their own."""
    shared = Outer()
    holder = Holder(outer=shared, spare=shared)

    assert [f.path for f in holder.all_fields()] == [
        "outer.log.written",
        "spare.log.written",
    ]


def test_a_protocol_that_is_copied_or_changed_stays_what_it_is():
    """Neither sizes nor parts can be changed once a protocol is made."""
    holder = Holder(P=3)
    copied = copy.copy(holder)

    with pytest.raises(ModelError, match="fixed when a protocol is made"):
        copied.parts["outer"] = Outer()  # type: ignore[index]
    with pytest.raises(TypeError):
        copied.sizes[Log.P] = 9  # type: ignore[index]

    assert holder.sizes[Log.P] == 3
    assert check(copied).verdicts == check(holder).verdicts


class Votes(Protocol):
    """Processes vote; a claim that is wrong of more than one."""

    P = Sort("process")

    yes = state(False, per=P)

    @action(per=P)
    def vote(self, p: Member) -> None:
        """Vote."""
        when(not_(self.yes[p]))
        self.yes[p] = True

    @observe(per=P)
    def visible(self, p: Member) -> bool:
        """What is voted shows."""
        return self.yes[p]

    @observe(per=P)
    def accepted(self, p: Member) -> bool:
        """All are that are shown, or not."""
        return any_of(self.yes[p], not_(self.yes[p]))


def test_two_properties_of_one_name_are_refused_wherever_they_come_from():
    """Also those that a caller hands over."""
    with pytest.raises(ModelError, match="two claims are called at-most-once"):
        check(Votes(), [AT_MOST_ONCE, copy.copy(AT_MOST_ONCE)])


class Once(Protocol):
    """A flag that is raised once, and claims that read one side of that step."""

    raised = state(False)

    @action
    def rise(self) -> None:
        """Raise it."""
        self.raised = True

    @step
    def from_where_it_is_down(self, after: Once) -> bool:
        """Steps leave a state where it is down."""
        return not_(self.raised)

    @step
    def to_where_it_is_down(self, after: Once) -> bool:
        """Steps lead to a state where it is down."""
        return not_(after.raised)


def test_a_claim_about_steps_may_read_one_side_alone():
    """Then it is judged of the states that steps leave, or lead to, and of no other."""
    found = [judge(Once()).verdicts for judge in (check, prove)]

    assert [v["from-where-it-is-down"] for v in found] == [Verdict.EXHAUSTED] * 2
    assert [v["to-where-it-is-down"] for v in found] == [Verdict.REFUTED] * 2


def test_what_is_exported_has_a_name_of_its_own():
    """State and parts whose paths are spelled alike are distinguished in TLA+."""
    from onceproof.model.export.tla import module

    class Inner(Part):
        b = state(False)

    class Alike(Protocol):
        """Two fields whose names differ in a dot alone."""

        P = Sort("p")
        a_b = state(False)
        a = part(Inner)
        next = state(False)

        @action
        def next_(self) -> None:
            self.a.b = True
            self.a_b = False
            self.next = True

        @always
        def a__b(self) -> bool:
            return all_of(self.a_b == self.a_b, self.a.b == self.a.b)

    system = trace(Alike())
    questions = [q for p in claims_of(system.protocol) for q in p.questions(system)]
    text = module(system, questions).text
    line = next(line for line in text.splitlines() if line.startswith("VARIABLES"))
    names = line.removeprefix("VARIABLES ").split(", ")
    definitions = re.findall(r"^(\w+)[^ ]* ==", text, re.MULTILINE)

    assert len({*names, *definitions}) == len(names) + len(definitions)


def _lamp() -> type[Protocol]:
    class Lamp(Protocol):
        """A lamp."""

        on = state(False)

        @action
        def turn_on(self) -> None:
            """Turn it on."""
            self.on = True

        @always
        def stays_off(self) -> bool:
            """It stays off."""
            return not_(self.on)

    return Lamp


@pytest.mark.parametrize("name", ["turn_on", "stays_off", "on"])
@pytest.mark.parametrize("gone", [True, False])
def test_a_class_that_loses_a_declaration_after_it_was_made_is_refused(
    name: str, *, gone: bool
) -> None:
    kind = _lamp()
    if gone:
        delattr(kind, name)
    else:
        setattr(kind, name, lambda *_: None)
    with pytest.raises(ModelError, match=rf"Lamp\.{name} was declared by"):
        kind()


def test_a_declaration_may_be_exchanged_for_one_of_its_kind_or_removed() -> None:
    kind: Any = _lamp()
    kind.turn_on = vars(_lamp())["turn_on"]
    assert check(kind()).verdicts == {"stays-off": "refuted"}
    kind.turn_on = None
    assert check(kind()).verdicts == {"stays-off": "exhausted"}


@pytest.mark.parametrize("name", ["turn_on", "stays_off"])
def test_an_attribute_of_an_object_does_not_hide_a_declaration(name: str) -> None:
    lamp = _lamp()()
    with pytest.raises(ModelError, match=f"{name} is declared by @"):
        setattr(lamp, name, lambda: None)


def test_one_state_has_one_name() -> None:
    one = state(0, high=1)
    with pytest.raises(ModelError, match="other and first are one state"):
        type("Twice", (Protocol,), {"first": one, "other": one, "__doc__": "Twice."})


class Waiting(Protocol):
    """Counts to two, if it is ever done."""

    n = state(0, high=2)

    @action
    def count_on(self) -> None:
        """Count."""
        when(self.n < 2)
        self.n = self.n + 1

    @fault
    def forget(self) -> None:
        """Begin again."""
        self.n = 0

    @eventually
    def counts_to_two(self) -> bool:
        """It counts to two at last."""
        return self.n == 2


@pytest.mark.parametrize("names", [("count_on",), ["*"], frozenset({"count*"})])
def test_a_subclass_makes_actions_fair_without_writing_them_again(names):
    """Whoever could always count does count."""
    fair = type("Fair", (Waiting,), {"__module__": __name__, "fair_actions": names})

    assert check(Waiting()).verdicts["counts-to-two"] is Verdict.REFUTED
    assert check(fair()).verdicts["counts-to-two"] is Verdict.EXHAUSTED
    assert [a.fair for a in trace(fair()).actions] == [True, False]


class Held(Part):
    """A part with an action that it names as fair."""

    fair_actions = ("go",)
    gone = state(False)

    @action
    def go(self) -> None:
        """Go."""
        self.gone = True

    @action
    def wait(self) -> None:
        """Do nothing."""
        when(self.gone)


class Holding(Protocol):
    """Two parts."""

    fair_actions = ("two.*",)
    one = part(Held)
    two = part(Held)


def test_a_part_names_its_own_actions_and_a_protocol_those_of_its_parts():
    """Names are relative to the class that names them."""
    fair = {a.name for a in trace(Holding()).actions if a.fair}

    assert fair == {"one.go", "two.go", "two.wait"}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("coun_on",), "did you mean 'count_on'"),
        (("forget",), "a fault is never fair"),
        (("link.*",), "there are count_on"),
    ],
)
def test_a_name_of_no_action_cannot_be_fair(names, message):
    """It would change nothing, and nobody would notice."""
    fair = type("Fair", (Waiting,), {"__module__": __name__, "fair_actions": names})

    with pytest.raises(ModelError, match=message):
        trace(fair())


def test_names_of_actions_are_several():
    """One text would be many names of one letter."""
    with pytest.raises(ModelError, match="fair_actions takes several names"):
        type("Fair", (Waiting,), {"__module__": __name__, "fair_actions": "count_on"})


class Rows(Part):
    """Rows for each batch."""

    BATCH = Sort("batch")
    most = param(1)
    rows = state(0, per=BATCH, high=most)


class MoreRows(Rows, most=2):
    """More of them."""


class Batches(Protocol):
    """Batches with rows, and workers."""

    BATCH = Rows.BATCH
    W = Sort("worker")
    sink = part(Rows)
    busy = state(False, per=W)


class Larger(Batches, W=3, sink=MoreRows):
    """More workers."""


class LargerAgain(Larger, W=4, faults=2):
    """Even more."""


class Alone(Protocol):
    """Has the sort of its part by the part alone."""

    sink = part(Rows)


class AloneAndLarger(Alone, sink=Rows(BATCH=5)):
    """Its part has more."""


def sized(protocol: Protocol) -> dict[str, int]:
    return {sort.name: size for sort, size in protocol.sizes.items()}


def test_a_subclass_changes_sizes_numbers_and_parts():
    """They are what it has unless it is made with others; the base has its own."""
    assert sized(Batches()) == {"BATCH": 2, "W": 2}
    assert sized(Larger()) == {"BATCH": 2, "W": 3}
    assert sized(LargerAgain()) == {"BATCH": 2, "W": 4}
    assert (LargerAgain().faults, Larger().faults) == (2, 1)
    assert LargerAgain().sink.most == 2
    assert sized(LargerAgain(W=1, BATCH=3)) == {"BATCH": 3, "W": 1}
    assert LargerAgain(sink=Rows).sink.most == 1
    assert sized(AloneAndLarger()) == {"BATCH": 5}
    assert check(Larger()).exploration.distinct == 1


class Declared(LargerAgain):
    """Declares anew what the lines of the classes before it give."""

    faults = param(7)
    sink = part(Rows)


class Again(Declared, faults=8):
    """Gives one of them in its own line."""


class Named(Batches):
    """Names what it inherits, and declares nothing anew."""

    W = Batches.W


class NamedAndLarger(Named, Larger):
    """The size is that of the line, which comes before what is only named."""


def test_what_a_class_declares_goes_before_the_lines_of_its_bases():
    """A number or a part that is declared anew is what the class has."""
    assert (Declared().faults, Declared().sink.most) == (7, 1)
    assert (Again().faults, Again().sink.most) == (8, 1)
    assert sized(Declared()) == sized(Again()) == sized(LargerAgain())
    assert sized(NamedAndLarger())["W"] == 3


def test_a_class_gives_a_value_in_its_line_or_declares_it_and_not_both():
    """Only one of two values would count."""
    with pytest.raises(ModelError, match="faults is given in the line of the class"):
        type(
            "Wrong",
            (Batches,),
            {"__module__": __name__, "faults": param(2)},
            faults=3,
        )


def test_settings_of_a_part_go_beside_what_a_subclass_gives_it(tmp_path):
    """As ``--set`` does: nothing that the class says is lost."""
    path = tmp_path / "mine.py"
    path.write_text(
        "from onceproof.model.language import *\n"
        "class Rows(Part):\n"
        "    BATCH = Sort('batch')\n"
        "    most = param(1)\n"
        "class Mine(Protocol):\n"
        "    sink = part(Rows)\n"
        "class Larger(Mine, sink=Rows(BATCH=5)):\n"
        "    pass\n"
    )

    made = make(f"{path}:larger", {"sink.most": "3"})

    assert (sized(made), made.sink.most) == ({"BATCH": 5}, 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"WW": 3}, "has no parameter 'WW'; it has faults, BATCH, W, sink"),
        ({"W": 0}, "W must be 1 to 64, not 0"),
        ({"W": True}, "W must be a whole number"),
        (
            {"sink": 3},
            "sink takes parts of the kind rows, and not 3; help: derive it from Rows",
        ),
    ],
)
def test_a_subclass_changes_only_what_there_is(arguments, message):
    """It is refused where the class is written."""
    with pytest.raises(ModelError, match=message) as error:
        type("Wrong", (Batches,), {"__module__": __name__}, **arguments)

    assert error.value.where.startswith(__file__)


def test_a_second_sort_of_an_inherited_name_is_refused_with_the_form_to_write():
    """What is inherited would be per a sort without a size."""
    with pytest.raises(ModelError, match=r"class Wrong\(Batches, W=3\)"):
        type("Wrong", (Batches,), {"__module__": __name__, "W": Sort("x", size=3)})


def test_a_shared_sort_has_one_size():
    """That of the part is not ignored."""
    with pytest.raises(UsageError, match="they share the sort, so set it once"):
        Batches(sink=Rows(BATCH=3))

    assert sized(Batches(BATCH=3, sink=Rows(BATCH=3)))["BATCH"] == 3


class Guarded(Protocol):
    """Does what its base does, after an effect of its own."""

    n = state(0, high=3)
    seen = state(0, high=3)

    @action
    def act(self) -> None:
        """Wait for one, and note it."""
        when(self.n > 0)
        self.seen = self.n


class Before(Guarded):
    """The guard of the base sees what is counted before it."""

    @action
    def act(self) -> None:
        """Count, and then do as the base does."""
        when(self.n < 3)
        self.n = self.n + 1
        super().act()


class AfterHelper(Guarded):
    """A guard after what a method of its own has done."""

    @action
    def act(self) -> None:
        """Count, and look whether to."""
        self.count_on()
        when(self.seen < 3)

    def count_on(self) -> None:
        """Count."""
        self.n = min_of(self.n + 1, 3)


def test_a_guard_of_super_may_come_after_an_effect_and_sees_it():
    """It is as if it had been written first, about what the effect leaves."""
    assert check(Before()).exploration.distinct == 4
    compare_successors(Before())
    with pytest.raises(ModelError, match="a guard after an effect"):
        trace(AfterHelper())


def test_names_of_protocols_are_reserved_in_parts_too():
    """A part whose `settle` is an action would read as the protocol's in its file."""
    of_protocols = names_of(Protocol) - names_of(Part)

    assert of_protocols == OF_PROTOCOLS


@pytest.mark.parametrize("name", sorted(names_of(Part) | OF_PROTOCOLS))
def test_no_class_takes_a_name_of_the_language(name):
    with pytest.raises(ModelError, match=r"is a name of the language|takes several"):
        type("Sub", (Part,), {name: "a text" if name != "role" else 3})


class Open(Part):
    """Leaves a method to the classes that derive from it."""

    def rows(self):
        """Count rows."""
        raise NotImplementedError


class LeavesIt(Open):
    """Does not write it."""


class OfOpen(Protocol):
    """Asks for it in a step."""

    part_of_it = part(Open, default=LeavesIt)
    number = state(0, high=1)

    @action
    def count(self):
        """Count."""
        self.number = self.part_of_it.rows()


def test_a_method_that_a_class_leaves_out_is_named_with_the_class():
    """The line is that of the class, and not the one that is there for others."""
    with pytest.raises(ModelError, match="LeavesIt has no `rows`, which") as error:
        trace(OfOpen())

    line = int(error.value.where.rpartition(":")[2])
    assert (
        Path(__file__)
        .read_text("utf-8")
        .splitlines()[line - 1]
        .startswith("class LeavesIt")
    )
