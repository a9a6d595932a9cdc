"""Refuses ``is`` in models: Python decides it at once, and no symbol can object."""

from __future__ import annotations

import dis
import functools
import sys
from types import CodeType, FunctionType, ModuleType

from onceproof.model.errors import ModelError

_LANGUAGE = "onceproof.model.language."


def refuse_identity(kind: type, *, nobody: bool = False) -> None:
    """Raise ``ModelError`` where a class of a model compares by identity.

    Its own methods and properties and those it inherits are looked at, what is defined
    inside them, and the functions that they name, in its file or in another one of
    the user's. No value of a model is None, so a comparison with None is let be, but
    not where state may hold ``nobody``: there it is a slip for that.
    """
    seen: set[FunctionType] = set()
    for base in kind.__mro__:
        if not base.__module__.startswith(_LANGUAGE) and not _is_pythons(base):
            for name, what in vars(base).items():
                for function in _functions_of(what):
                    none = nobody and name != "__init__"
                    _refuse_in_reach(function, seen, none=none)


def _is_pythons(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in sys.stdlib_module_names


def _functions_of(what: object) -> list[FunctionType]:
    """List the functions behind what a class holds under a name."""
    behind = (
        [what.fget, what.fset, what.fdel]
        if isinstance(what, property)
        else [what.__func__]
        if isinstance(what, staticmethod | classmethod)
        else [what.func]
        if isinstance(what, functools.cached_property)
        else [what]
    )
    return [one for one in behind if isinstance(one, FunctionType)]


def _refuse_in_reach(
    function: FunctionType, seen: set[FunctionType], *, none: bool
) -> None:
    """Refuse it in a function, and in those that it names."""
    if function in seen:
        return
    seen.add(function)
    refuse_identity_in(function.__code__, none=none)
    names = _names(function.__code__)
    for name in names:
        named = function.__globals__.get(name)
        some = [named]
        if isinstance(named, ModuleType) and _is_users(named.__name__):
            some = [vars(named).get(inner) for inner in names]
        for one in some:
            if isinstance(one, FunctionType) and _is_users(one.__module__):
                _refuse_in_reach(one, seen, none=none)


def _is_users(module: str | None) -> bool:
    """Return whether a module is neither Python's nor this package's."""
    top = (module or "").partition(".")[0]
    return top != "onceproof" and top not in sys.stdlib_module_names


def _names(code: CodeType) -> set[str]:
    """List the names that a function reads, and what is defined inside it."""
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def refuse_identity_in(code: CodeType, *, none: bool = False) -> None:
    """Raise ``ModelError`` where a function compares by identity.

    With ``none``, a comparison with None is refused as well.
    """
    line = _identity(code, none=none)
    if line is not None:
        message = (
            "`is` would be decided now, and never of a model's state; use == or !="
        )
        if none:
            message += ", and nobody where there is none"
        raise ModelError(message, where=f"{code.co_filename}:{line}")


@functools.lru_cache(maxsize=4096)
def _identity(code: CodeType, *, none: bool) -> int | None:
    """Find the line of the first comparison by identity."""
    none_before = False
    for step in dis.get_instructions(code):
        if step.opname == "IS_OP" and (none or not none_before):
            return step.positions.lineno if step.positions else code.co_firstlineno
        if none and "JUMP" in step.opname and "NONE" in step.opname:
            return step.positions.lineno if step.positions else code.co_firstlineno
        none_before = step.opname == "LOAD_CONST" and step.argval is None
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            line = _identity(inner, none=none)
            if line is not None:
                return line
    return None
