"""Draws records in state: how they are declared, read, compared and changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.soundness.drawing.description import Node

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.soundness.drawing.statements import Statements
    from tests.soundness.drawing.terms import Scope, Terms


def declared(w: Terms) -> list[str]:
    """Draw one record, or one for each member, perhaps a second that is like it."""
    found = []
    for name in ("entry", "last"):
        sorts = w.pick(((), ("S",), ("S",), *((("O",),) if "O" in w.sorts else ())))
        lost = w.chance(0.3)
        page = "0" if lost or w.chance(0.7) else "one_of(0, 1)"
        start = f"Entry({w.pick(('False', 'True'))}, {page}, nobody_of(S))"
        per = f", per={sorts[0]}" if sorts else ""
        high = w.pick(("high=1", 'high={"page": 1}'))
        volatile = ", volatile=True" if lost else ""
        found.append(f"{name} = state({start}{per}, {high}{volatile})")
        w.records[name] = sorts
        if w.chance(0.6):
            break
    return found


def _at(w: Terms, name: str, scope: Scope, who: str) -> str:
    """Name a record, or the one of a member; no text where there is no member."""
    at = w.members(scope, w.records[name])
    if at is None:
        return ""
    return f"{who}.{name}" + (f"[{at[0]}]" if at else "")


def whole(w: Terms, scope: Scope) -> Node:
    """Draw a record: one that state holds, or another."""
    texts = [_at(w, name, scope, w.me()) for name in w.records]
    texts = [text for text in texts if text]
    if texts and w.chance(0.4):
        return Node("entry", w.pick(texts))
    page = Node("int", "clamp({0}, 0, 1)", (w.leaf("int", scope),))
    holder = w.pick(w.perhaps("S", scope))()
    parts = (w.leaf("bool", scope), w.pick((page, w.small(0, 1))), holder)
    return Node("entry", "Entry({0}, {1}, {2})", parts)


def read(w: Terms, type_: str, scope: Scope) -> list[Callable[[], Node]]:
    """List the ways to read a part of a record, and to compare whole ones."""
    found: list[Callable[[], Node]] = []
    for name in w.records:
        one = _at(w, name, scope, w.me())
        if not one:
            continue
        if type_ == "int":
            found.append(lambda o=one: Node("int", f"{o}.page"))
        if type_ != "bool":
            continue

        def compared(o: str = one) -> Node:
            sign = w.pick(("==", "!="))
            text = w.pick((f"({o} {sign} {{0}})", f"({{0}} {sign} {o})"))
            return Node("bool", text, (whole(w, scope),))

        def held(o: str = one) -> Node:
            other = w.pick(w.perhaps("S", scope))()
            return Node("bool", f"({o}.holder {w.pick(('==', '!='))} {{0}})", (other,))

        found += [compared, held, lambda o=one: Node("bool", f"{o}.urgent")]
    return found


def changes(w: Statements, scope: Scope) -> list[Callable[[], list[Node]]]:
    """List the ways to change a record, each record once in an action."""
    found: list[Callable[[], list[Node]]] = []

    def once(name: str, make: Callable[[], Node]) -> None:
        def drawn() -> list[Node]:
            if name in w.used:
                return []
            w.used.add(name)
            return [make()]

        found.append(drawn)

    for name, sorts in w.records.items():
        one = _at(w, name, scope, "self")
        if one:
            once(name, lambda o=one: _assigned(w, o, scope))
        if sorts:
            once(name, lambda n=name, s=sorts[0]: _family(w, n, s, scope))
    return found


def _assigned(w: Statements, one: str, scope: Scope) -> Node:
    """Give a record a whole other, or other parts."""
    if w.chance(0.4):
        text = f"{one} = {one}._replace(urgent={{0}}, holder={{1}})"
        holder = w.pick(w.perhaps("S", scope))()
        return Node("stmt", text, (w.truth(scope, 1), holder))
    if w.chance(0.4):
        parts = (w.truth(scope, 0), whole(w, scope), whole(w, scope))
        return Node("stmt", f"{one} = if_else({{0}}, {{1}}, {{2}})", parts)
    return Node("stmt", f"{one} = {{0}}", (whole(w, scope),))


def _family(w: Statements, name: str, sort: str, scope: Scope) -> Node:
    """Change the records of several members at once."""
    var = w.variable()
    inner: Scope = (*scope, (var, sort))
    kept = f"self.{name}[{var}]"
    if w.chance(0.3):
        return Node("stmt", f"self.{name}.fill({{0}})", (whole(w, scope),))
    if w.chance(0.5):
        text = f"self.{name}.where(lambda {var}: {{0}}).fill({{1}})"
        return Node("stmt", text, (w.truth(inner, 0), whole(w, scope)))
    # Both parts are changed at once: each new one is made of the old ones.
    change = f"{kept}._replace(urgent=({kept}.page == 1), page={{0}})"
    page = f"if_else({kept}.urgent, 1, 0)"
    other = Node("int", w.pick((page, f"clamp({kept}.page + 1, 0, 1)")))
    return Node("stmt", f"self.{name}.set(lambda {var}: {change})", (other,))
