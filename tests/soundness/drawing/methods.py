"""Draws methods: actions, faults, claims, and what is observed."""

from __future__ import annotations

from tests.soundness.drawing.description import Method, Node
from tests.soundness.drawing.statements import Statements
from tests.soundness.drawing.terms import Scope, const

MODALITIES = (
    "always",
    "step",
    "at_rest",
    "sometimes",
    "recoverable",
    "eventually",
    "leads_to",
    "lemma",
)


class Writer(Statements):
    """Draws methods over some declared state."""

    def params_of(self, most: int) -> tuple[tuple[str, ...], Scope]:
        sorts = [self.pick(self.sorts) for _ in range(self.dice.randint(0, most))]
        names = tuple(f"p{i}" for i in range(len(sorts)))
        return names, tuple(zip(names, sorts, strict=True))

    def per(self, scope: Scope) -> str:
        sorts = [sort for _, sort in scope]
        if not sorts:
            return ""
        return f"per={sorts[0]}" if len(sorts) == 1 else f"per=({', '.join(sorts)})"

    def guard(self, scope: Scope, depth: int) -> Node:
        parts = tuple(self.truth(scope, depth) for _ in range(self.dice.randint(1, 2)))
        if self.chance(0.5):
            parts = (*self.pointed(), *parts)
        return Node(
            "stmt", f"when({', '.join(f'{{{i}}}' for i in range(len(parts)))})", parts
        )

    def pointed(self) -> list[Node]:
        """Draw a read by a number that the part of the guard before it keeps inside."""
        numbers = [
            h for h in self.fields if h.type == "int" and not h.sorts and h.low == 0
        ]
        rows = [h for h in self.fields if h.type == "bool" and h.sorts == ("O",)]
        held = [h for h in self.fields if h.type == "maybe" and not h.sorts]
        found: list[list[Node]] = []
        for has in numbers if rows else []:
            inside = f"(self.{has.name} < self.O.last + 1)"
            row = f"self.{self.pick(rows).name}[self.{has.name}]"
            found.append([const("bool", inside), const("bool", row)])
        for has in held:
            by = [h for h in self.fields if h.sorts == (has.of,) and h.type == "bool"]
            if by:
                somebody = f"(self.{has.name} != nobody)"
                row = f"self.{self.pick(by).name}[self.{has.name}]"
                found.append([const("bool", somebody), const("bool", row)])
        return self.pick(found) if found else []

    def action(self, number: int, *, progress: str, fault: bool) -> Method:
        """Draw an action or a fault."""
        names, scope = self.params_of(2 if self.chance(0.3) else 1)
        lines: list[Node] = []
        guards = self.guard(scope, 2) if self.chance(0.5) else None
        if self.chance(0.3):
            self.who = ["self", "old(self)"]
        effects = self.statements(scope, self.dice.randint(1, 3))
        self.who = ["self"]
        if progress and not fault:
            lines.append(const("stmt", f"when(self.{progress} < 3)"))
            effects.append(const("stmt", f"self.{progress} = self.{progress} + 1"))
        if guards:
            lines.append(guards)
        if fault and self.chance(0.7):
            named = self.named(scope, "S")
            what = (
                f"self.lose_volatile({named[0]})" if named else "self.lose_volatile()"
            )
            effects = [*effects[:1], const("stmt", what)]
            if self.chance(0.3):
                effects = effects[::-1]
        options = [self.per(scope)]
        if fault and self.chance(0.5):
            options.append(f"at_most={self.pick(('1', '2', *self.params))}")
        if not fault and self.chance(0.5):
            options.append("fair=True")
        if number % 2:
            options.append('by="somebody"')
        given = ", ".join(o for o in options if o)
        mark = ("fault" if fault else "action") + (f"({given})" if given else "")
        kind = "harm" if fault else "act"
        return Method(f"@{mark}", f"{kind}{number}", names, (*lines, *effects))

    def claim(self, when: str, number: int) -> Method:
        """Draw a claim."""
        names: tuple[str, ...] = ()
        scope: Scope = ()
        mark = f"@{when}"
        shares = {"eventually": 0.6, "leads_to": 0.6}
        shares |= {"sometimes": 0.08, "recoverable": 0.08}  # they name each member
        if self.chance(shares.get(when, 0.3)):
            names, scope = self.params_of(2)
            if when not in ("leads_to", "eventually"):
                names, scope = names[:1], scope[:1]
        given = self.per(scope)
        domain = self.pick(("", "", "", "bool", "Colour", "range(-1, 2)"))
        if domain:
            sorts = [domain, *(sort for _, sort in scope)]
            names = ("p9", *names)
            if self.chance(0.5):
                sorts, names = [*sorts[1:], sorts[0]], (*names[1:], names[0])
            given = f"per=({', '.join(sorts)},)" if scope else f"per={domain}"
        if given or when in ("eventually", "leads_to"):
            mark = f"@{when}({given})" if given or self.chance(0.5) else f"@{when}"
        self.who = ["self", "after"] if when == "step" else ["self"]
        depth = self.pick((0, 1, 1, 2, 3))
        body: Node
        if when == "leads_to":
            body = Node(
                "stmt",
                "return {0}, {1}",
                (self.truth(scope, 1), self.truth(scope, depth)),
            )
        elif when == "step" and self.chance(0.5):
            self.who = ["self"]
            state = self.dice.getstate()
            one = self.truth(scope, 1)
            if self.chance(0.6):
                self.dice.setstate(state)
                self.fresh += 50
                self.who = ["after"]
                other = self.truth(scope, 1)
            else:
                self.who = ["after", "self"]
                other = self.truth(scope, depth)
            body = Node("stmt", "return implies({0}, {1})", (one, other))
        else:
            body = Node("stmt", "return {0}", (self.truth(scope, depth),))
        if domain:
            body = self.of_value(body, domain, scope)
        self.who = ["self"]
        params = (*names, "after") if when == "step" else names
        return Method(mark, f"{when}{number}", params, (body,))

    def of_value(self, body: Node, domain: str, scope: Scope) -> Node:
        """Let the last of what a claim returns depend on a value of a domain."""
        kind = {"bool": "bool", "Colour": "colour"}.get(domain, "int")
        sign = self.pick(("==", "!=") if kind != "int" else ("<=", "==", ">"))
        value = Node("bool", f"({{0}} {sign} p9)", (self.leaf(kind, scope),))
        how = self.pick(("any_of", "all_of", "implies"))
        *others, last = body.parts
        claim = Node("bool", f"{how}({{0}}, {{1}})", (value, last))
        return Node(body.type, body.text, (*others, claim))


def many(w: Writer) -> list[Method]:
    """Claim so much, for pairs of members, that no word has a bit for each claim."""
    found = []
    scope: Scope = (("p0", "S"), ("p1", "S"))
    for i in range(3):
        one, other = (w.truth(scope, w.pick((0, 1))) for _ in range(2))
        body = Node("stmt", "return {0}, {1}", (one, other))
        mark = "@leads_to(per=(S, S))"
        found.append(Method(mark, f"leads_to{i + 90}", ("p0", "p1"), (body,)))
    return found


def restart(w: Writer) -> Method:
    scope: Scope = (("p0", "S"),)
    effects = [const("stmt", "self.run.restart(p0)"), *w.statements(scope, 1)]
    return Method(
        "@action(per=S)",
        "again",
        ("p0",),
        (const("stmt", "when(self.run.down(p0))"), *effects),
    )


def talking(w: Writer, number: int) -> Method:
    """Do one thing to each of some parts."""
    scope: Scope = (("p0", "S"),)
    w.written, w.used = set(), set()
    acts = w.acts(scope)
    w.dice.shuffle(acts)
    lines = [line for act in acts for line in act()][:3]
    return Method(
        "@action(per=S)", f"talk{number}", ("p0",), tuple(lines) or (w.guard(scope, 1),)
    )


def observed(w: Writer) -> list[Method]:
    if w.profile == "open" or not w.chance(0.3):
        return []
    scope: Scope = (("p0", "S"),)

    def seen(name: str, body: Node) -> Method:
        return Method(
            "@observe(per=S)", name, ("p0",), (Node("stmt", "return {0}", (body,)),)
        )

    shares = [
        h for h in w.fields if h.type == "int" and h.sorts == ("S",) and h.low >= 0
    ]
    visible = w.read(w.pick(shares), scope) if shares else w.truth(scope, 0)
    found = [seen("visible", visible)]
    names = [n for n in ("accepted", "promised", "rejected") if w.chance(0.7)]
    found += [seen(name, w.truth(scope, 1)) for name in names]
    if w.chance(0.3):
        found.append(seen("unit", w.bounded(scope, 0, 1)))
    return found
