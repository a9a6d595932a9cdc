"""Small random protocols: drawn as descriptions, run as Python methods."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from hypothesis import strategies as st

from onceproof.model.language import (
    Protocol,
    Sort,
    action,
    all_of,
    always,
    any_of,
    at_rest,
    channels,
    count,
    eventually,
    fault,
    if_else,
    implies,
    leads_to,
    network,
    not_,
    one_of,
    processes,
    sometimes,
    state,
    step,
    total,
    when,
)

HIGH = 3


class Colour(Enum):
    """A type of three values."""

    RED = "red"
    GREEN = "green"
    BLUE = "blue"


COLOURS = list(Colour)
# Which variables a term may speak of, by the sort they range over.
Scope = tuple[tuple[str, str], ...]
# Stands in a scope where a protocol has channels, a network, and crashes.
TALKS = ("", "talks")


def _names(scope: Scope, sort: str) -> list[str]:
    return [name for name, kind in scope if kind == sort]


@st.composite
def truths(draw: Any, scope: Scope, depth: int = 3) -> Any:
    """Draw a truth-valued description."""
    kinds = ["flag", "colour", "compare", "const"]
    if _names(scope, "S"):
        kinds += ["bit", "pair", "same"]
    if _names(scope, "S") and TALKS in scope:
        kinds += ["empty", "first", "mailed", "up"]
    if _names(scope, "O"):
        kinds += ["mark", "order"]
    if depth:
        kinds += ["not", "and", "or", "implies", "ite", "all", "any", "both"]
    kind = draw(st.sampled_from(kinds))
    sub = truths(scope, depth - 1) if depth else st.none()
    member = lambda sort: draw(st.sampled_from(_names(scope, sort)))  # noqa: E731
    if kind == "const":
        return kind, draw(st.booleans())
    if kind == "colour":
        return kind, draw(st.sampled_from(COLOURS)), draw(st.booleans())
    if kind == "compare":
        sign = draw(st.sampled_from(["<", "<=", "==", "!=", ">", ">="]))
        return kind, sign, draw(numbers(scope, depth)), draw(numbers(scope, depth))
    if kind in ("bit", "empty", "up"):
        return kind, member("S")
    if kind in ("first", "mailed"):
        return kind, member("S"), draw(st.sampled_from(COLOURS))
    if kind in ("pair", "same"):
        return kind, member("S"), member("S")
    if kind == "mark":
        return kind, member("O")
    if kind == "order":
        return kind, member("O"), draw(numbers(scope, 0))
    if kind in ("all", "any", "both"):
        name = f"v{len(scope)}"
        sort = draw(st.sampled_from(["S", "O"]))
        inner: Scope = (*scope, (name, sort))
        if kind == "both":
            more: Scope = (*inner, (f"w{len(scope)}", "S"))
            return kind, (name, sort), f"w{len(scope)}", draw(truths(more, depth - 1))
        return kind, (name, sort), draw(truths(inner, depth - 1))
    if kind == "not":
        return kind, draw(sub)
    if kind == "ite":
        return kind, draw(sub), draw(sub), draw(sub)
    return ("flag",) if kind == "flag" else (kind, draw(sub), draw(sub))


@st.composite
def numbers(draw: Any, scope: Scope, depth: int = 1) -> Any:
    """Draw an integer-valued description."""
    kinds = ["number", "literal"]
    if _names(scope, "S"):
        kinds.append("share")
    if _names(scope, "O"):
        kinds.append("member")
    if depth:
        kinds += ["plus", "minus", "count", "total"]
    kind = draw(st.sampled_from(kinds))
    if kind == "literal":
        return kind, draw(st.integers(-2, HIGH + 1))
    if kind == "share":
        return kind, draw(st.sampled_from(_names(scope, "S")))
    if kind == "member":
        return kind, draw(st.sampled_from(_names(scope, "O")))
    if kind in ("plus", "minus"):
        return kind, draw(numbers(scope, depth - 1)), draw(numbers(scope, depth - 1))
    if kind in ("count", "total"):
        name = f"k{len(scope)}"
        inner: Scope = (*scope, (name, "S"))
        body = truths(inner, 0) if kind == "count" else numbers(inner, 0)
        return kind, name, draw(body)
    return (kind,)


@st.composite
def effects(draw: Any, scope: Scope) -> Any:
    """Draw one assignment."""
    kinds = ["flag", "colour", "number", "fill", "set_share", "set_pair"]
    if _names(scope, "S"):
        kinds += ["bit", "share", "pair"]
    if _names(scope, "S") and TALKS in scope:
        kinds += ["post", "take", "mail", "fetch", "restart"]
    if _names(scope, "O"):
        kinds += ["mark"]
    kind = draw(st.sampled_from(kinds))
    if kind in ("post", "mail", "fetch"):
        at = draw(st.sampled_from(_names(scope, "S")))
        return kind, at, draw(st.sampled_from(COLOURS)), draw(truths(scope, 0))
    if kind == "colour":
        return kind, draw(st.sampled_from(COLOURS)), draw(truths(scope, 1))
    if kind == "number":
        return kind, draw(numbers(scope))
    if kind == "fill":
        return kind, draw(st.booleans())
    if kind == "set_share":
        return kind, draw(numbers((*scope, ("x", "S")), 1))
    if kind == "set_pair":
        return kind, draw(truths((*scope, ("x", "S"), ("y", "S")), 1))
    if kind == "flag":
        return kind, draw(truths(scope, 1))
    sort = "O" if kind == "mark" else "S"
    at = draw(st.sampled_from(_names(scope, sort)))
    if kind in ("take", "restart"):
        return kind, at
    if kind == "share":
        return kind, at, draw(numbers(scope))
    if kind == "pair":
        return (
            kind,
            at,
            draw(st.sampled_from(_names(scope, "S"))),
            draw(truths(scope, 1)),
        )
    return kind, at, draw(truths(scope, 1))


@st.composite
def messages(draw: Any, outer: Scope) -> Any:
    """Draw steps that send, receive and restart, so that there is talk at all."""
    scope: Scope = (*outer, ("p0", "S"))
    acts = [("post", "take"), ("mail", "fetch")]
    found = []
    for number, (send, receive) in enumerate(acts):
        colour, urgent = draw(st.sampled_from(COLOURS)), draw(truths(scope, 0))
        values = ("p0", colour, urgent)
        taken = (receive, "p0") if receive == "take" else (receive, *values)
        found += [
            (f"send{number}", draw(truths(scope, 1)), (send, *values)),
            (f"receive{number}", draw(truths(scope, 0)), taken),
        ]
    found.append(("restart", ("not", ("up", "p0")), ("restart", "p0")))
    return [
        (name, ("S",), guard, [act, draw(effects(scope))], "plain")
        for name, guard, act in found
    ]


@st.composite
def protocols(draw: Any, *, talks: bool = False) -> Any:
    """Draw a protocol: a class, ready to be instantiated.

    One that ``talks`` has channels, a network, and processes that crash.
    """
    steps = []
    outer: Scope = (TALKS,) if talks else ()
    for number in range(draw(st.integers(1, 3))):
        sorts = draw(st.lists(st.sampled_from(["S", "O"]), max_size=2))
        scope: Scope = (*outer, *((f"p{i}", s) for i, s in enumerate(sorts)))
        steps.append(
            (
                f"step{number}",
                tuple(sorts),
                draw(truths(scope, 2)),
                draw(st.lists(effects(scope), min_size=1, max_size=3)),
                draw(st.sampled_from(["plain", "fair", "fault"])),
            )
        )
    if talks:
        steps += draw(messages(outer))
    claims = [draw(truths(outer, 3)) for _ in range(3)]
    change = draw(truths(outer, 1))
    sizes = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    return build(steps, claims, change, sizes, wide=draw(st.booleans()), talks=talks)


class Note(NamedTuple):
    """What is sent in a channel."""

    colour: Colour
    urgent: bool


def build(
    steps: Any,
    claims: Any,
    change: Any,
    sizes: tuple[int, int],
    *,
    wide: bool,
    talks: bool,
) -> Any:
    """Make the class that a description speaks of."""
    s, o = Sort("thing", size=sizes[0]), Sort("place", size=sizes[1], ordered=True)
    body: dict[str, Any] = {
        "S": s,
        "O": o,
        "flag": state(one_of(False, True)),
        "colour": state(Colour.GREEN),
        "number": state(1, high=HIGH),
        "bit": state(False, per=s),
        "share": state(0, low=-1, high=2, per=s),
        "pair": state(False, per=(s, s)),
        "mark": state(True, per=o),
    }
    if talks:
        note = Note(Colour.RED, urgent=False)
        body["queue"] = channels(note, per=s, length=2, losses=1, overtakings=1)
        body["bag"] = network(note, per=s, losses=1, volatile=True)
        body["run"] = processes(s, crashes=1)
    if wide:
        body["ballast"] = state(Colour.BLUE, per=(s, s, s, s))
    for name, sorts, guard, acts, kind in steps:
        per = tuple({"S": s, "O": o}[k] for k in sorts)
        method = _method(guard, acts, len(sorts))
        mark = (
            fault(per=per) if kind == "fault" else action(per=per, fair=kind == "fair")
        )
        body[name] = mark(method)
    for name, mark, claim in zip(
        ("holds", "meets", "rests"), (always, sometimes, at_rest), claims, strict=True
    ):
        body[name] = mark(_claim(claim))
    body["moves"] = step(_step_claim(change))
    body["comes"] = eventually()(_claim(claims[0]))
    body["answers"] = leads_to(per=s)(_answer(claims[1], claims[2]))
    made = type("Drawn", (Protocol,), body)
    for name, what in body.items():
        if hasattr(what, "__set_name__"):
            what.__set_name__(made, name)
    return made


def _method(guard: Any, acts: Any, arity: int) -> Any:
    def run(self: Any, env: dict[str, Any]) -> None:
        when(truth(self, guard, env))
        for act in acts:
            perform(self, act, env)

    def none(self: Any) -> None:
        run(self, {})

    def one(self: Any, a: Any) -> None:
        run(self, {"p0": a})

    def two(self: Any, a: Any, b: Any) -> None:
        run(self, {"p0": a, "p1": b})

    return (none, one, two)[arity]


def _claim(claim: Any) -> Any:
    def method(self: Any) -> Any:
        return truth(self, claim, {})

    return method


def _answer(given: Any, then: Any) -> Any:
    def method(self: Any, x: Any) -> Any:
        return truth(self, given, {}), any_of(truth(self, then, {}), self.bit[x])

    return method


def _step_claim(change: Any) -> Any:
    def method(self: Any, after: Any) -> Any:
        return implies(
            truth(self, change, {}), any_of(after.flag, truth(after, change, {}))
        )

    return method


def truth(m: Any, d: Any, env: dict[str, Any]) -> Any:
    """Work a truth-valued description out, in either world."""
    kind = d[0]
    if kind == "const":
        return d[1]
    if kind == "flag":
        return m.flag
    if kind == "colour":
        return (m.colour == d[1]) if d[2] else (m.colour != d[1])
    if kind == "compare":
        a, b = number(m, d[2], env), number(m, d[3], env)
        signs = {
            "<": lambda: a < b,
            "<=": lambda: a <= b,
            "==": lambda: a == b,
            "!=": lambda: a != b,
            ">": lambda: a > b,
            ">=": lambda: a >= b,
        }
        return signs[d[1]]()
    if kind == "bit":
        return m.bit[env[d[1]]]
    if kind == "pair":
        return m.pair[env[d[1]], env[d[2]]]
    if kind == "empty":
        return m.queue[env[d[1]]].empty
    if kind == "first":
        return m.queue[env[d[1]]].head.colour == d[2]
    if kind == "mailed":
        return m.bag[env[d[1]]].holds(Note(d[2], urgent=True))
    if kind == "up":
        return m.run.up(env[d[1]])
    if kind == "same":
        return env[d[1]] == env[d[2]]
    if kind == "mark":
        return m.mark[env[d[1]]]
    if kind == "order":
        return env[d[1]] < number(m, d[2], env)
    if kind == "not":
        return not_(truth(m, d[1], env))
    if kind == "and":
        return all_of(truth(m, d[1], env), truth(m, d[2], env))
    if kind == "or":
        return any_of(truth(m, d[1], env), truth(m, d[2], env))
    if kind == "implies":
        return implies(truth(m, d[1], env), truth(m, d[2], env))
    if kind == "ite":
        return if_else(*(truth(m, x, env) for x in d[1:]))
    if kind == "both":
        (name, sort), other, body = d[1:]
        return all_of(
            truth(m, body, {**env, name: v, other: w})
            for v in getattr(m, sort)
            for w in m.S
        )
    (name, sort), body = d[1:]
    quantifier = all_of if kind == "all" else any_of
    return quantifier(truth(m, body, {**env, name: v}) for v in getattr(m, sort))


def number(m: Any, d: Any, env: dict[str, Any]) -> Any:
    """Work an integer-valued description out, in either world."""
    kind = d[0]
    if kind == "number":
        return m.number
    if kind == "literal":
        return d[1]
    if kind == "share":
        return m.share[env[d[1]]]
    if kind == "member":
        return env[d[1]]
    if kind == "plus":
        return number(m, d[1], env) + number(m, d[2], env)
    if kind == "minus":
        return number(m, d[1], env) - number(m, d[2], env)
    if kind == "count":
        return count(truth(m, d[2], {**env, d[1]: v}) for v in m.S)
    return total(number(m, d[2], {**env, d[1]: v}) for v in m.S)


def clamp(value: Any, low: int, high: int) -> Any:
    """Keep a number within bounds, as a modeller would."""
    return if_else(value < low, low, if_else(value > high, high, value))


def perform(m: Any, act: Any, env: dict[str, Any]) -> None:
    """Make one assignment, in either world."""
    kind = act[0]
    if kind == "flag":
        # The read keeps a second assignment from being a modeller's mistake.
        m.flag = any_of(truth(m, act[1], env), m.flag & m.flag)
    elif kind == "colour":
        m.colour = if_else(truth(m, act[2], env), act[1], m.colour)
    elif kind == "number":
        m.number = clamp(number(m, act[1], env) + m.number, 0, HIGH)
    elif kind == "post":
        m.queue[env[act[1]]].send(Note(act[2], truth(m, act[3], env)))
    elif kind == "take":
        note = m.queue[env[act[1]]].receive()
        m.flag = any_of(note.urgent, m.flag)
    elif kind == "mail":
        m.bag[env[act[1]]].send(Note(act[2], truth(m, act[3], env)))
    elif kind == "fetch":
        m.bag[env[act[1]]].receive(Note(act[2], truth(m, act[3], env)))
    elif kind == "restart":
        m.run.restart(env[act[1]])
    elif kind == "fill":
        m.bit.fill(act[1])
    elif kind == "set_share":
        m.share.set(lambda x: clamp(number(m, act[1], {**env, "x": x}), -1, 2))
    elif kind == "set_pair":
        m.pair.set(lambda x, y: truth(m, act[1], {**env, "x": x, "y": y}))
    elif kind == "share":
        at = env[act[1]]
        m.share[at] = clamp(number(m, act[2], env) + m.share[at], -1, 2)
    elif kind == "pair":
        at = env[act[1]], env[act[2]]
        m.pair[at] = any_of(truth(m, act[3], env), not_(m.pair[at]))
    else:
        field = m.mark if kind == "mark" else m.bit
        at = env[act[1]]
        field[at] = if_else(truth(m, act[2], env), True, not_(field[at]))
