"""Slips: what a modeller may write that the language must refuse.

Each is a few lines that go into an otherwise well-formed protocol, which has the fields
of ``FIELDS`` besides its own. What they mean in Python, and what is left of them when
the method is traced, differ; or they leave the state that the protocol declares.
"""

from __future__ import annotations

from dataclasses import dataclass

FIELDS = (
    "flag_ = state(False)",
    "count_ = state(0, high=3)",
    "row_ = state(False, per=S)",
    "tone_ = state(Colour.RED)",
    "who_ = state(nobody_of(S))",
    "lead_ = state(member_of(S))",
    'Z = Sort("cell", size=2, ordered=True)',
    "cells_ = state(0, per=Z, high=2)",
)
"""State that every slip can be about."""


@dataclass(frozen=True)
class Slip:
    """Lines that must be refused, and where they go."""

    name: str
    """What is wrong about them."""
    lines: tuple[str, ...]
    """The lines, indented as in the method or class."""
    place: str = "action"
    """``action``, ``claim`` or ``class``: the end of one."""
    before: tuple[str, ...] = ()
    """Lines that go in front of the class."""


def _decided() -> list[Slip]:
    """List what Python decides at once, of values that are not known yet."""
    tests = {
        "if": "self.flag_",
        "if on a number": "self.count_ > 1",
        "if on a number alone": "self.count_",
        "and": "self.flag_ and self.row_[self.lead_]",
        "or": "self.flag_ or self.count_ == 1",
        "not": "not self.flag_",
        "chained": "0 < self.count_ < 2",
        "in a tuple": "self.count_ in (1, 2)",
        "in a list": "self.tone_ in [Colour.RED]",
        "in a set": "self.tone_ in {Colour.RED}",
        "is True": "self.flag_ is True",
        "is not a member": "self.tone_ is not Colour.RED",
        "is nobody": "self.who_ is nobody",
        "is None": "self.who_ is None",
        "== None": "self.who_ == None",
        "== a text": "self.tone_ == 'red'",
        "== a float": "self.count_ == 1.0",
        "bool()": "bool(self.flag_)",
        "int()": "int(self.count_) == 1",
        "str()": "str(self.count_) == '1'",
        "format": "f'{self.count_}' == '1'",
        "percent": "'%s' % self.count_ == '1'",
        "len()": "len(self.cells_) == 2",
        "any()": "any(self.row_[s] for s in self.S)",
        "all()": "all(self.row_[s] for s in self.S)",
        "any of a list": "any([self.flag_])",
        "isinstance": "isinstance(self.count_, int)",
        "type ==": "type(self.count_) == int",
        "type name": "type(self.flag_).__name__ == 'bool'",
        "class": "self.count_.__class__ == int",
        "hasattr": "hasattr(self.count_, 'real')",
        "getattr": "getattr(self.count_, 'real', 0) == 1",
        "a term": "hasattr(self.flag_, 'term')",
        "repr": "repr(self.flag_) in ('True', 'False')",
        "callable": "callable(getattr(self.count_, 'bit_length', None))",
        "dir": "'real' in dir(self.count_)",
        "hash": "hash(self.flag_) == 1",
        "id": "id(self.flag_) in (id(True), id(False))",
        "tuples": "(self.count_, 1) == (1, 1)",
        "lists": "[self.flag_] == [True]",
        "a dictionary": "{True: 1, False: 0}[self.flag_] == 1",
        "get of a dictionary": "{1: True}.get(self.count_, False)",
        "sorted": "sorted([self.count_, 1])[0] == 1",
        "max": "max(self.count_, 1) == 1",
        "min": "min([self.count_, 1]) == 1",
        "abs": "abs(self.count_) == 1",
        "round": "round(self.count_) == 1",
        "range": "list(range(self.count_)) == []",
        "an index of a list": "[True, False][self.count_]",
        "divmod": "divmod(self.count_, 2) == (0, 1)",
        "a member by type": "type(self.lead_).__name__ == 'Member'",
        "a member's sort": "self.lead_.sort.name == 'S'",
        "the store": "hasattr(self.store, 'values')",
        "the name of the store": "type(self.store).__name__ == 'PlainStore'",
        "the caller": "any(f.function == '_traced' for f in inspect.stack())",
    }
    inside = ("    self.flag_ = not_(self.flag_)",)
    named = ("import inspect", "import sys")
    return [
        Slip(f"if: {name}", (f"if {test}:", *inside), "action", named)
        for name, test in tests.items()
    ]


def _expressions() -> list[Slip]:
    """List values that are no values of the language, or of another type."""
    lines = {
        "a ternary": "self.count_ = 1 if self.flag_ else 0",
        "times": "self.count_ = self.count_ * 2",
        "modulo": "self.count_ = (self.count_ + 1) % 3",
        "halved": "self.count_ = self.count_ // 2",
        "divided": "self.count_ = self.count_ / 2",
        "a power": "self.count_ = self.count_ ** 2",
        "a shift": "self.count_ = self.count_ << 1",
        "plus alone": "self.count_ = +self.count_",
        "bits": "self.count_ = self.count_ & 1",
        "inverted": "self.flag_ = ~self.flag_",
        "exclusive": "self.flag_ = self.flag_ ^ True",
        "minus a truth": "self.flag_ = -self.flag_",
        "a truth plus one": "self.count_ = self.flag_ + 1",
        "a number for a truth": "self.flag_ = 1",
        "a truth for a number": "self.count_ = True",
        "None": "self.flag_ = None",
        "a text": "self.tone_ = 'red'",
        "a float": "self.count_ = 1.0",
        "another enumeration": "self.tone_ = Colour",
        "a tuple": "self.count_ = (1,)",
        "a number for a member": "self.lead_ = 0",
        "None for nobody": "self.who_ = None",
        "perhaps nobody": "self.lead_ = self.who_",
        "nobody": "self.lead_ = nobody",
        "too large": "self.count_ = 4",
        "perhaps too large": "self.count_ = self.count_ + 1",
        "perhaps too small": "self.count_ = self.count_ - 1",
        "a family": "self.flag_ = self.row_",
        "all of a family": "self.row_ = True",
        "a lambda": "self.flag_ = lambda: True",
        "a function": "self.flag_ = not_",
        "a generator": "self.flag_ = (self.row_[s] for s in self.S)",
        "max": "self.count_ = max(self.count_, 1)",
        "a length": "self.count_ = len(self.row_)",
        "a sum": "self.count_ = sum(self.cells_[z] for z in self.Z)",
        "an f-string": "self.flag_ = f'{self.count_}' == '1'",
        "nobody has an order": "self.flag_ = self.who_ < self.lead_",
        "members without order": "self.flag_ = self.lead_ < self.lead_",
        "a member plus one": "self.lead_ = self.lead_ + 1",
        "quantified number": "self.flag_ = all_of(self.count_)",
        "if_else of two types": "self.count_ = if_else(self.flag_, 1, False)",
        "if_else of a number": "self.count_ = if_else(self.count_, 1, 0)",
        "count of numbers": "self.count_ = if_else(count(z for z in self.Z) < 2, 1, 0)",
    }
    return [Slip(f"value: {name}", (line,), "action") for name, line in lines.items()]


def _indices() -> list[Slip]:
    """List indices that may lie outside, or are of another sort."""
    lines = {
        "a number that may be outside": "self.cells_[self.count_] = 1",
        "read outside": "self.flag_ = self.cells_[self.count_] == 1",
        "a constant outside": "self.cells_[2] = 1",
        "a negative constant": "self.cells_[-1] = 1",
        "behind the last": "self.cells_[self.Z.last + 1] = 1",
        "a number for a member": "self.row_[0] = True",
        "a member of another sort": "self.row_[self.Z.first] = True",
        "nobody": "self.row_[nobody] = True",
        "perhaps nobody": "self.row_[self.who_] = True",
        "no index": "self.row_[()] = True",
        "two indices": "self.row_[self.lead_, self.lead_] = True",
        "a slice": "self.cells_[0:1] = 1",
        "a truth": "self.cells_[self.flag_] = 1",
        "a text": "self.row_['a'] = True",
        "a guard that comes later": "self.flag_ = self.cells_[self.count_] == 1",
        "chosen outside": "self.cells_[if_else(self.flag_, 0, 2)] = 1",
        "deleted": "del self.row_[self.lead_]",
    }
    return [Slip(f"index: {name}", (line,), "action") for name, line in lines.items()]


def _loops() -> list[Slip]:
    """List loops that no quantifier binds, and members that leave theirs."""
    bodies: dict[str, tuple[str, ...]] = {
        "for": ("for s in self.S:", "    self.row_[s] = True"),
        "a list": ("self.flag_ = any_of(*[self.row_[s] for s in self.S])",),
        "a set": ("self.flag_ = all_of({self.row_[s] for s in self.S})",),
        "list()": ("self.flag_ = any_of(self.row_[s] for s in list(self.S))",),
        "zip": ("self.flag_ = any_of(self.row_[s] for s, _ in zip(self.S, self.Z))",),
        "enumerate": ("self.flag_ = any_of(i == 1 for i, s in enumerate(self.S))",),
        "map": ("self.flag_ = any_of(map(lambda s: self.row_[s], self.S))",),
        "filter": ("self.flag_ = any_of(filter(None, self.S))",),
        "sorted": ("self.flag_ = any_of(self.row_[s] for s in sorted(self.S))",),
        "next": ("self.row_[next(iter(self.S))] = True",),
        "unpacked": ("first, *_ = self.S", "self.row_[first] = True"),
        "kept by a walrus": (
            "self.flag_ = any_of((s_ := self.row_[s]) for s in self.S)",
            "self.flag_ = s_",
        ),
        "kept in a list": (
            "kept = []",
            "self.flag_ = any_of([kept.append(s), self.row_[s]][1] for s in self.S)",
            "self.row_[kept[0]] = True",
        ),
        "counted by hand": (
            "seen = []",
            "self.flag_ = any_of([seen.append(1), self.flag_][1] for z in self.Z)",
            "if len(seen) == 2:",
            "    self.count_ = 1",
        ),
        "used twice": (
            "each = (self.row_[s] for s in self.S)",
            "self.flag_ = all_of(any_of(each), any_of(each))",
        ),
        "an if in a generator": (
            "self.flag_ = any_of(self.row_[s] for s in self.S if self.row_[s])",
        ),
        "a generator function": (
            "def each():",
            "    for s in self.S:",
            "        yield self.row_[s]",
            "self.flag_ = any_of(each())",
        ),
        "while": ("while self.flag_:", "    self.flag_ = False"),
    }
    return [Slip(f"loop: {name}", lines, "action") for name, lines in bodies.items()]


def _hidden() -> list[Slip]:
    """List state that is not declared, chance, and time."""
    bodies: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
        "an attribute": (("self.kept = 1",), ()),
        "an attribute of the class": (("Drawn.kept = 1",), ()),
        "an attribute of the type": (("type(self).kept = 1",), ()),
        "setattr of the object": (("object.__setattr__(self, 'kept', [])",), ()),
        "a dictionary of the object": (("self.__dict__['kept'] = []",), ()),
        "a list of the module": (("KEPT.append(1)",), ("KEPT = []",)),
        "a dictionary of the module": (("KEPT['a'] = len(KEPT)",), ("KEPT = {}",)),
        "a set of the module": (("KEPT.add(len(KEPT))",), ("KEPT = set()",)),
        "a global": (
            ("global KEPT", "KEPT = KEPT + 1"),
            ("KEPT = 0",),
        ),
        "a counter": (
            ("if next(KEPT) % 2:", "    self.flag_ = not_(self.flag_)"),
            ("import itertools", "KEPT = itertools.count()"),
        ),
        "a generator": (
            ("if next(KEPT):", "    self.flag_ = not_(self.flag_)"),
            ("import itertools", "KEPT = itertools.cycle([True, False])"),
        ),
        "a cached function": (
            (
                "kept().append(1)",
                "if len(kept()) > 1:",
                "    self.flag_ = not_(self.flag_)",
            ),
            ("import functools", "@functools.cache", "def kept():", "    return []"),
        ),
        "a function's attribute": (
            ("kept.count = getattr(kept, 'count', 0) + 1",),
            ("def kept():", "    return 1"),
        ),
        "a default argument": (
            ("kept()",),
            ("def kept(seen=[]):", "    seen.append(1)"),
        ),
        "a closure": (
            ("kept()",),
            (
                "def made():",
                "    seen = []",
                "    return lambda: seen.append(1)",
                "kept = made()",
            ),
        ),
        "an attribute of another class": (
            ("Kept.seen = Kept.seen + 1",),
            ("class Kept:", "    seen = 0"),
        ),
        "a new attribute of another class": (
            ("Kept.seen = 1",),
            ("class Kept:", "    pass"),
        ),
        "an object": (
            ("KEPT.seen = getattr(KEPT, 'seen', 0) + 1",),
            ("class Kept:", "    pass", "KEPT = Kept()"),
        ),
        "the environment": (
            (
                "os.environ['KEPT_'] = os.environ.get('KEPT_', '') + 'a'",
                "if len(os.environ['KEPT_']) % 2:",
                "    self.flag_ = not_(self.flag_)",
            ),
            ("import os",),
        ),
        "chance": (
            ("if random.random() < 0.5:", "    self.flag_ = not_(self.flag_)"),
            ("import random",),
        ),
        "chance that has no effect": (("random.random()",), ("import random",)),
        "time": (
            (
                "if time.perf_counter_ns() % 2:",
                "    self.flag_ = not_(self.flag_)",
            ),
            ("import time",),
        ),
        "a choice": (
            ("self.tone_ = random.choice(list(Colour))",),
            ("import random",),
        ),
    }
    return [
        Slip(f"hidden: {name}", lines, "action", before)
        for name, (lines, before) in bodies.items()
    ]


def _order() -> list[Slip]:
    """List writes and guards in an order that loses one of them."""
    bodies: dict[str, tuple[str, ...]] = {
        "two writes": ("self.flag_ = True", "self.flag_ = False"),
        "two writes to an element": (
            "self.cells_[self.Z.first] = 1",
            "self.cells_[self.Z.first] = 2",
        ),
        "a guard after an effect": ("self.flag_ = True", "when(self.count_ == 1)"),
        "a guard in try": (
            "try:",
            "    when(self.flag_)",
            "except Exception:",
            "    pass",
        ),
        "a guard in suppress": (
            "with contextlib.suppress(Exception):",
            "    when(self.flag_)",
        ),
        "a refusal in try": (
            "try:",
            "    self.count_ = 1 if self.flag_ else 0",
            "except Exception:",
            "    self.count_ = 0",
        ),
        "a refusal in a bare except": (
            "try:",
            "    self.cells_[self.count_] = 1",
            "except:",
            "    self.count_ = 0",
        ),
        "an effect in finally": (
            "try:",
            "    when(self.flag_)",
            "finally:",
            "    self.count_ = 0",
        ),
        "an answer": ("return True",),
        "a generator": ("self.flag_ = True", "yield"),
        "no guard at all": ("when()",),
        "a guard of a number": ("when(self.count_)",),
        "a guard of a family": ("when(self.row_)",),
        "a guard of a method": ("when(self.lose_volatile)",),
        "an assertion": ("assert self.flag_",),
        "match": (
            "match self.tone_:",
            "    case Colour.RED:",
            "        self.count_ = 1",
            "    case _:",
            "        self.count_ = 2",
        ),
        "match of a class": (
            "match self.count_:",
            "    case int():",
            "        self.count_ = 1",
            "    case _:",
            "        self.count_ = 2",
        ),
        "match of nobody": (
            "match self.who_:",
            "    case None:",
            "        self.count_ = 1",
            "    case _:",
            "        self.count_ = 2",
        ),
        "a lock": (
            "if threading.Lock().acquire():",
            "    self.count_ = self.cells_",
        ),
        "without end": ("def again():", "    again()", "again()"),
        "an exception": ("raise ValueError('no')",),
        "leaves": ("raise SystemExit(0)",),
        "a name that is not there": ("self.flag_ = self.flags_",),
        "a state that is not there": ("self.flags_ = True",),
        "a method that is not there": ("self.shelves.put(1)",),
        "deletes state": ("del self.flag_",),
        "an augmented family": ("self.row_ += 1",),
        "a global that is not there": ("self.flag_ = nothing",),
    }
    before = ("import contextlib", "import threading")
    return [
        Slip(f"order: {name}", lines, "action", before)
        for name, lines in bodies.items()
    ]


def _claims() -> list[Slip]:
    """List claims that are none, or that change what they speak of."""
    bodies: dict[str, tuple[str, ...]] = {
        "no answer": ("self.flag_ == True",),
        "a number": ("return self.count_",),
        "a family": ("return self.row_",),
        "a tuple": ("return self.flag_, self.flag_",),
        "None": ("return None",),
        "a text": ("return 'yes'",),
        "writes": ("self.flag_ = True", "return True"),
        "fills": ("self.row_.fill(True)", "return self.flag_"),
        "waits": ("when(self.flag_)", "return self.flag_"),
        "loses": ("self.lose_volatile()", "self.flag_ = False", "return self.flag_"),
        "and": ("return self.flag_ and self.flag_",),
        "not": ("return not self.flag_",),
        "a ternary": ("return True if self.flag_ else False",),
        "any": ("return any(self.row_[s] for s in self.S)",),
        "is": ("return self.tone_ is Colour.RED",),
        "type": ("return type(self.count_) == int",),
        "old": ("return old(self).flag_ == self.flag_",),
        "an index outside": ("return self.cells_[self.count_] == 0",),
        "an attribute": ("self.kept = 1", "return self.flag_"),
        "chance": ("return random.random() < 0.5",),
        "a member outside": (
            "kept = []",
            "all_of([kept.append(s), self.row_[s]][1] for s in self.S)",
            "return self.row_[kept[0]]",
        ),
        "try": (
            "try:",
            "    return bool(self.flag_)",
            "except Exception:",
            "    return True",
        ),
        "a generator": ("yield self.flag_",),
    }
    return [
        Slip(f"claim: {name}", lines, "claim", ("import random",))
        for name, lines in bodies.items()
    ]


def _declared() -> list[Slip]:
    """List declarations that vanish, are shared, or mean nothing."""
    bodies: dict[str, tuple[str, ...]] = {
        "one state, two names": ("one_ = state(False)", "two_ = one_"),
        "one part, two names": ("one_ = part(Cell_)", "two_ = one_"),
        "declared twice": ("one_ = state(False)", "one_ = state(True)"),
        "no bound": ("one_ = state(0)",),
        "a text": ("one_ = state('a')",),
        "None": ("one_ = state(None)",),
        "a list": ("one_ = state([])",),
        "a float": ("one_ = state(0.5)",),
        "starts outside": ("one_ = state(5, high=3)",),
        "an empty range": ("one_ = state(0, low=3, high=2)",),
        "per nothing": ("one_ = state(False, per=3)",),
        "per an enumeration": ("one_ = state(False, per=Colour)",),
        "per a text": ("one_ = state(False, per='S')",),
        "no sort": ("one_ = state(nobody)",),
        "starts from a member": ("one_ = state(member_of(Colour))",),
        "a name of the language": ("parts = state(False)",),
        "a state called action": (
            "action = state(False)",
            "@action",
            "def x_(self):",
            "    pass",
        ),
        "a part of no class": ("one_ = part(Colour)",),
        "a claim that is a property": (
            "@property",
            "@always",
            "def one_(self):",
            "    return self.flag_",
        ),
        "two decorators": (
            "@action",
            "@always",
            "def one_(self):",
            "    return self.flag_",
        ),
        "an action without its parameter": (
            "@action(per=S)",
            "def one_(self):",
            "    self.flag_ = True",
        ),
        "an action with one too many": (
            "@action",
            "def one_(self, s):",
            "    self.flag_ = True",
        ),
        "an asynchronous action": (
            "@action",
            "async def one_(self):",
            "    self.flag_ = True",
        ),
        "a static action": (
            "@staticmethod",
            "@action",
            "def one_():",
            "    pass",
        ),
        "an action that is no method": ("one_ = action(print)",),
        "a claim that is a lambda of another state": (
            "one_ = always(lambda self, other: other.flag_)",
        ),
        "an unknown observation": (
            "@observe()",
            "def seen_(self):",
            "    return 1",
        ),
        "a fair action that is not there": ("fair_actions = ('none_',)",),
        "a class without a value": (
            "class Empty_(Enum):",
            "    pass",
            "one_ = state(Empty_)",
        ),
    }
    before = ("class Cell_(Part):", "    cell_ = state(False)")
    return [
        Slip(f"declared: {name}", lines, "class", before)
        for name, lines in bodies.items()
    ]


SLIPS = (
    *_decided(),
    *_expressions(),
    *_indices(),
    *_loops(),
    *_hidden(),
    *_order(),
    *_claims(),
    *_declared(),
)
"""All of them."""
