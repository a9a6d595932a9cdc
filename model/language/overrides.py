"""What a subclass may put in the place of what it inherits, and what it may not.

A fault that is overridden by a method without its decorator is no fault any more, and
nobody would notice. So whatever is declared (state, actions, faults, claims,
observations) is overridden by a declaration of its own kind, or removed by ``None``.
"""

from __future__ import annotations

import functools
import itertools
import sys
import weakref
from types import FunctionType
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language.declare import (
    ActionMark,
    ClaimMark,
    ObserveMark,
    taken_from,
)
from onceproof.model.language.places import defined_at, here

if TYPE_CHECKING:
    from collections.abc import Iterator


def refuse_lost_declarations(kind: type) -> None:
    """Raise ``ModelError`` where a class loses something that is declared."""
    _refuse_hidden(kind)
    _refuse_twice(kind)
    for name in dict.fromkeys(n for base in kind.__mro__ for n in vars(base)):
        _refuse_other_kind(kind, name)


def _refuse_other_kind(kind: type, name: str) -> None:
    """Refuse to override what is declared by something of another kind."""
    found = list(_definitions(kind, name))
    for (over, new), (base, old) in itertools.pairwise(found):
        wanted, given = _kind(old), _kind(new)
        if not wanted or new is None or wanted == given:
            continue
        what = f"declared by {given}" if given else "a plain method or value"
        how = (
            f"decorate it with {wanted}"
            if wanted.startswith("@")
            else f"declare it as {wanted}"
        )
        message = (
            f"{over.__name__}.{name} is {what}, and hides the {wanted} {name} of "
            f"{base.__name__}; {how}, choose another name, "
            f"or write {name} = None to remove what is inherited"
        )
        raise ModelError(message, where=_place(new))


def _definitions(kind: type, name: str) -> Iterator[tuple[type, Any]]:
    """Yield who defines a name, and as what, from the last to the first."""
    for base in kind.__mro__:
        if name in vars(base):
            yield base, vars(base)[name]


def _kind(what: object) -> str:
    """Say what kind of declaration something is; the empty text is none at all."""
    mark = getattr(what, "onceproof_mark", None)
    if isinstance(mark, ActionMark):
        return "@fault" if mark.fault else "@action"
    if isinstance(mark, ClaimMark):
        return f"@{mark.when}"
    if isinstance(mark, ObserveMark):
        return "@observe"
    return str(getattr(type(what), "onceproof_kind", ""))


def _place(what: object) -> str:
    if isinstance(what, FunctionType):
        return defined_at(what)
    return getattr(what, "where", "") or here()


def _refuse_hidden(kind: type) -> None:
    """Refuse a decorator below one of Python's own, which would hide it."""
    for name, what in vars(kind).items():
        inner = (
            what.func
            if isinstance(what, functools.cached_property)
            else what.fget
            if isinstance(what, property)
            else what.__func__
            if isinstance(what, staticmethod | classmethod)
            else None
        )
        if inner is not None and _kind(inner):
            message = (
                f"{name} is a {type(what).__name__}, which hides its {_kind(inner)}; "
                "declare it as a plain method"
            )
            raise ModelError(message, where=defined_at(inner))


def _refuse_twice(kind: type) -> None:
    """Refuse a declaration whose name the same class body gives to something else."""
    prefix = f"{kind.__qualname__}."
    module = vars(sys.modules.get(kind.__module__, weakref))
    for function in taken_from(kind.__module__, prefix):
        name = function.__qualname__.removeprefix(prefix)
        found = vars(kind).get(name, function)
        if "." in name or function.__globals__ is not module:
            continue
        if function not in (found, _unwrapped(found)):
            message = (
                f"{name} is declared twice in {kind.__name__}, here and at "
                f"{_place(found)}, and only the last would count; choose another name"
            )
            raise ModelError(message, where=defined_at(function))


def _unwrapped(what: Any) -> Any:
    while hasattr(what, "__wrapped__"):
        what = what.__wrapped__
    return what
