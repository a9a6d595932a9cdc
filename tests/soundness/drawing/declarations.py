"""Draws declarations: sorts, fields, parts, channels, processes and clocks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.soundness.drawing.description import Klass, Method
from tests.soundness.drawing.terms import Has, const

if TYPE_CHECKING:
    from tests.soundness.drawing.methods import Writer


def _shelf_classes() -> list[Klass]:
    """Make a part, and another that can stand in its place."""
    put = Method(
        "", "put", ("s",), (const("stmt", "self.held[s] = not_(self.held[s])"),)
    )
    full = Method("", "full", ("s",), (const("stmt", "return self.held[s]"),))
    tidy = Method(
        "@action(fair=True)",
        "tidy",
        (),
        (
            const("stmt", "when(self.weight > 0)"),
            const("stmt", "self.weight = self.weight - 1"),
        ),
    )
    burn = Method(
        "@fault(at_most=1)",
        "burn",
        (),
        (
            const("stmt", "self.lose_volatile()"),
            const("stmt", "self.weight = self.most"),
        ),
    )
    load = Method("@property", "load", (), (const("stmt", "return self.weight"),))
    light = Method("@always", "light", (), (const("stmt", "return self.weight <= 0"),))
    base = Klass(
        "Shelf",
        "Part",
        (
            "most = param(1)",
            "held = state(False, per=S, volatile=True)",
            "weight = state(0, high=most)",
        ),
        (put, full, tidy, burn, load, light),
    )
    heavier = Method(
        "",
        "put",
        ("s",),
        (
            const("stmt", "self.held[s] = True"),
            const(
                "stmt",
                "self.weight = if_else(self.weight < self.most, self.weight + 1, "
                "self.weight)",
            ),
        ),
    )
    return [base, Klass("DeepShelf", "Shelf", (), (heavier,))]


def sorts_of(w: Writer) -> list[str]:
    dice = w.dice
    w.sorts["S"] = False
    size = dice.choice((1, 2, 2, 2, 3) if w.profile != "wide" else (3, 4, 5, 6))
    w.size = size
    lines = [f'S = Sort("thing", size={size})']
    if w.chance(0.35):
        w.sorts["T"] = False
        lines.append(f'T = Sort("other", size={dice.choice((1, 2))})')
    if w.chance(0.15 if w.profile == "open" else 0.5):
        w.sorts["O"] = True
        lines.append(
            f'O = Sort("place", size={dice.choice((1, 2, 3))}, ordered=True, most=9)'
        )
    if w.chance(0.4):
        w.params.append("limit")
        lines.append('limit = param(2, "how many")')
    return lines


def fields_of(w: Writer) -> list[str]:  # noqa: PLR0915 - one kind of field each
    dice, lines = w.dice, []

    def add(has: Has, start: str, *options: str) -> None:
        if has.volatile:
            options = (*options, "volatile=True")
        if has.sorts:
            sorts = has.sorts[0] if len(has.sorts) == 1 else f"({', '.join(has.sorts)})"
            options = (f"per={sorts}", *options)
        w.fields.append(has)
        lines.append(f"{has.name} = state({', '.join((start, *options))})")

    def volatile() -> bool:
        return w.chance(0.35)

    kinds = ["flag", "bit", "other", "number", "colour", "share", "pair", "tone"]
    kinds += ["ranked"] if w.profile != "open" else []
    kinds += ["holder", "vote", "lead"]
    kinds += ["twin"] if w.profile != "open" else []
    kinds += ["mark", "grid", "turn_of"] if "O" in w.sorts else []
    kinds += ["tbit", "link"] if "T" in w.sorts else []
    if w.profile == "wide":
        sorts, count = ("S", "S", "S"), dice.choice((2, 3 if w.size < 5 else 2))
        add(Has("ballast", "colour", sorts[:count]), "Colour.BLUE")
        lines.append("large = state(0, low=-5, high=70_000)")
        w.fields.append(Has("large", "int", (), -5, 70_000))
        kinds = ["flag", "bit", "pair", "tone"]
    chosen = dice.sample(kinds, k=min(len(kinds), dice.randint(3, 5)))
    if w.profile == "open" and "bit" not in chosen:
        chosen.append("bit")
    for kind in chosen:
        lost = volatile()
        several = w.chance(0.25) and not lost
        if kind in ("flag", "other"):
            add(
                Has(kind, "bool", volatile=lost),
                "one_of(False, True)"
                if several
                else w.pick(("False", "True", "False")),
            )
        elif kind == "bit":
            add(
                Has(kind, "bool", ("S",), volatile=lost),
                "one_of(False, True)" if several else "False",
            )
        elif kind == "holder":
            start = "one_of(nobody_of(S), member_of(S))" if several else "nobody_of(S)"
            add(Has(kind, "maybe", volatile=lost, of="S"), start)
        elif kind == "vote":
            add(Has(kind, "maybe", ("S",), volatile=lost, of="S"), "nobody_of(S)")
        elif kind == "lead":
            add(Has(kind, "member", of="S"), "member_of(S)")
        elif kind == "twin":
            add(Has(kind, "member", ("S",), of="S"), "by_member(lambda m: m)")
        elif kind == "turn_of":
            add(Has(kind, "maybe", ("S",), of="O"), "nobody_of(O)")
        elif kind == "tbit":
            add(Has(kind, "bool", ("T",), volatile=lost), "False")
        elif kind == "link":
            add(Has(kind, "bool", ("S", "T"), volatile=lost), "False")
        elif kind == "pair":
            add(Has(kind, "bool", ("S", "S"), volatile=lost), "False")
        elif kind == "mark":
            start = "True" if w.chance(0.5) or lost else "by_member(lambda o: o == 0)"
            add(Has(kind, "bool", ("O",), volatile=lost), start)
        elif kind == "grid":
            add(Has(kind, "bool", ("S", "O"), volatile=lost), "False")
        elif kind == "number":
            low, high = w.pick(((0, 2), (-1, 2), (0, 3)))
            bound = f"high={high}"
            if "O" in w.sorts and w.chance(0.3):
                low, high, bound = w.pick(
                    ((0, 1, "high=O"), (0, 2, "high=O + 1"), (0, 0, "high=O - 1"))
                )
            elif w.params and w.chance(0.5):
                low, high, bound = 0, 2, "high=limit"
            if w.profile == "trap" and w.chance(0.5):
                low, high, bound = 0, 1, "high=S"
            start = "one_of(0, 1)" if several and high else "0"
            add(
                Has(kind, "int", (), low, high, volatile=lost),
                start,
                f"low={low}",
                bound,
            )
        elif kind == "share":
            low = w.pick((0, -1))
            add(
                Has(kind, "int", ("S",), low, 1, volatile=lost),
                "0",
                f"low={low}",
                "high=1",
            )
        elif kind == "ranked":
            sort = "O" if "O" in w.sorts and w.chance(0.6) else "S"
            add(
                Has(kind, "int", (sort,), 0, 2),
                "by_member(lambda m: 2 if m == 0 else 0)",
                "high=2",
            )
        elif kind == "colour":
            add(
                Has(kind, "colour", volatile=lost),
                "one_of(Colour.RED, Colour.BLUE)" if several else "Colour.GREEN",
            )
        elif kind == "tone":
            add(Has(kind, "colour", ("S",), volatile=lost), "Colour.RED")
    return lines


def parts_of(w: Writer, lines: list[str]) -> list[Klass]:
    if w.profile == "open":
        if w.chance(0.25):
            _processes(w, lines)
        return []
    share = 0.75 if w.profile == "talks" else 0.12
    volatile = [", volatile=True", ""]
    if w.chance(share):
        kind = w.pick(("note", "colour", "letter", "claim"))
        sample = {
            "note": "Note(Colour.RED, False)",
            "colour": "Colour.RED",
            "letter": "Letter(False, 0)",
            "claim": "Claim(member_of(S), nobody_of(S))",
        }[kind]
        sorts = w.pick(((), ("S",), ("S",), ("S", "S")))
        sorts = w.pick(((), ("S",))) if kind == "claim" else sorts
        options = _per(sorts) + (", high=1" if kind == "letter" else "")
        if kind == "letter" and w.chance(0.5):
            options = _per(sorts) + ', high={"page": 1}'
        budgets = [b for b in ("losses", "repeats", "overtakings") if w.chance(0.4)]
        options += "".join(f", {b}={w.pick(('1', *w.params))}" for b in budgets)
        roomy = "repeats" in budgets or "overtakings" in budgets
        length = "2" if roomy else w.pick(("1", "2", "2"))
        lines.append(
            f"queue = channels({sample}{options}, length={length}{w.pick(volatile)})"
        )
        w.queues["queue"] = (sorts, kind)
    if w.chance(share * 0.6):
        kind = w.pick(("note", "colour", "letter", "ask"))
        sample = {
            "note": "Note(Colour.RED, False)",
            "colour": "Colour.RED",
            "letter": "Letter(False, 0)",
            "ask": "Ask(member_of(S), False)",
        }[kind]
        sorts = w.pick(((), ("S",)))
        options = _per(sorts) + (", high=1" if kind == "letter" else "")
        options += ", losses=1" if w.chance(0.4) else ""
        repeats = w.chance(0.4)
        more = repeats or (kind == "colour" and w.chance(0.5))
        options += ", repeats=1" if repeats else ""
        options += ", copies=2" if more else ""
        lines.append(f"bag = network({sample}{options}{w.pick(volatile)})")
        w.bags["bag"] = (sorts, kind)
    if w.chance(share * 0.6):
        _sack(w, lines, w.pick(volatile))
    if w.chance(share * 0.6):
        _processes(w, lines)
    if w.chance(share * 0.4):
        w.timer = "clock"
        lines.append(f"clock = timers(S{w.pick(('', ', volatile=False'))})")
    if w.chance(share * 0.4):
        w.epoch = "era"
        lines.append(f"era = epochs(S, high=2{w.pick(('', ', volatile=True'))})")
    if w.chance(0.25):
        return _shelves(w, lines)
    return []


def _shelves(w: Writer, lines: list[str]) -> list[Klass]:
    """Draw a part, or one for each member of a sort."""
    w.shelf = "shelf"
    w.shelves = w.pick(("", "S", *(s for s in ("T", "O") if s in w.sorts)))
    per = f", per={w.shelves}" if w.shelves else ""
    made = w.pick((f"part(Shelf{per})", f"part(Shelf{per}, default=DeepShelf)"))
    lines.append(f"shelf = {made}")
    head, deep = _shelf_classes()
    lines[:] = [line for line in lines if not line.startswith("S = ")]
    head = replace(
        head,
        declarations=(
            f'S = Sort("thing", size={w.dice.choice((1, 2))})',
            *head.declarations,
        ),
    )
    lines.insert(0, "S = Shelf.S")
    return [head, deep]


def _sack(w: Writer, lines: list[str], volatile: str) -> None:
    """Draw a network that bounds what is in flight, perhaps by a sort of the file."""
    kind = w.pick(("note", "letter", "letter"))
    sample = {"note": "Note(Colour.RED, False)", "letter": "Letter(False, 0)"}[kind]
    sorts = w.pick(((), ("S",)))
    options = _per(sorts) + (", high=1" if kind == "letter" else "")
    options += ", losses=1" if w.chance(0.3) else ""
    room = w.pick(("O", "O", "1") if "O" in w.sorts else ("1", "2"))
    single = any(line.startswith('O = Sort("place", size=1,') for line in lines)
    alone = room == "1" or (room == "O" and single)
    repeats = not alone and w.chance(0.3)
    options += ", repeats=1" if repeats else ""
    options += f", in_flight={room}" + ("" if repeats else w.pick(("", ", copies=1")))
    lines.append(f"sack = network({sample}{options}{volatile})")
    w.sacks["sack"] = (sorts, kind, room if room == "O" else "")


def _per(sorts: tuple[str, ...]) -> str:
    if not sorts:
        return ""
    return f", per={sorts[0]}" if len(sorts) == 1 else f", per=({', '.join(sorts)})"


def _processes(w: Writer, lines: list[str]) -> None:
    w.process = "run"
    options = w.pick(("crashes=1", "stops=1", "crashes=1, stops=1"))
    lines.append(f"run = processes(S, {options})")
