"""Small random protocols whose runs end, with crashes that depend on what they lose."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onceproof.model.language import (
    Part,
    Protocol,
    Sort,
    action,
    channels,
    fault,
    if_else,
    not_,
    observe,
    one_of,
    part,
    state,
    when,
)

if TYPE_CHECKING:
    from collections.abc import Callable

HIGH = 2


@dataclass
class Drawn:
    """A random protocol, and what its maker knows of it.

    ``crashes`` are the faults that lose volatile state at large, ``heeding`` those
    survived ones whose effect on durable state depends on volatile state,
    ``writing`` the actions that write what endures, and ``seen`` the fields that
    outlive a crash or are observed.
    """

    protocol: Protocol
    crashes: set[str] = field(default_factory=set)
    heeding: set[str] = field(default_factory=set)
    writing: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)


# Whether a field is kept, and whether it has an element for each member.
FIELDS = {
    "disk": (True, False),
    "page": (True, True),
    "log": (True, False),
    "memory": (False, False),
    "cell": (False, True),
    "inner.kept": (True, False),
    "inner.lost": (False, False),
}


class Inner(Part):
    """A part with state that endures and state that does not."""

    kept = state(0, high=HIGH)
    lost = state(0, high=HIGH, volatile=True)


def _read(m: Any, name: str, at: Any) -> Any:
    if name.startswith("inner."):
        return getattr(m.inner, name.removeprefix("inner."))
    value = getattr(m, name)
    return value[at] if FIELDS[name][1] else value


def _write(m: Any, name: str, at: Any, value: Any) -> None:
    if name.startswith("inner."):
        setattr(m.inner, name.removeprefix("inner."), value)
    elif FIELDS[name][1]:
        getattr(m, name)[at] = value
    else:
        setattr(m, name, value)


class _Maker:
    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.talks = self.dice.random() < 0.3
        self.crashes: set[str] = set()
        self.heeding: set[str] = set()
        self.writing: set[str] = set()
        self.talking: set[str] = set()
        self.thing = Sort("thing", size=self.dice.choice([1, 2, 2]))
        # Few fields in each, so that steps meet in them.
        self.palette = {
            self.dice.choice(["disk", "log", "inner.kept"]),
            self.dice.choice(["memory", "memory", "inner.lost"]),
            *self.dice.sample(list(FIELDS), self.dice.randint(0, 2)),
        }

    def names(self, *, member: bool, kept: bool | None = None) -> list[str]:
        return [
            name
            for name, (endures, many) in FIELDS.items()
            if name in self.palette and (member or not many) and kept in (None, endures)
        ]

    def condition(self, *, member: bool) -> tuple[str, int, bool]:
        name = self.dice.choice(self.names(member=member))
        return name, self.dice.randint(0, HIGH), self.dice.random() < 0.5

    def effect(
        self, *, member: bool, kept: bool | None = None, odds: float = 0.3
    ) -> Any:
        """Draw what a step sets, and to which of two numbers, on which condition."""
        target = self.dice.choice(self.names(member=member, kept=kept))
        test = self.condition(member=member) if self.dice.random() < odds else None
        one, other = self.dice.sample(range(HIGH + 1), 2)
        return target, test, one, other

    def step(self, name: str, once: str, *, member: bool) -> Callable[..., None]:
        """Draw an action that happens once, until a crash makes it forget that."""
        wait = self.condition(member=member) if self.dice.random() < 0.5 else None
        effects = [self.effect(member=member) for _ in range(self.dice.randint(1, 2))]
        effects = list({effect[0]: effect for effect in effects}.values())
        talk = self.dice.choice(["send", "receive"]) if self.talks else ""
        if self.dice.random() < 0.4:
            talk = ""
        if talk == "receive" or any(FIELDS[target][0] for target, *_ in effects):
            self.writing.add(name)
        if talk:
            self.talking.add(name)

        def body(self: Any, at: Any = None) -> None:
            flag = getattr(self, once)
            when(not_(flag[at]) if member else not_(flag))
            if wait:
                when(_holds(self, wait, at))
            _perform(self, effects, at)
            if member:
                flag[at] = True
            else:
                setattr(self, once, True)
            if talk == "send":
                self.link.only.send(self.log > 0)
            elif talk == "receive":
                message = self.link.only.receive()
                self.log = if_else(message, 1, self.log)

        return _with_arity(body, member=member)

    def harm(self, name: str, *, member: bool) -> Callable[..., None]:
        """Draw a fault: one that loses all, one that puts memory back, or neither."""
        kind = self.dice.choice(["lose", "lose", "reset", "survive", "survive"])
        effects = [
            self.effect(member=member, kept=True, odds=0.8)
            for _ in range(self.dice.randint(0 if kind == "lose" else 1, 2))
        ]
        effects = list({effect[0]: effect for effect in effects}.values())
        wait = self.condition(member=member) if self.dice.random() < 0.3 else None
        if kind != "survive":
            self.crashes.add(name)
        elif any(test and not FIELDS[test[0]][0] for _, test, _, _ in effects):
            self.heeding.add(name)

        def body(self: Any, at: Any = None) -> None:
            if wait:
                when(_holds(self, wait, at))
            _perform(self, effects, at)
            if kind == "lose":
                self.lose_volatile()
            elif kind == "reset":
                self.memory = 0

        return _with_arity(body, member=member)

    def drawn(self) -> Drawn:
        dice = self.dice
        body: dict[str, Any] = {
            "S": self.thing,
            "inner": part(Inner),
            "disk": state(one_of(0, 1) if dice.random() < 0.4 else 0, high=HIGH),
            "log": state(0, high=HIGH),
            "page": state(0, high=HIGH, per=self.thing),
            "memory": state(0, high=HIGH, volatile=True),
            "cell": state(0, high=HIGH, per=self.thing, volatile=True),
        }
        seen = {name for name, (kept, _) in FIELDS.items() if kept}
        kept_link = False
        if self.talks:
            volatile = dice.random() < 0.5
            body["link"] = channels(False, length=1, volatile=volatile)
            kept_link = not volatile
            seen |= {"link.value", "link.used"} if kept_link else set()
        for number in range(dice.randint(2, 3)):
            member = dice.random() < 0.4
            once, volatile = f"once_{number}", dice.random() < 0.5
            per = {"per": self.thing} if member else {}
            body[once] = state(False, volatile=volatile, **per)
            seen |= set() if volatile else {once}
            mark = action(**per)
            name = f"step_{number}"
            body[name] = mark(self.step(name, once, member=member))
            if not volatile:
                self.writing.add(name)
        if kept_link:
            self.writing |= self.talking
        for number in range(dice.randint(1, 2)):
            member = dice.random() < 0.3
            per = {"per": self.thing} if member else {}
            name = f"fault_{number}"
            body[name] = fault(**per)(self.harm(name, member=member))
        if dice.random() < 0.3:
            body["visible"] = observe(per=self.thing)(lambda self, at: self.cell[at])
            seen.add("cell")
        kind = type("Drawn", (Protocol,), body)
        for name, what in body.items():
            if hasattr(what, "__set_name__"):
                what.__set_name__(kind, name)
        protocol = kind(faults=dice.choice([1, 1, 2]))
        return Drawn(protocol, self.crashes, self.heeding, self.writing, seen)


def _holds(m: Any, test: tuple[str, int, bool], at: Any) -> Any:
    name, number, same = test
    value = _read(m, name, at)
    return (value == number) if same else (value != number)


def _perform(m: Any, effects: list[Any], at: Any) -> None:
    # All are of the state before, so that none is lost to the one after it.
    values = [
        one if test is None else if_else(_holds(m, test, at), one, other)
        for _, test, one, other in effects
    ]
    for (target, *_), value in zip(effects, values, strict=True):
        _write(m, target, at, value)


def _with_arity(body: Callable[..., None], *, member: bool) -> Callable[..., None]:
    def with_member(self: Any, at: Any) -> None:
        body(self, at)

    def without(self: Any) -> None:
        body(self)

    return with_member if member else without


def draw(seed: int) -> Drawn:
    """Make the random protocol of a seed."""
    return _Maker(seed).drawn()
