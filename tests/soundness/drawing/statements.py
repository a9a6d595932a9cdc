"""Draws statements: what an action does to state, and to parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.soundness.drawing import records
from tests.soundness.drawing.description import Node
from tests.soundness.drawing.terms import Has, Scope, Terms, const

if TYPE_CHECKING:
    from collections.abc import Callable


class Statements(Terms):
    """Draws statements over some declared state."""

    def statements(self, scope: Scope, number: int) -> list[Node]:
        """Draw the effects of an action."""
        self.written, self.used = set(), set()
        return [s for _ in range(number) for s in self.statement(scope)]

    def statement(self, scope: Scope) -> list[Node]:
        options: list[Callable[[], list[Node]]] = []
        for has in self.fields:
            if self.members(scope, has.sorts) is not None:
                options += [lambda h=has: self.assigned(h, scope)] * 2
            if has.sorts:
                options.append(lambda h=has: self.family(h, scope))
        pairs = [
            (one, other)
            for one in self.fields
            for other in self.fields
            if one.type == other.type == "bool"
            and one.name != other.name
            and self.members(scope, one.sorts) is not None
            and self.members(scope, other.sorts) is not None
        ]
        if pairs:
            options += [lambda: self.moved(*self.pick(pairs), scope)] * 2
        options += records.changes(self, scope) * 3
        options += self.acts(scope) * (5 if self.profile == "talks" else 2)
        return self.pick(options)()

    def place(self, has: Has, scope: Scope) -> tuple[str, bool]:
        who, self.who = self.who, ["self"]  # one text for each place
        at = self.members(scope, has.sorts) or []
        self.who = who
        text = f"self.{has.name}" + (f"[{', '.join(at)}]" if at else "")
        again = (has.name, tuple(at)) in self.written
        self.written.add((has.name, tuple(at)))
        return text, again

    def assigned(self, has: Has, scope: Scope) -> list[Node]:
        place, again = self.place(has, scope)
        if has.type == "bool" and self.chance(0.3):
            return [const("stmt", f"{place} = not_({place})")]
        value = self.value(has, scope, 1)
        if again:
            test = self.truth(scope, 0)
            return [
                Node("stmt", f"{place} = if_else({{0}}, {{1}}, {place})", (test, value))
            ]
        if has.type == "int" and self.chance(0.3):
            return [
                Node(
                    "stmt",
                    f"{place} = clamp({place} + {{0}}, {has.low}, {has.high})",
                    (self.small(-1, 1),),
                )
            ]
        return [Node("stmt", f"{place} = {{0}}", (value,))]

    def moved(self, one: Has, other: Has, scope: Scope) -> list[Node]:
        """Draw a = b; b = something: a read of what is then written over."""
        to, again = self.place(one, scope)
        frm, more = self.place(other, scope)
        if again or more:
            return []
        if self.chance(0.5):
            return [
                Node("stmt", f"{to} = {frm}; {frm} = {{0}}", (self.truth(scope, 0),))
            ]
        return [const("stmt", f"{to}, {frm} = {frm}, {to}")]

    def family(self, has: Has, scope: Scope) -> list[Node]:
        some = has.type != "member" or bool(self.somebody(has.of, scope))
        if some and self.chance(0.3):
            return [
                Node(
                    "stmt", f"self.{has.name}.fill({{0}})", (self.value(has, scope, 0),)
                )
            ]
        names = [self.variable() for _ in has.sorts]
        inner: Scope = (*scope, *zip(names, has.sorts, strict=True))
        kept = f"self.{has.name}[{', '.join(names)}]"
        if self.chance(0.35):
            return [self.chosen(has, names, kept, inner)]
        value = self.value(has, inner, 1)
        if self.chance(0.4):
            value = Node(
                has.type,
                f"if_else({{0}}, {{1}}, {kept})",
                (self.truth(inner, 0), value),
            )
        return [
            Node(
                "stmt",
                f"self.{has.name}.set(lambda {', '.join(names)}: {{0}})",
                (value,),
            )
        ]

    def chosen(self, has: Has, names: list[str], kept: str, inner: Scope) -> Node:
        """Draw a change of those elements alone for which a condition holds."""
        test, listed = self.truth(inner, 0), ", ".join(names)
        some = has.type != "member" or bool(self.somebody(has.of, inner[: -len(names)]))
        if has.type == "int" and self.chance(0.6):
            text = f"lambda {listed}: all_of({{0}}, {kept} < {has.high})"
            return Node("stmt", f"self.{has.name}.where({text}).add(1)", (test,))
        if some and self.chance(0.4):
            value = self.value(has, inner[: -len(names)], 0)
            text = f"self.{has.name}.where(lambda {listed}: {{0}}).fill({{1}})"
            return Node("stmt", text, (test, value))
        text = (
            f"self.{has.name}.where(lambda {listed}: {{0}}).set(lambda {listed}: {{1}})"
        )
        return Node("stmt", text, (test, self.value(has, inner, 1)))

    def acts(self, scope: Scope) -> list[Callable[[], list[Node]]]:
        """List what can be done with parts."""
        found: list[Callable[[], list[Node]]] = []

        def do(key: str, text: str, *parts: Callable[[], Node]) -> None:
            def make() -> list[Node]:
                if key in self.used:
                    return []
                self.used.add(key)
                if " = " in text:
                    place, _, _ = text.partition(" = ")
                    kept = (place.removeprefix("self."), ())
                    if kept in self.written:
                        return []
                    self.written.add(kept)
                return [Node("stmt", text, tuple(p() for p in parts))]

            found.append(make)

        for name, (sorts, kind) in self.queues.items():
            at = self.members(scope, sorts)
            if at is not None:
                end = f"self.{name}[{', '.join(at)}]" if at else f"self.{name}.only"
                if self.sendable(kind, scope):
                    for how in ("send", "send"):
                        do(
                            name,
                            f"{end}.{how}({{0}})",
                            lambda k=kind: self.message(k, scope),
                        )
                do(name, f"{end}.receive()")
                for has in self.fields if kind == "claim" else ():
                    if has.type == "maybe" and has.of == "S" and not has.sorts:
                        do(name, f"self.{has.name} = {end}.receive().hint")
                    if has.type == "bool" and has.sorts == ("S",):
                        do(name, f"self.{has.name}[{end}.receive().who] = True")
                for has in self.fields if kind != "claim" else ():
                    if kind != "colour" and has.type == "bool" and not has.sorts:
                        kept = f"any_of({end}.receive().urgent, self.{has.name})"
                        do(name, f"self.{has.name} = {kept}")
                for text in ("clear()", "drop(1)", "repeat(0)", "swap(0)"):
                    if self.chance(0.3):
                        do(name, f"{end}.{text}")
            if sorts and self.chance(0.5) and self.sendable(kind, scope):
                names = [self.variable() for _ in sorts]
                inner: Scope = (*scope, *zip(names, sorts, strict=True))
                do(
                    name,
                    f"self.{name}.send_where(lambda {', '.join(names)}: {{0}}, {{1}})",
                    lambda i=inner: self.truth(i, 0),
                    lambda k=kind: self.message(k, scope),
                )
        for name, (sorts, kind) in self.bags.items():
            at = self.members(scope, sorts)
            if at is not None and self.sendable(kind, scope):
                end = f"self.{name}[{', '.join(at)}]" if at else f"self.{name}.only"
                for how in ("send", "send", "receive", "receive", "clear"):
                    do(
                        name,
                        f"{end}.{how}({{0}})",
                        lambda k=kind: self.message(k, scope),
                    )
                if self.chance(0.4) and kind != "ask":
                    do(name, self.pick((f"{end}.drop(0)", f"{end}.repeat(0)")))
        self.sack_acts(scope, do)
        a = self.member(scope, "S") if "S" in self.sorts else None
        if a is not None and self.timer:
            for how in ("start", "cancel", "fire"):
                do(self.timer, f"self.{self.timer}.{how}({a})")
        if a is not None and self.epoch:
            do(self.epoch, f"self.{self.epoch}.next({a})")
            do(
                self.epoch,
                f"self.{self.epoch}.see({a}, {{0}})",
                lambda: self.bounded(scope, 0, 2),
            )
        shelf = self.one_shelf(scope)
        if a is not None and shelf:
            do("shelf", f"self.{shelf}.put({a})")
        return found

    def sack_acts(self, scope: Scope, do: Callable[..., None]) -> None:
        """List what can be done with networks that bound what is in flight."""
        for name, (sorts, kind, places) in self.sacks.items():
            at = self.members(scope, sorts)
            if at is None:
                continue
            end = f"self.{name}[{', '.join(at)}]" if at else f"self.{name}.only"
            for how in ("send", "send", "send", "receive", "clear"):
                do(name, f"{end}.{how}({{0}})", lambda k=kind: self.message(k, scope))
            place = self.member(scope, places) if places else "0"
            for text in (f"drop({place})", f"repeat({place})", f"take({place})"):
                if self.chance(0.5):
                    do(name, f"{end}.{text}")
            for has in self.fields:
                if has.type == "bool" and not has.sorts:
                    taken = f"any_of({end}.take({place}).urgent, self.{has.name})"
                    do(name, f"self.{has.name} = {taken}")
