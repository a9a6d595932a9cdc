"""Refuses ``is`` in models: Python decides it at once, and no symbol can object."""

from __future__ import annotations

import dis
import functools
import sys
from types import CodeType, FunctionType

from onceproof.model.errors import ModelError

_LANGUAGE = "onceproof.model.language."


def refuse_identity(kind: type) -> None:
    """Raise ``ModelError`` where a class of a model compares by identity.

    Its own methods and properties and those it inherits are looked at, what is defined
    inside them, and the functions of the same file that they name. A comparison with
    None is let be: no value of a model is None.
    """
    seen: set[FunctionType] = set()
    for base in kind.__mro__:
        if not base.__module__.startswith(_LANGUAGE) and not _is_pythons(base):
            for what in vars(base).values():
                for function in _functions_of(what):
                    _refuse_in_reach(function, seen)


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


def _refuse_in_reach(function: FunctionType, seen: set[FunctionType]) -> None:
    """Refuse it in a function, and in those of its file that it names."""
    if function in seen:
        return
    seen.add(function)
    refuse_identity_in(function.__code__)
    for name in _names(function.__code__):
        named = function.__globals__.get(name)
        if isinstance(named, FunctionType) and (
            named.__globals__ is function.__globals__
        ):
            _refuse_in_reach(named, seen)


def _names(code: CodeType) -> set[str]:
    """List the names that a function reads, and what is defined inside it."""
    inner = (c for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def refuse_identity_in(code: CodeType) -> None:
    """Raise ``ModelError`` where a function compares by identity."""
    line = _identity(code)
    if line is not None:
        message = (
            "`is` would be decided now, and never of a model's state; use == or !="
        )
        raise ModelError(message, where=f"{code.co_filename}:{line}")


@functools.lru_cache(maxsize=4096)
def _identity(code: CodeType) -> int | None:
    """Find the line of the first comparison by identity, None's apart."""
    none_before = False
    for step in dis.get_instructions(code):
        if step.opname == "IS_OP" and not none_before:
            return step.positions.lineno if step.positions else code.co_firstlineno
        none_before = step.opname == "LOAD_CONST" and step.argval is None
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            line = _identity(inner)
            if line is not None:
                return line
    return None
