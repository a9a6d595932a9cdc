"""What is asked of a source and a sink: how events are known, and which are owed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from onceproof.model.errors import UsageError
from onceproof.model.text import did_you_mean
from onceproof.properties.guarantees import (
    AT_LEAST_ONCE,
    AT_MOST_ONCE,
    EFFECTIVELY_ONCE,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onceproof.properties.property import Property

JUDGED = (AT_MOST_ONCE, AT_LEAST_ONCE, EFFECTIVELY_ONCE)
"""The guarantees that one look at a sink can judge."""
_OPEN, _CLOSED, _QUOTES = "([", ")]", "'\"`"


@dataclass(frozen=True)
class Pair:
    """The same value in both tables, an SQL expression over each."""

    source: str
    """The expression over the source."""
    sink: str
    """The expression over the sink."""

    def __str__(self) -> str:
        """Return it as it is given: once where both are the same."""
        return self.source if self.source == self.sink else f"{self.source}={self.sink}"


def pair_of(text: str, what: str) -> Pair:
    """Read ``EXPRESSION``, or ``SOURCE_EXPRESSION=SINK_EXPRESSION``.

    A sign inside brackets or quotes, and ``==``, ``<=``, ``>=`` and ``!=``, belong to
    an expression. Raises ``UsageError``.
    """
    signs = _signs(text)
    if len(signs) > 1:
        message = f"{what} {text!r} has more than one =; put expressions into brackets"
        raise UsageError(message)
    at = signs[0] if signs else len(text)
    source, sink = text[:at].strip(), text[at + 1 :].strip()
    if not source or (signs and not sink):
        message = f"{what} {text!r} lacks a side; write {what} SOURCE=SINK"
        raise UsageError(message)
    return Pair(source, sink if signs else source)


def _signs(text: str) -> list[int]:
    found, depth, quote = [], 0, ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in _QUOTES:
            quote = letter
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSED:
            depth -= 1
        elif letter == "=" and not depth:
            beside = text[at - 1 : at] + text[at + 1 : at + 2]
            if not set(beside) & set("=<>!"):
                found.append(at)
    return found


NO_TIME = Pair("", "")
"""Says that all events are owed."""


@dataclass(frozen=True)
class ReconcileRequest:
    """What is asked of a source and a sink. Expressions are SQL, as Spark reads it.

    Raises ``UsageError`` where something is missing, or does not go together.
    """

    key: tuple[Pair, ...]
    """What identifies an event in both."""
    time: Pair = NO_TIME
    """When an event was; for ``until``. A sink may lack it, but not under its own name.
    """
    until: str = ""
    """Events up to this time are owed. Later ones may be in the sink, or not yet."""
    by: str = ""
    """What events are grouped by; over the sink, too, where that has the columns."""
    sums: tuple[Pair, ...] = ()
    """Numbers, whole or decimal, whose sums must agree in each group."""
    repeats: bool = False
    """Whether the source may hold an event more than once, each time the same row."""
    claims: tuple[Property, ...] = JUDGED
    """The guarantees to judge."""

    def __post_init__(self) -> None:
        """Refuse what cannot be answered."""
        __tracebackhide__ = True
        message = ""
        if not self.key:
            message = "nothing identifies an event: give a key"
        elif bool(self.time.source) != bool(self.until):
            lacks, given = ("until", "time") if self.time.source else ("time", "until")
            message = f"{given} says nothing without {lacks}; give both, or neither"
        odd = [prop.name for prop in self.claims if prop not in JUDGED]
        if odd or not self.claims:
            known = ", ".join(prop.name for prop in JUDGED)
            message = f"one look at a sink judges {known}, and not {', '.join(odd)}"
        if message:
            raise UsageError(message)


def request_of(
    *,
    key: str | Sequence[str],
    time: str = "",
    until: str = "",
    by: str = "",
    sums: Sequence[str] = (),
    source_repeats: bool = False,
    claims: Sequence[str] = (),
) -> ReconcileRequest:
    """Read a request that is given in texts. Raises ``UsageError``."""
    known = {prop.name: prop for prop in JUDGED}
    for name in claims:
        if name not in known:
            message = f"there is no guarantee {name!r}; {did_you_mean(name, known)}"
            raise UsageError(message)
    return ReconcileRequest(
        key=tuple(pair_of(text, "key") for text in _listed(key)),
        time=pair_of(time, "time") if time else NO_TIME,
        until=until,
        by=by,
        sums=tuple(pair_of(text, "sum") for text in sums),
        repeats=source_repeats,
        claims=tuple(known[name] for name in claims or known),
    )


def _listed(texts: str | Sequence[str]) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts
