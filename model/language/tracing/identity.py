"""Refuses ``is`` in models: Python decides it at once, and no symbol can object."""

from __future__ import annotations

import dis
import functools
from types import CodeType, FunctionType

from onceproof.model.errors import ModelError

_LANGUAGE = "onceproof.model.language."


def refuse_identity(kind: type) -> None:
    """Raise ``ModelError`` where a class of a model compares by identity.

    Its own methods and those it inherits are looked at, and what is defined inside
    them. A comparison with None is let be: no value of a model is None.
    """
    for base in kind.__mro__:
        if not base.__module__.startswith(_LANGUAGE) and base is not object:
            for what in vars(base).values():
                if isinstance(what, FunctionType):
                    refuse_identity_in(what.__code__)


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
