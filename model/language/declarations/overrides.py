"""What a subclass may put in the place of what it inherits, and what it may not.

A fault that is overridden by a method without its decorator is no fault any more, and
nobody would notice. So whatever is declared (state, actions, faults, claims,
observations) is overridden by a declaration of its own kind, or removed by ``None``.
"""

from __future__ import annotations

import fnmatch
import functools
import itertools
import sys
import weakref
from types import FunctionType
from typing import TYPE_CHECKING, Any

from onceproof.model.errors import ModelError
from onceproof.model.language.declarations.decorators import (
    ActionMark,
    ClaimMark,
    ObserveMark,
    taken_from,
)
from onceproof.model.language.source_location import defined_at, here

if TYPE_CHECKING:
    from collections.abc import Iterator


_born: weakref.WeakKeyDictionary[type, dict[str, str]] = weakref.WeakKeyDictionary()
"""What each class declared when it was made, by name."""


def refuse_lost_declarations(kind: type) -> None:
    """Raise ``ModelError`` where a class loses something that is declared."""
    _refuse_hidden(kind)
    _refuse_twice(kind)
    _refuse_second_names(kind)
    _refuse_second_sorts(kind)
    _born[kind] = {
        name: found for name, what in vars(kind).items() if (found := kind_of(what))
    }
    for name in dict.fromkeys(n for base in kind.__mro__ for n in vars(base)):
        _refuse_other_kind(kind, name)
        _refuse_lost_fairness(kind, name)


def refuse_lost_since(kind: type) -> None:
    """Raise ``ModelError`` where a class has lost a declaration since it was made."""
    for base in kind.__mro__:
        for name, wanted in _born.get(base, {}).items():
            new = vars(base).get(name, _LOST)
            given = kind_of(new)
            if new is None or given == wanted:
                continue
            what = "is gone" if new is _LOST else f"is {_named(given)}"
            message = (
                f"{base.__name__}.{name} was declared by {wanted} when the class was "
                f"made, and {what} now; change it in a subclass, or write "
                f"{name} = None there to remove it"
            )
            raise ModelError(message, where="" if new is _LOST else _place(new))


def refuse_hidden_in_instance(kind: type, name: str) -> None:
    """Raise ``ModelError`` where an attribute of an object would hide a declaration."""
    wanted = kind_of(next((what for _, what in _definitions(kind, name)), None))
    if wanted:
        message = (
            f"{name} is declared by {wanted} in {kind.__name__}, and an attribute of "
            "that name would hide it; change it in a subclass, or choose another name"
        )
        raise ModelError(message, where=here())


_LOST = object()
_NAMED_ONCE = ("state(...)", "param(...)", "part(...)")


def _named(given: str) -> str:
    return f"declared by {given}" if given else "a plain method or value"


def _refuse_second_names(kind: type) -> None:
    """Refuse one state, number or part under two names: only the last would count."""
    names: dict[int, str] = {}
    for base in reversed(kind.__mro__):
        for name, what in vars(base).items():
            if kind_of(what) not in _NAMED_ONCE:
                continue
            first = names.setdefault(id(what), name)
            if first != name:
                message = (
                    f"{name} and {first} are one {kind_of(what)}, which can have one "
                    "name only; declare each by itself"
                )
                raise ModelError(message, where=_place(what))


def _refuse_second_sorts(kind: type) -> None:
    """Refuse another sort under a name that what is inherited has for its own."""
    for name, what in vars(kind).items():
        for base in kind.__mro__[1:]:
            old = vars(base).get(name)
            if kind_of(what) == kind_of(old) == "Sort(...)" and what is not old:
                message = (
                    f"{name} is another sort than that of {base.__name__}, which what "
                    f"is inherited is per; to change its size alone, write "
                    f"class {kind.__name__}({base.__name__}, {name}={what.size})"
                )
                raise ModelError(message, where=_place(what))


def _refuse_other_kind(kind: type, name: str) -> None:
    """Refuse to override what is declared by something of another kind."""
    found = list(_definitions(kind, name))
    for (over, new), (base, old) in itertools.pairwise(found):
        wanted, given = kind_of(old), kind_of(new)
        if not wanted or new is None or wanted == given:
            continue
        what = _named(given)
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


def _refuse_lost_fairness(kind: type, name: str) -> None:
    """Refuse to override a fair action by one that does not say whether it is."""
    found = list(_definitions(kind, name))
    for (over, new), (base, old) in itertools.pairwise(found):
        mine, its = (getattr(one, "onceproof_mark", None) for one in (new, old))
        if not (isinstance(mine, ActionMark) and isinstance(its, ActionMark)):
            continue
        named = getattr(kind, "fair_actions", ())
        chosen = any(fnmatch.fnmatchcase(name, pattern) for pattern in named)
        if its.fair and mine.fair is None and not chosen:
            message = (
                f"{over.__name__}.{name} overrides a fair action of {base.__name__}, "
                "and does not say whether it is fair; write @action(fair=True), or "
                "fair=False for one that may wait for ever"
            )
            raise ModelError(message, where=_place(new))


def _definitions(kind: type, name: str) -> Iterator[tuple[type, Any]]:
    """Yield who defines a name, and as what, from the last to the first."""
    for base in kind.__mro__:
        if name in vars(base):
            yield base, vars(base)[name]


def kind_of(what: object) -> str:
    """Return what kind of declaration something is; the empty text is none at all."""
    mark = getattr(what, "onceproof_mark", None)
    if isinstance(mark, ActionMark):
        return "@fault" if mark.fault else "@action"
    if isinstance(mark, ClaimMark):
        return "@lemma" if mark.lemma else f"@{mark.when}"
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
        if inner is not None and kind_of(inner):
            message = (
                f"{name} is a {type(what).__name__}, which hides its {kind_of(inner)}; "
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
