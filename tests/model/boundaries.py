"""Protocols of any width, made to meet the ends of words: claims, bits, events."""

from __future__ import annotations

import itertools
from enum import Enum
from typing import Any

from onceproof.model.language import (
    Protocol,
    Sort,
    action,
    all_of,
    always,
    at_rest,
    channels,
    eventually,
    if_else,
    implies,
    leads_to,
    not_,
    recoverable,
    sometimes,
    state,
    step,
    when,
)

MODALITIES = ("always", "sometimes", "at_rest", "recoverable", "eventually", "leads_to")


class Colour(Enum):
    """Three values, so two bits of which one code is never used."""

    RED = "red"
    GREEN = "green"
    BLUE = "blue"


def made(name: str, **body: Any) -> Protocol:
    """Make a protocol of a class body."""
    kind = type(name, (Protocol,), body)
    for attribute, what in body.items():
        if hasattr(what, "__set_name__"):
            what.__set_name__(kind, attribute)
    return kind()


def ladder(claims: int, turn: int = 0) -> Protocol:
    """Climb by steps of two, with a claim about each rung: one in two is met.

    The claims take turns at the modalities, ``turn`` of them further on; so at any
    end of a word a claim of each can be placed.
    """
    top = 2 * (claims + 1)

    def climb(self: Any) -> None:
        when(self.at < top - 1)
        self.at = self.at + 2

    body: dict[str, Any] = {"at": state(0, high=top)}
    body["climb"] = action(fair=True)(climb)
    for number in range(claims):
        when_ = MODALITIES[(number + turn) % len(MODALITIES)]
        # Even rungs are met; each claim is of a rung of its own, at random parity.
        rung = (2 * number + (number * number // 3) % 2) % top
        body[f"claim_{number:03}"] = _rung_claim(when_, rung, top)
    return made("Ladder", **body)


def _rung_claim(modality: str, rung: int, top: int) -> Any:
    marks: dict[str, Any] = {
        "always": always,
        "sometimes": sometimes,
        "at_rest": at_rest,
        "recoverable": recoverable,
        "eventually": eventually,
        "leads_to": leads_to,
    }

    def avoids(self: Any) -> Any:
        return self.at != rung

    def meets(self: Any) -> Any:
        return self.at == rung

    def ends_beyond(self: Any) -> Any:
        return self.at > top - 1 - rung % 3

    def leads(self: Any) -> Any:
        return self.at == 2 * (rung // 2), self.at == rung + rung % 4

    methods = {
        "always": avoids,
        "sometimes": meets,
        "at_rest": ends_beyond,
        "recoverable": ends_beyond,
        "eventually": meets,
        "leads_to": leads,
    }
    return marks[modality](methods[modality])


def stairs(claims: int) -> Protocol:
    """Claim of so many steps that they are not taken; one in two is."""
    top = 2 * (claims + 1)

    def climb(self: Any) -> None:
        when(self.at < top - 1)
        self.at = self.at + 2

    def claim(rung: int) -> Any:
        return step(lambda self, after: not_(all_of(self.at < rung, after.at == rung)))

    body: dict[str, Any] = {"at": state(0, high=top), "climb": action(climb)}
    for number in range(claims):
        rung = 2 * number + (number * number // 3) % 2 + 1
        body[f"claim_{number:03}"] = claim(rung)
    return made("Stairs", **body)


def row(members: int, lead: int, sample: object = False) -> Protocol:
    """Set the elements of a row one after the other, and at last clear them.

    ``lead`` bits come before the row and as many behind, and must not change.
    """
    sort = Sort("place", size=members, ordered=True)
    colours = list(Colour)
    values = [False, True] if isinstance(sample, bool) else colours

    def raised(value: Any) -> Any:
        if isinstance(sample, bool):
            return not_(value)
        found = value
        for one, other in itertools.pairwise(colours):
            found = if_else(value == one, other, found)
        return found

    def go(self: Any, p: Any) -> None:
        when(self.at == p)
        now = raised(self.cells[p])
        self.cells[p] = now
        self.at = if_else(now == values[-1], p + 1, self.at)

    def clear(self: Any) -> None:
        when(all_of(self.cells[p] == values[-1] for p in self.P), self.laps == 0)
        self.cells.set(lambda p: if_else(p < 1, self.cells[p], values[0]))
        self.laps = 1

    body: dict[str, Any] = {"P": sort}
    for side in ("before", "behind"):
        if side == "behind":
            body["at"] = state(0, high=sort)
            body["cells"] = state(values[0], per=sort)
            body["laps"] = state(0, high=1)
        if lead:
            guard = Sort(f"guard {side}", size=lead, ordered=True)
            body[side.upper()] = guard
            body[f"{side}_row"] = state(True, per=guard)
    body["go"] = action(per=sort)(go)
    body["clear"] = action(clear)
    body["full"] = sometimes(
        lambda self: all_of(self.cells[p] == values[-1] for p in self.P)
    )
    body["never_last"] = always(
        lambda self: not_(
            all_of(
                implies(p == self.P.last, self.cells[p] == values[-1]) for p in self.P
            )
        )
    )
    if lead:
        body["guarded"] = always(
            lambda self: all_of(
                all_of(self.before_row[b] for b in self.BEFORE),
                all_of(self.behind_row[b] for b in self.BEHIND),
            )
        )
    return made("Row", **body)


def queue(places: int) -> Protocol:
    """Fill a channel to its last place, with colours that tell the places apart."""

    def send(self: Any) -> None:
        when(self.sent < places)
        paint = if_else(self.next == 1, Colour.GREEN, Colour.BLUE)
        self.link.only.send(if_else(self.next == 0, Colour.RED, paint))
        self.next = if_else(self.next == 2, 0, self.next + 1)
        self.sent = self.sent + 1

    def receive(self: Any) -> None:
        when(self.sent == places)
        self.last = self.link.only.receive()

    return made(
        "Queue",
        link=channels(Colour.RED, length=places),
        sent=state(0, high=places),
        next=state(0, high=2),
        last=state(Colour.RED),
        send=action(send),
        receive=action(receive),
        full=sometimes(lambda self: self.link.only.used == places),
        ends_green=at_rest(lambda self: self.last == Colour.GREEN),
    )


def span(low: int, high: int) -> Protocol:
    """Jump to each end of a range, beside it and around zero; step back once."""
    targets = [n for n in (low, low + 1, -1, 0, 1, high - 1, high) if low <= n <= high]

    def jump(target: int) -> Any:
        def go(self: Any) -> None:
            self.value = target

        return action(go)

    def back(self: Any) -> None:
        when(not_(self.stepped), self.value > low)
        self.stepped = True
        self.value = self.value - 1

    body: dict[str, Any] = {
        "before": state(True),
        "value": state(low, low=low, high=high),
        "stepped": state(False),
        "back": action(back),
        "untouched": always(lambda self: self.before),
    }
    for number, target in enumerate(dict.fromkeys(targets)):
        body[f"jump_{number}"] = jump(target)
        body[f"meets_{number}"] = _claim_of_value(sometimes, target)
        body[f"below_{number}"] = _claim_of_value(always, target)
    return made("Span", **body)


def _claim_of_value(mark: Any, target: int) -> Any:
    if mark is sometimes:
        return sometimes(lambda self: self.value == target)
    return always(lambda self: self.value <= target)
