"""What a protocol or a part is made with: sizes, numbers and parts, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from onceproof.model.errors import ModelError, UsageError
from onceproof.model.language.fields import Param
from onceproof.model.language.sorts import Sort
from onceproof.model.language.source_location import here

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onceproof.model.language.composition.slots import Slot

P = TypeVar("P")

MOST_NUMBER = 2**14
"""The largest value of a parameter."""


class Kind(Protocol):
    """A class of protocols or parts."""

    def parameters(self) -> dict[str, Sort | Param | Slot[Any]]:
        """List what can be set when the class is instantiated, by name."""
        ...

    def label(self) -> str:
        """Name the class as the command line does."""
        ...


def number(name: str, value: object, low: int, high: int) -> int:
    """Return a size or a number. Raises ``UsageError`` for what is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        message = f"{name} must be a whole number, not {value!r}"
        raise UsageError(message)
    if not low <= value <= high:
        message = f"{name} must be {low} to {high}, not {value}"
        raise UsageError(message)
    return value


def filled(slot: Slot[P], given: object) -> P:
    """Return the part that is put in a slot. Raises ``UsageError`` for what is none."""
    chosen = slot.default() if given is None else given
    if isinstance(chosen, type) and issubclass(chosen, slot.kind):
        chosen = chosen()
    if not isinstance(chosen, slot.kind):
        label = getattr(slot.kind, "label", slot.kind.__name__.lower)()
        message = (
            f"{slot.name} takes parts of the kind {label}, and not {_shown(chosen)}"
        )
        message += f"; help: derive it from {slot.kind.__name__}"
        raise UsageError(message)
    return chosen


def _shown(chosen: object) -> str:
    """Show what was given: a part by the name of its class, anything else as it is."""
    kind = chosen if isinstance(chosen, type) else type(chosen)
    return kind.__name__ if hasattr(kind, "label") else repr(chosen)


def unknown(kind: Kind, name: str) -> str:
    """Say that a class has no parameter of a name, and which it has."""
    known = list(kind.parameters())
    return (
        f"{kind.label()} has no parameter {name!r}; it has {', '.join(known)}"
        if known
        else f"{kind.label()} has no parameters, so {name!r} cannot be set"
    )


def given_in_line(kind: type) -> dict[str, object]:
    """Return what the lines of a class and its bases give, by name.

    A class that declares a name anew has what it declares, and not what the line of a
    class before it gives.
    """
    found: dict[str, object] = {}
    declared: dict[str, object] = {}
    for base in reversed(kind.__mro__):
        for name, what in vars(base).items():
            if declared.setdefault(name, what) is not what:
                declared[name] = what
                found.pop(name, None)
        found |= vars(base).get("_in_line", {})
    return found


def refuse_arguments(kind: Kind, arguments: Mapping[str, object]) -> None:
    """Refuse what a class has not, and values that none of its own can have.

    So is one that the class declares itself: of two values only one would count.
    Raises ``ModelError``.
    """
    known = kind.parameters()
    for name, value in arguments.items():
        what = known.get(name)
        try:
            if what is None:
                raise UsageError(unknown(kind, name))  # noqa: TRY301 - as its others
            if name in vars(kind):
                message = (
                    f"{name} is given in the line of the class, and declared in the "
                    "class; write it once"
                )
                raise UsageError(message)  # noqa: TRY301 - as its others
            if isinstance(what, Sort):
                number(name, value, 1, what.most)
            elif isinstance(what, Param):
                number(name, value, 0, MOST_NUMBER)
            else:
                filled(what, value)
        except UsageError as error:
            raise ModelError(str(error), where=here()) from error


def refuse_second_name(name: str, sort: Sort) -> None:
    """Refuse a sort under two names: only one would set its size.

    Raises ``ModelError``.
    """
    if name != sort.name:
        message = (
            f"the sort {sort.name} is also called {name}, and only one of the "
            "names would set its size; use one name for it everywhere"
        )
        raise ModelError(message, where=sort.where)
