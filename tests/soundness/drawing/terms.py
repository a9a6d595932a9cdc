"""Draws terms: truth values, numbers and colours, of what a protocol declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.soundness.drawing import records
from tests.soundness.drawing.description import Node

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

COLOURS = ("RED", "GREEN", "BLUE")
SIGNS = ("<", "<=", "==", "!=", ">", ">=")
Scope = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Has:
    """A field that a protocol has, as far as a writer of terms must know it."""

    name: str
    type: str
    sorts: tuple[str, ...] = ()
    low: int = 0
    high: int = 0
    volatile: bool = False
    of: str = ""


def const(type_: str, text: str) -> Node:
    """Make a node without gaps."""
    return Node(type_, text.replace("{", "{{").replace("}", "}}"))


class Terms:
    """Draws terms over some declared state."""

    def __init__(self, dice: random.Random, profile: str) -> None:
        self.dice = dice
        self.profile = profile
        self.fields: list[Has] = []
        self.sorts: dict[str, bool] = {}  # whether it is ordered
        self.queues: dict[str, tuple[tuple[str, ...], str]] = {}
        self.bags: dict[str, tuple[tuple[str, ...], str]] = {}
        self.sacks: dict[str, tuple[tuple[str, ...], str, str]] = {}
        self.records: dict[str, tuple[str, ...]] = {}
        self.process = self.timer = self.epoch = ""
        self.shelf = ""
        self.shelves = ""
        self.params: list[str] = []
        self.fresh = self.size = 0
        self.who = ["self"]
        self.written: set[tuple[str, tuple[str, ...]]] = set()
        self.used: set[str] = set()

    # Choosing -----------------------------------------------------------------

    def chance(self, share: float) -> bool:
        return self.dice.random() < share

    def pick(self, options: Any) -> Any:
        return self.dice.choice(list(options))

    def me(self) -> str:
        return self.pick(self.who)

    def named(self, scope: Scope, sort: str) -> list[str]:
        return [name for name, kind in scope if kind == sort]

    def member(self, scope: Scope, sort: str) -> str | None:
        """Draw an index for a sort, from what is in scope."""
        options = self.named(scope, sort)
        if self.sorts[sort]:
            options = [
                *options,
                f"{self.me()}.{sort}.first",
                f"{self.me()}.{sort}.last",
            ]
            if self.profile == "trap" and self.chance(0.2):
                options = [f"Member(0, Drawn.{sort})"]
        elif self.leads(sort) and (not options or self.chance(0.2)):
            options = [f"{self.me()}.{name}" for name in self.leads(sort)]
        elif options and self.profile == "trap" and self.chance(0.15):
            options = [f"Member(0, Drawn.{sort})"]
        return self.pick(options) if options else None

    def members(self, scope: Scope, sorts: tuple[str, ...]) -> list[str] | None:
        if not all(
            self.named(scope, s) or self.sorts[s] or self.leads(s) for s in sorts
        ):
            return None
        return [str(self.member(scope, sort)) for sort in sorts]

    def leads(self, sort: str) -> list[str]:
        """Name the fields that hold a member of a sort, and never nobody."""
        return [
            has.name
            for has in self.fields
            if has.type == "member" and has.of == sort and not has.sorts
        ]

    def somebody(self, sort: str, scope: Scope) -> list[Callable[[], Node]]:
        """List the ways to name a member of a sort."""
        found: list[Callable[[], Node]] = [
            lambda n=name: const("member", n) for name in self.named(scope, sort)
        ]
        for has in self.fields:
            readable = self.members(scope, has.sorts) is not None
            if has.type == "member" and has.of == sort and readable:
                found.append(lambda h=has: self.read(h, scope))
        return found

    def perhaps(self, sort: str, scope: Scope) -> list[Callable[[], Node]]:
        """List the ways to name a member of a sort, or nobody."""
        found = self.somebody(sort, scope)
        for has in self.fields:
            readable = self.members(scope, has.sorts) is not None
            if has.type == "maybe" and has.of == sort and readable:
                found.append(lambda h=has: self.read(h, scope))
        if self.sorts[sort]:
            found.append(lambda: self.nearest(sort, scope))
        return [*found, lambda: const("maybe", "nobody")]

    def nearest(self, sort: str, scope: Scope) -> Node:
        """Draw the first or the last member for which something holds."""
        name, how = self.variable(), self.pick(("first_of", "last_of"))
        inner: Scope = (*scope, (name, sort))
        text = f"{how}({self.me()}.{sort}, lambda {name}: {{0}})"
        return Node("maybe", text, (self.leaf("bool", inner),))

    def extreme(self, scope: Scope) -> Node:
        """Draw the least or the greatest of what members have."""
        fields = [h for h in self.fields if h.type == "int" and len(h.sorts) == 1]
        fields = [h for h in fields if h.high - h.low < 9]
        if not fields:
            return const("int", "1")
        has, name = self.pick(fields), self.variable()
        how = self.pick(("min_of", "max_of"))
        read = f"{self.me()}.{has.name}[{name}]"
        return const("int", f"{how}({read} for {name} in {self.me()}.{has.sorts[0]})")

    def held(self, scope: Scope, depth: int) -> list[Callable[[], Node]]:
        """List the truths about fields that hold members."""
        found: list[Callable[[], Node]] = []
        for has in self.fields:
            if has.type not in ("maybe", "member"):
                continue
            if self.members(scope, has.sorts) is None:
                continue

            def compared(h: Has = has) -> Node:
                sign = self.pick(("==", "!="))
                other = self.pick(self.perhaps(h.of, scope))()
                return Node(
                    "bool", f"({{0}} {sign} {{1}})", (self.read(h, scope), other)
                )

            def chosen(h: Has = has) -> Node:
                name = self.variable()
                inner: Scope = (*scope, (name, h.of))
                text = f"any_of(all_of({{0}} == {name}, {{1}}) for {name} in "
                text += f"{self.me()}.{h.of})"
                body = self.about(name, inner, depth - 1)
                return Node("bool", text, (self.read(h, scope), body))

            found += [compared, compared]
            if depth > 0:
                found.append(chosen)
        return found

    def variable(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    # Terms --------------------------------------------------------------------

    def atoms(self, type_: str, scope: Scope) -> list[Callable[[], Node]]:
        """List the ways to read something of a type."""
        return [
            lambda h=has: self.read(h, scope)
            for has in self.fields
            if has.type == type_ and self.members(scope, has.sorts) is not None
        ]

    def read(self, has: Has, scope: Scope) -> Node:
        at = self.members(scope, has.sorts)
        index = f"[{', '.join(at)}]" if at else ""
        return const(has.type, f"{self.me()}.{has.name}{index}")

    def talk(self, type_: str, scope: Scope) -> list[Callable[[], Node]]:
        """List the ways to read something of parts."""
        found: list[Callable[[], Node]] = []

        def say(text: str, *parts: Callable[[], Node]) -> None:
            found.append(
                lambda: Node(
                    type_, text.replace("@", self.me()), tuple(p() for p in parts)
                )
            )

        for name, (sorts, kind) in self.queues.items():
            at = self.members(scope, sorts)
            if at is None:
                continue
            end = f"@.{name}[{', '.join(at)}]" if at else f"@.{name}.only"
            if type_ == "bool":
                say(f"{end}.empty")
                if kind == "claim":
                    say(f"({end}.head.hint == nobody)")
                    say(
                        f"({end}.head.who != {{0}})",
                        self.pick(self.perhaps("S", scope)),
                    )
                elif kind != "colour":
                    say(f"{end}.head.urgent")
                else:
                    say(
                        f"any_of(*(all_of(there, note == {{0}}) for there, note in "
                        f"{end}.messages()))",
                        lambda: self.leaf("colour", scope),
                    )
                if self.chance(0.3) and self.sendable(kind, scope):
                    say(
                        f"({end}.holds({{0}}) >= 1)",
                        lambda k=kind: self.message(k, scope),
                    )
            if type_ == "int":
                say(f"{end}.used")
                if kind == "letter":
                    say(f"{end}.head.page")
                if self.chance(0.3) and self.sendable(kind, scope):
                    say(f"{end}.holds({{0}})", lambda k=kind: self.message(k, scope))
            if type_ == "colour" and kind in ("colour", "note"):
                say(f"{end}.head" + ("" if kind == "colour" else ".colour"))
        for name, (sorts, kind) in self.bags.items():
            at = self.members(scope, sorts)
            if at is not None and type_ == "bool" and self.sendable(kind, scope):
                end = f"@.{name}[{', '.join(at)}]" if at else f"@.{name}.only"
                say(f"{end}.holds({{0}})", lambda k=kind: self.message(k, scope))
        found += self.of_sacks(type_, scope)
        found += records.read(self, type_, scope)
        a = self.member(scope, "S") if "S" in self.sorts else None
        if a is not None and type_ == "bool":
            if self.process:
                for how in ("up", "down", "stopped"):
                    say(f"@.{self.process}.{how}({a})")
            if self.timer:
                say(f"@.{self.timer}.running({a})")
            if self.epoch:
                say(f"@.{self.epoch}.admits({a}, {{0}})", lambda: self.small(0, 2))
        if a is not None and type_ == "int" and self.epoch:
            say(f"@.{self.epoch}.current({a})")
        shelf = self.one_shelf(scope)
        if shelf and a is not None and type_ == "bool":
            say(f"@.{shelf}.full({a})")
        if shelf and type_ == "int":
            say(f"@.{shelf}.load")
        return found

    def one_shelf(self, scope: Scope) -> str:
        """Name the shelf, or that of a member where there is one for each."""
        if not self.shelf or not self.shelves:
            return self.shelf
        at = self.members(scope, (self.shelves,))
        return "" if at is None else f"{self.shelf}[{at[0]}]"

    def of_sacks(self, type_: str, scope: Scope) -> list[Callable[[], Node]]:
        """List the ways to read something of networks that bound what is in flight."""
        found: list[Callable[[], Node]] = []
        for name, (sorts, kind, places) in self.sacks.items():
            at = self.members(scope, sorts)
            if at is None:
                continue
            end = f"{self.me()}.{name}" + (f"[{', '.join(at)}]" if at else ".only")
            if type_ == "bool":
                place = self.member(scope, places) if places else "0"
                there = "all_of(there, note.urgent) for there, note in"
                texts = (
                    f"{end}.empty",
                    f"any_of(*({there} {end}.messages()))",
                    f"{end}.at({place}).urgent",
                )
                found += [lambda t=text: const("bool", t) for text in texts]
                found.append(
                    lambda e=end, k=kind: Node(
                        "bool", f"{e}.holds({{0}})", (self.message(k, scope),)
                    )
                )
            if type_ == "int":
                found.append(lambda e=end: const("int", f"{e}.used"))
        return found

    def small(self, low: int, high: int) -> Node:
        return const("int", str(self.dice.randint(low, high)))

    def sendable(self, kind: str, scope: Scope) -> bool:
        """Say whether there is a member for a message that needs one."""
        return kind not in ("claim", "ask") or bool(self.somebody("S", scope))

    def message(self, kind: str, scope: Scope) -> Node:
        if kind == "claim":
            who = self.pick(self.somebody("S", scope))()
            hint = self.pick(self.perhaps("S", scope))()
            return Node("claim", "Claim({0}, {1})", (who, hint))
        if kind == "ask":
            who = self.pick(self.somebody("S", scope))()
            return Node("ask", "Ask({0}, {1})", (who, self.leaf("bool", scope)))
        if kind == "colour":
            return self.leaf("colour", scope)
        if kind == "letter":
            page = self.leaf("int", scope)
            if not page.text.isdigit():
                page = Node("int", "clamp({0}, 0, 1)", (page,))
            return Node("letter", "Letter({0}, {1})", (self.leaf("bool", scope), page))
        parts = (self.leaf("colour", scope), self.leaf("bool", scope))
        return Node("note", "Note({0}, {1})", parts)

    def leaf(self, type_: str, scope: Scope) -> Node:
        """Read a field, or give a constant."""
        options = self.atoms(type_, scope)
        if options and self.chance(0.6):
            return self.pick(options)()
        if type_ == "bool":
            return const("bool", self.pick(("True", "False")))
        if type_ == "colour":
            return const("colour", f"Colour.{self.pick(COLOURS)}")
        return self.small(0, 1)

    def bounded(self, scope: Scope, low: int, high: int) -> Node:
        """Draw an integer that is kept within bounds."""
        if self.chance(0.4):
            return self.small(low, high)
        return Node("int", f"clamp({{0}}, {low}, {high})", (self.number(scope, 1),))

    def truth(self, scope: Scope, depth: int) -> Node:
        """Draw a truth value."""
        options = self.atoms("bool", scope) * 2 + self.talk("bool", scope)
        options += [lambda: self.compared(scope, depth)]
        options += self.held(scope, depth)
        if any(h.type == "colour" for h in self.fields):
            sign = self.pick(("==", "!="))
            options.append(
                lambda: Node(
                    "bool",
                    f"({{0}} {sign} {{1}})",
                    (self.colour(scope, depth - 1), self.colour(scope, 0)),
                )
            )
        options.append(lambda: self.same(scope))
        if self.chance(0.05):
            return const("bool", self.pick(("True", "False")))
        if depth > 0 and self.chance(0.75):
            options = self.compound(scope, depth)
        return self.pick(options)()

    def compared(self, scope: Scope, depth: int) -> Node:
        sign = self.pick(SIGNS)
        one = self.number(scope, depth - 1)
        other = self.number(scope, 0)
        if other == one:
            other = self.small(0, 2)
        return Node("bool", f"({{0}} {sign} {{1}})", (one, other))

    def same(self, scope: Scope) -> Node:
        for sort in sorted(self.sorts, key=lambda _: self.dice.random()):
            names = self.named(scope, sort)
            if len(names) > 1 or (names and self.sorts[sort]):
                one, other = self.pick(names), self.member(scope, sort)
                sign = self.pick(SIGNS if self.sorts[sort] else ("==", "!="))
                return const("bool", f"({one} {sign} {other})")
        return self.compared(scope, 0)

    def compound(self, scope: Scope, depth: int) -> list[Callable[[], Node]]:
        def sub() -> Node:
            return self.truth(scope, depth - 1)

        def of(text: str, number: int) -> Callable[[], Node]:
            return lambda: Node("bool", text, tuple(sub() for _ in range(number)))

        options = [
            of("not_({0})", 1),
            of("all_of({0}, {1})", 2),
            of("any_of({0}, {1})", 2),
            of("implies({0}, {1})", 2),
            of(self.pick(("({0} & {1})", "({0} | {1})")), 2),
            of("any_of(not_({0}), {1})", 2),
            of("if_else({0}, {1}, {2})", 3),
            of("equal({0}, {1})", 2),
            lambda: Node(
                "bool",
                "equal({0}, {1})",
                (self.number(scope, 0), self.number(scope, 0)),
            ),
        ]
        for _, kind in [*self.queues.values(), *self.bags.values()]:
            if kind != "colour" and self.sendable(kind, scope):
                pair = (self.message(kind, scope), self.message(kind, scope))
                options.append(lambda p=pair: Node("bool", "equal({0}, {1})", p))
        if self.chance(0.3):
            options += [of("all_of(({0} == {1}), True)", 2)]
        for sort in self.sorts:
            for _ in range(2):
                options.append(lambda s=sort: self.quantified(scope, s, depth))
            if self.counting(sort):
                options.append(lambda s=sort: self.counted(scope, s, depth))
        return options

    def counting(self, sort: str) -> bool:
        return self.profile != "open" or self.sorts[sort]

    def quantified(self, scope: Scope, sort: str, depth: int) -> Node:
        how, name = self.pick(("all_of", "any_of")), self.variable()
        inner: Scope = (*scope, (name, sort))
        loops = f"for {name} in {self.me()}.{sort}"
        if self.chance(0.3):
            other, second = self.pick(self.sorts), self.variable()
            inner = (*inner, (second, other))
            loops += f" for {second} in {self.me()}.{other}"
        return Node(
            "bool", f"{how}({{0}} {loops})", (self.about(name, inner, depth - 1),)
        )

    def about(self, name: str, scope: Scope, depth: int) -> Node:
        """Draw a truth value that speaks of a variable, if it can be."""
        for _ in range(4):
            body = self.truth(scope, depth)
            if name in body.render():
                return body
        return body

    def counted(self, scope: Scope, sort: str, depth: int) -> Node:
        sign = self.pick(SIGNS)
        right = self.small(0, 2)
        if self.chance(0.2):
            right = const("int", f"len({self.me()}.{sort})")
        return Node(
            "bool", f"({{0}} {sign} {{1}})", (self.summed(scope, sort, depth), right)
        )

    def summed(self, scope: Scope, sort: str, depth: int) -> Node:
        name = self.variable()
        inner: Scope = (*scope, (name, sort))
        loop = f"for {name} in {self.me()}.{sort}"
        body = self.about(name, inner, depth - 1)
        if self.profile == "trap" and len(scope) > 1 and self.chance(0.15):
            return Node("int", f"count([{{0}} {loop}])", (body,))
        if self.chance(0.6):
            return Node("int", f"count({{0}} {loop})", (body,))
        return Node("int", f"total({{0}} {loop})", (self.number(inner, 0),))

    def number(self, scope: Scope, depth: int) -> Node:
        """Draw an integer."""
        options = self.atoms("int", scope) * 3 + self.talk("int", scope)
        options.append(lambda: self.small(-1, 3))
        for sort, ordered in self.sorts.items():
            names = self.named(scope, sort)
            if ordered and names:
                options.append(lambda n=names: const("int", self.pick(n)))
        for name in self.params:
            options.append(lambda n=name: const("int", f"{self.me()}.{n}"))
        if depth > 0 and self.chance(0.6):

            def sub() -> Node:
                return self.number(scope, depth - 1)

            options = [
                lambda: Node("int", "({0} + {1})", (sub(), sub())),
                lambda: Node("int", "({0} - {1})", (sub(), sub())),
                lambda: Node("int", "(-{0})", (sub(),)),
                lambda: Node("int", "min_of({0}, {1})", (sub(), sub())),
                lambda: self.extreme(scope),
                lambda: Node("int", "max_of({0}, {1}, 1)", (sub(), sub())),
                lambda: Node(
                    "int",
                    "if_else({0}, {1}, {2})",
                    (self.truth(scope, depth - 1), sub(), sub()),
                ),
            ]
            for sort in self.sorts:
                if self.counting(sort):
                    options.append(lambda s=sort: self.summed(scope, s, depth))
            if self.profile != "open" and self.chance(0.2):
                sort = self.pick(self.sorts)
                options.append(lambda: const("int", f"len({self.me()}.{sort})"))
        return self.pick(options)()

    def colour(self, scope: Scope, depth: int) -> Node:
        """Draw a colour."""
        options = self.atoms("colour", scope) * 2 + self.talk("colour", scope)
        options.append(lambda: const("colour", f"Colour.{self.pick(COLOURS)}"))
        if depth > 0 and self.chance(0.4):
            return Node(
                "colour",
                "if_else({0}, {1}, {2})",
                (
                    self.truth(scope, depth - 1),
                    self.colour(scope, 0),
                    self.colour(scope, 0),
                ),
            )
        return self.pick(options)()

    def value(self, has: Has, scope: Scope, depth: int) -> Node:
        """Draw what a field can be given."""
        if has.type == "bool":
            return self.truth(scope, depth)
        if has.type == "colour":
            return self.colour(scope, depth)
        if has.type in ("maybe", "member"):
            ways = self.perhaps if has.type == "maybe" else self.somebody
            one, other = (self.pick(ways(has.of, scope))() for _ in range(2))
            if depth > 0 and self.chance(0.4):
                test = self.truth(scope, 0)
                return Node(has.type, "if_else({0}, {1}, {2})", (test, one, other))
            return one
        return self.bounded(scope, has.low, has.high)
