"""The form of plain data, stated once: whatever differs is named by its place.

A form is called with a value and the place where it lies, such as ``steps[2].event``,
and raises ``ValueError`` for a value of another form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from onceproof.model.text import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Form: TypeAlias = Callable[[Any, str], None]

_MOST_SHOWN = 60


def text(value: Any, place: str) -> None:
    """Take a text."""
    _require(place, "a text", holds=isinstance(value, str))


def flag(value: Any, place: str) -> None:
    """Take true or false."""
    _require(place, "true or false", holds=isinstance(value, bool))


def scalar(value: Any, place: str) -> None:
    """Take a text, a number, or true or false."""
    what = "a text, a number, or true or false"
    _require(place, what, holds=isinstance(value, str | int | float))


def whole(least: int | None = 0) -> Form:
    """Take a whole number, of at least so much; None takes any."""

    def form(value: Any, place: str) -> None:
        _require(place, "a whole number", holds=type(value) is int)
        enough = least is None or value >= least
        _require(place, f"a whole number from {least} on", holds=enough)

    return form


def maybe(inner: Form) -> Form:
    """Take nothing at all, written as null, or what ``inner`` takes."""

    def form(value: Any, place: str) -> None:
        if value is not None:
            inner(value, place)

    return form


def listed(inner: Form) -> Form:
    """Take a list of what ``inner`` takes."""

    def form(value: Any, place: str) -> None:
        _require(place, "a list", holds=isinstance(value, list))
        for number, one in enumerate(value):
            inner(one, f"{place}[{number}]")

    return form


def mapped(inner: Form) -> Form:
    """Take an object of whatever names, each for what ``inner`` takes."""

    def form(value: Any, place: str) -> None:
        _require(place, "an object", holds=isinstance(value, dict))
        for name, one in value.items():
            inner(one, f"{place}[{shown(name)}]")

    return form


def record(needed: Mapping[str, Form], other: Mapping[str, Form] | None = None) -> Form:
    """Take an object that has all the ``needed`` fields, and of ``other`` any."""
    known = {**needed, **(other or {})}

    def form(value: Any, place: str) -> None:
        _require(place, "an object", holds=isinstance(value, dict))
        of = f"{place!r}" if place else "it"
        for name in value:
            if name not in known:
                hint = did_you_mean(name[:_MOST_SHOWN], known, otherwise="")
                where = f" in {place!r}" if place else ""
                message = f"there is no {shown(name)}{where}{hint and f'; {hint}'}"
                raise ValueError(message)
        for name in needed:
            if name not in value:
                message = f"{of} has no {name!r}"
                raise ValueError(message)
        for name, one in value.items():
            known[name](one, f"{place}.{name}" if place else name)

    return form


def shown(value: object) -> str:
    """Show a value in a message: as Python writes it, and not at any length."""
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def _require(place: str, what: str, *, holds: bool) -> None:
    if not holds:
        message = f"{place!r} is not {what}"
        raise ValueError(message)
