"""Reads a TLA+ module as it is written by the export, and works it out.

It knows no more of TLA+ than the export writes, and nothing of the terms that it is
written from. A function is a dictionary from tuples.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Works = Callable[[dict[str, Any]], Any]

_TOKEN = re.compile(
    r'\s*(/\\|\\/|\|->|->|<<|>>|=>|~>|<>|\[\]|\\A|\\E|\\in|\\X|>=|"[^"]*"'
    r"|[A-Za-z_0-9]+'?|[()\[\]{},:#=<+\-~!])"
)
_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "/\\": lambda a, b: a and b,
    "\\/": lambda a, b: a or b,
    "=>": lambda a, b: not a or b,
    "=": lambda a, b: a == b,
    "#": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "\\in": lambda a, b: a in b,
}

_SETTLED = {"/\\": False, "\\/": True, "=>": False}
"""What the first of two makes the whole, whatever the second is."""
_WEAK = ("/\\", "\\/", "=>")
_STRONG = tuple(sign for sign in _SIGNS if sign not in _WEAK)


class Expression:
    """Reads one expression, from left to right; the export brackets what it joins."""

    def __init__(self, text: str) -> None:
        self._tokens = []
        at = 0
        text = text.strip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            assert found, text[at : at + 40]
            self._tokens.append(found.group(1))
            at = found.end()
        self._at = 0

    @property
    def _next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, *wanted: str) -> str:
        token = self._next
        assert not wanted or token in wanted, (token, wanted)
        self._at += 1
        return token

    def whole(self) -> Works:
        """Read all of the text."""
        made = self.join()
        assert not self._next, self._next
        return made

    def join(self) -> Works:
        """Read what signs join."""
        return self._joined(_WEAK, lambda: self._joined(_STRONG, self.one))

    def _joined(self, signs: tuple[str, ...], inner: Callable[[], Works]) -> Works:
        made = inner()
        while self._next in signs:
            sign, left, right = self._take(), made, inner()

            def made(e: Any, s: str = sign, a: Any = left, b: Any = right) -> Any:
                first = a(e)
                # As TLC does: the second may be defined only where the first allows.
                if s in _SETTLED and bool(first) == _SETTLED[s]:
                    return s != "/\\"
                return _SIGNS[s](first, b(e))

        return made

    def one(self) -> Works:
        """Read what stands between signs."""
        token = self._take()
        if token == "~":
            inner = self.one()
            return lambda e: not inner(e)
        if token == "-":
            inner = self.one()
            return lambda e: -inner(e)
        if token == "(":
            made = self._bracketed()
            self._take(")")
            return made
        if token == "[":
            return self._function()
        if token == "{":
            parts = self._list("}")
            return lambda e: {p(e) for p in parts}
        if token in ("TRUE", "FALSE"):
            return lambda _: token == "TRUE"
        if token.isdigit():
            return lambda _: int(token)
        if token.startswith('"'):
            return lambda _: token[1:-1]
        if token == "SumOver":
            self._take("(")
            function = self.one()
            self._take(",")
            self._domain(")")
            return lambda e: sum(function(e).values())
        if self._next == "[":
            self._take("[")
            at = self._list("]")
            return lambda e: e[token][tuple(i(e) for i in at)]
        return lambda e: e[token]

    def _list(self, end: str) -> list[Works]:
        parts = []
        while self._next != end:
            parts.append(self.join())
            if self._next == ",":
                self._take()
        self._take(end)
        return parts

    def _bracketed(self) -> Works:
        if self._next in ("\\A", "\\E"):
            every = all if self._take() == "\\A" else any
            names, domain = self._bound(":")
            body = self.join()
            return lambda e: every(
                body(e | dict(zip(names, at, strict=True)))
                for at in itertools.product(*(e[d] for d in domain))
            )
        if self._next == "IF":
            self._take()
            test = self.join()
            self._take("THEN")
            then = self.join()
            self._take("ELSE")
            orelse = self.join()
            return lambda e: then(e) if test(e) else orelse(e)
        return self.join()

    def _bound(self, end: str) -> tuple[list[str], list[str]]:
        names, domain = [], []
        while True:
            names.append(self._take())
            self._take("\\in")
            domain.append(self._take())
            if self._take(",", end) == end:
                return names, domain

    def _domain(self, end: str) -> list[str]:
        sorts = [self._take()]
        while self._take("\\X", end) != end:
            sorts.append(self._take())
        return sorts

    def _function(self) -> Works:
        """Read [x \\in S |-> e], [f EXCEPT ![i] = e], or [S -> {values}]."""
        if self._tokens[self._at + 1] == "\\in":
            names, domain = self._bound("|->")
            body = self.join()
            self._take("]")
            return lambda e: {
                at: body(e | dict(zip(names, at, strict=True)))
                for at in itertools.product(*(e[d] for d in domain))
            }
        if self._tokens[self._at + 1] in ("->", "\\X"):
            sorts = self._domain("->")
            values = self.one()
            self._take("]")
            return lambda e: _functions(e, sorts, values(e))
        base = self.one()
        self._take("EXCEPT")
        self._take("!")
        self._take("[")
        at = self._list("]")
        self._take("=")
        value = self.join()
        self._take("]")
        return lambda e: base(e) | {tuple(i(e) for i in at): value(e)}


def _functions(e: dict[str, Any], sorts: list[str], values: Any) -> list[Any]:
    places = list(itertools.product(*(e[s] for s in sorts)))
    return [
        dict(zip(places, chosen, strict=True))
        for chosen in itertools.product(sorted(values, key=str), repeat=len(places))
    ]


class Module:
    """A module: its sorts, its actions, its claims."""

    def __init__(self, text: str) -> None:
        self.names: dict[str, Any] = {}
        self._definitions: dict[str, tuple[list[str], list[str]]] = {}
        self.variables: list[str] = []
        name = ""
        for raw in text.splitlines():
            line = re.sub(r"\\\*.*$|\(\*.*\*\)$", "", raw).rstrip()
            if sort := re.match(r"(\w+) == 0\.\.(\d+)$", line.strip()):
                self.names[sort.group(1)] = range(int(sort.group(2)) + 1)
            elif line.strip() == "Nobody == -1":
                self.names["Nobody"] = -1
            elif line.startswith("VARIABLES "):
                self.variables = line.removeprefix("VARIABLES ").split(", ")
            elif head := re.match(r"(\w+)(?:\(([^)]*)\))? ==(.*)$", line):
                name, params, rest = head.groups()
                names = [p.strip() for p in (params or "").split(",") if p.strip()]
                self._definitions[name] = (names, [rest] if rest.strip() else [])
            elif line.startswith("  ") and name:
                self._definitions[name][1].append(line.strip())
        self._read: dict[str, Works] = {}

    def starts(self) -> list[dict[str, Any]]:
        """List the states that Init allows."""
        choices = []
        for line in self._definitions["Init"][1]:
            name, chosen = re.match(r"/\\ (\w+) \\in (.*)$", line).groups()
            assert name == self.variables[len(choices)]
            choices.append(self._chosen(chosen))
        return [
            dict(zip(self.variables, values, strict=True))
            for values in itertools.product(*choices)
        ]

    def _chosen(self, text: str) -> list[Any]:
        """List what is in a set of values, or of functions that are like this."""
        such = re.match(r"\{f \\in (\[.*?\]) : (.*)\}$", text)
        found = list(Expression(such.group(1) if such else text).whole()(self.names))
        if such is None:
            return found
        alike = Expression(such.group(2)).whole()
        return [f for f in found if alike(self.names | {"f": f})]

    def steps(self, state: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
        """Yield what Next allows: the action's name, its members, the state after."""
        for line in self._definitions["Next"][1]:
            many = re.match(r"\\/ \\E (.*) : (\w+)\(.*\)$", line)
            action = many.group(2) if many else line.removeprefix("\\/ ")
            sorts = re.findall(r"\\in (\w+)", many.group(1)) if many else []
            for members in itertools.product(*(self.names[s] for s in sorts)):
                after = self._after(action, members, state)
                if after is not None:
                    yield action, members, after

    def _after(self, action: str, members: Any, state: dict[str, Any]) -> Any:
        params, lines = self._definitions[action]
        env = self.names | state | dict(zip(params, members, strict=True))
        after: dict[str, Any] = {}
        for line in lines:
            text = line.removeprefix("/\\ ")
            if text.startswith("UNCHANGED"):
                kept = re.findall(r"\w+", text.removeprefix("UNCHANGED"))
                after |= {name: state[name] for name in kept}
            elif written := re.match(r"(\w+)' = (.*)$", text):
                after[written.group(1)] = self._works(written.group(2))(env)
            elif not self._works(text)(env):
                return None
        assert sorted(after) == sorted(self.variables), (action, "leaves a variable")
        return after

    def says(self, name: str, state: dict[str, Any], after: Any = None) -> Any:
        """Say whether a definition is true of a state, or of a step."""
        text = " ".join(self._definitions[name][1]).strip()
        if stepwise := re.match(r"\[\]\[(.*)\]_vars$", text):
            text = stepwise.group(1)
        text = text.removeprefix("<>")
        env = self.names | state
        if re.search(r"\bRest\b", text):
            env["Rest"] = self.says("Rest", state)
        if after is not None:
            env |= {f"{k}'": v for k, v in after.items()}
        if " ~> " in text:
            return tuple(bool(self._works(t)(env)) for t in text.split(" ~> "))
        return bool(self._works(text)(env))

    def fair(self) -> set[str]:
        """Name the actions that Spec says are weakly fair."""
        lines = " ".join(self._definitions["Spec"][1])
        return set(re.findall(r"WF_vars\((\w+)", lines))

    def _works(self, text: str) -> Works:
        if text not in self._read:
            self._read[text] = Expression(text).whole()
        return self._read[text]
