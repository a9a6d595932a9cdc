"""A quantifier binds the loops of its own generator; every other loop is refused.

Each claim here reads well, and would be traced into something else than it says if
the loop inside it were bound by whichever quantifier is around it.
"""

from __future__ import annotations

import pytest

from onceproof.model.errors import ModelError
from onceproof.model.language.tracing.trace import trace
from onceproof.model.library import make
from onceproof.properties.judges.by_search import check, claims_of
from onceproof.properties.verdicts import Verdict

HEAD = '''\
import functools
import itertools
import operator
from onceproof.model.language import *

def each(members):
    for member in members:
        yield member

def through(members):
    yield from members

def listed(members):
    return [member for member in members]

def first_of(members):
    for member in members:
        return member

def chained(*claims):
    return functools.reduce(operator.and_, claims)

def ranked(self):
    for p in self.P:
        yield self.rank[p] == 0

def first_ranked(self):
    for p in self.P:
        yield self.rank[p] == 0
        return

KEPT = []

class P(Protocol):
    """Everyone votes for as many as they like."""
    P = Sort("voter", size=3)
    C = Sort("candidate", size=3)
    vote = state(False, per=(P, C))
    rank = state(0, high=2, per=P)

    @action(per=(P, C))
    def votes(self, p, c):
        self.vote[p, c] = True

    @action(per=P)
    def rises(self, p):
        self.rank[p] = 2

    @always
    def holds(self):
        return CLAIM
'''

FALSE = "all_of(count(self.vote[p, c] for c in self.C) <= 1 for p in self.P)"

OTHER_LOOPS = {
    "a list": "all_of(count([self.vote[p, c] for c in self.C]) <= 1 for p in self.P)",
    "a set": "all_of(count({1 for c in self.C}) <= 1 for p in self.P)",
    "a dictionary": "all_of(len({c: 1 for c in self.C}) <= 1 for p in self.P)",
    "sum": "all_of(sum(self.rank[q] for q in self.P) <= 2 for p in self.P)",
    "any": "all_of(not_(any(self.vote[p, c] for c in self.C)) for p in self.P)",
    "all": "any_of(all(self.vote[p, c] for c in self.C) for p in self.P)",
    "min": "all_of(min(c for c in self.C) == c for p in self.P for c in self.C)",
    "max": "all_of(self.vote[p, max(self.C)] for p in self.P)",
    "sorted": "all_of(self.vote[p, sorted(self.C)[0]] for p in self.P)",
    "list": "all_of(not_(self.vote[p, list(self.C)[0]]) for p in self.P)",
    "tuple": "all_of(not_(self.vote[p, tuple(self.C)[0]]) for p in self.P)",
    "set of members": "all_of(len(set(self.C)) == 1 for p in self.P)",
    "unpacking": "all_of(not_(self.vote[p, [*self.C][0]]) for p in self.P)",
    "arguments": "all_of(chained(*(self.vote[p, c] for c in self.C)) for p in self.P)",
    "plain arguments": "all_of(*(self.vote[p, c] for p in self.P for c in self.C))",
    "zip": "all_of(not_(self.vote[p, c]) for p, c in zip(self.P, self.C))",
    "enumerate": "all_of(self.rank[p] >= i for i, p in enumerate(self.P))",
    "map": "all_of(map(lambda p: self.rank[p] == 0, self.P))",
    "filter": "all_of(self.rank[p] == 0 for p in filter(None, self.P))",
    "reversed": "all_of(self.rank[p] == 0 for p in reversed(self.P))",
    "iter": "all_of(self.rank[p] == 0 for p in iter(self.P))",
    "next": "all_of(self.rank[next(iter(self.P))] == 0 for p in self.P)",
    "islice": "all_of(self.rank[p] == 0 for p in itertools.islice(self.P, 1))",
    "pairwise": "all_of(self.rank[p] <= self.rank[q]"
    " for p, q in itertools.pairwise(self.P))",
    "combinations": "all_of(self.rank[p] == self.rank[q]"
    " for p, q in itertools.combinations(self.P, 2))",
    "product": "all_of(not_(self.vote[p, c])"
    " for p, c in itertools.product(self.P, self.C))",
    "chain": "all_of(self.rank[p] == 0 for p in itertools.chain(self.P, self.P))",
    "cycle": "all_of(self.rank[p] == 0 for p in itertools.cycle(self.P))",
    "reduce": "all_of(functools.reduce(operator.and_,"
    " (self.vote[p, c] for c in self.C)) for p in self.P)",
    "a generator function": "all_of(self.rank[p] == 0 for p in each(self.P))",
    "yield from": "all_of(self.rank[p] == 0 for p in through(self.P))",
    "a function's list": "all_of(self.rank[p] == 0 for p in listed(self.P))",
    "a function that returns": "all_of(self.rank[first_of(self.P)] == 0"
    " for p in self.P)",
    "a generator in a generator": "all_of(self.rank[p] == 0"
    " for p in (q for q in self.P))",
    "a generator function as the source": "all_of(ranked(self))",
    "a generator function that stops": "all_of(first_ranked(self))",
    "a list as the source": "all_of([self.rank[p] == 0 for p in self.P])",
    "an index": "all_of(self.vote[p, [c for c in self.C][0]] for p in self.P)",
    "membership": "all_of(not_(self.vote[p, c]) for p in self.P for c in self.C"
    " if c in self.C)",
    "a filter on state": "all_of(self.rank[p] == 0 for p in self.P for c in self.C"
    " if self.vote[p, c])",
    "a filter on rank": "all_of(self.rank[p] == 0 for p in self.P if self.rank[p] > 0)",
    "a filter on members": "all_of(self.rank[p] == self.rank[q]"
    " for p in self.P for q in self.P if p != q)",
}

# What is refused before any loop is gone through, or for a reason of its own.
OTHERWISE = {
    "reversed": "not reversible",
    "membership": "members of the sort always are",
    "a filter on state": "an `if` in a comprehension would be decided now",
    "a filter on rank": "an `if` in a comprehension would be decided now",
    "a filter on members": "an `if` in a comprehension would be decided now",
}

OUTSIDE = "a member of P is used outside of the quantifier"
USED = "this generator has been used before"

ESCAPES = {
    (
        "a walrus",
        "`kept := ...` in a quantifier",
    ): "all_of((kept := self.rank[p]) <= 2 for p in self.P) & (kept == 0)",
    (
        "a list kept in a module",
        OUTSIDE,
    ): "all_of(KEPT.append(p) is None for p in self.P) & (self.rank[KEPT[-1]] == 0)",
    (
        "a list of its own",
        OUTSIDE,
    ): "(lambda held: all_of(held.append(p) or self.rank[p] <= 2"
    " for p in self.P) & (self.rank[held[0]] == 0))([])",
    ("a default of a function", OUTSIDE): "(lambda held: all_of(held.append("
    "lambda q=p: self.rank[q] == 0) is None for p in self.P) & held[0]())([])",
    ("an exhausted generator", USED): "(lambda g: all_of(g) & all_of(g))"
    "(self.rank[p] == 0 for p in self.P)",
    ("a generator that was begun", USED): "(lambda g: (next(g), all_of(g))[1])"
    " (i == 0 for i in range(3))",
    (
        "a counter",
        "this claim is",
    ): "(lambda seen: all_of(seen.append(1) or len(seen) <= 1 for p in self.P))([])",
}


def questions(tmp_path, claim):
    """Trace a protocol with one claim, as every command does first."""
    path = tmp_path / "mine.py"
    path.write_text(HEAD.replace("CLAIM", claim))
    protocol = make(str(path), {})
    system = trace(protocol)
    return protocol, [q for c in claims_of(protocol) for q in c.questions(system)]


@pytest.mark.parametrize("loop", OTHER_LOOPS)
def test_a_loop_that_is_not_the_quantifiers_own_is_refused(tmp_path, loop):
    """The message has the line, and most name the form that is right."""
    with pytest.raises(ModelError) as caught:
        questions(tmp_path, OTHER_LOOPS[loop])

    assert OTHERWISE.get(loop, "must be inside all_of, any_of") in str(caught.value)
    assert caught.value.where.startswith(str(tmp_path / "mine.py"))


def test_the_message_shows_the_right_form(tmp_path):
    """Only brackets differ between what is refused and what is right."""
    with pytest.raises(ModelError, match="inside all_of, any_of, count or total") as it:
        questions(tmp_path, OTHER_LOOPS["a list"])

    assert FALSE in str(it.value)


@pytest.mark.parametrize("escape", ESCAPES, ids=str)
def test_a_member_stays_inside_its_quantifier(tmp_path, escape):
    """What a loop hands out is of no use outside it, nor is a loop that is over."""
    with pytest.raises(ModelError) as caught:
        questions(tmp_path, ESCAPES[escape])

    assert escape[1] in str(caught.value)
    assert caught.value.where.startswith(str(tmp_path / "mine.py"))


OWN_LOOPS = {
    FALSE: False,
    "all_of(self.rank[p] <= 2 for p in self.P)": True,
    "all_of(not_(self.vote[p, c]) for p in self.P for c in self.C)": False,
    "any_of(self.rank[p] <= 2 for p in self.P if True)": True,
    "total(self.rank[p] for p in self.P) <= 6": True,
    "total(self.rank[p] for p in self.P) <= 5": False,
    # Each value counts once for each of the members that it speaks of, and no more.
    "count(self.rank[p] > i for i in range(2) for p in self.P) <= 6": True,
    "count(self.rank[p] > i for i in range(2) for p in self.P) <= 5": False,
    "total(self.rank[p] for p in self.P for i in range(2)) <= 12": True,
    "total(self.rank[p] for p in self.P for i in range(2)) <= 11": False,
    "total(i for i in range(3)) == 3": True,
    "total(1 for p in self.P for q in self.P) == 9": True,
    "all_of(any_of(not_(self.vote[p, c]) for c in self.C) for p in self.P)": False,
    "all_of(total(self.rank[q] for q in self.P) >= self.rank[p] for p in self.P)": True,
    "all_of(f(p) for f in (lambda p: self.rank[p] <= 2,) for p in self.P)": True,
    "all_of(x for x in [self.rank[next(iter([]), 0) or p] <= 2 for p in ()])": True,
}


@pytest.mark.parametrize("claim", OWN_LOOPS)
def test_a_loop_of_its_own_is_bound_and_judged_as_python_means_it(tmp_path, claim):
    """The search finds what a reader of the claim as Python expects."""
    protocol, _ = questions(tmp_path, claim)

    found = check(protocol).verdicts["holds"]

    assert found is (Verdict.EXHAUSTED if OWN_LOOPS[claim] else Verdict.REFUTED)
