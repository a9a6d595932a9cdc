"""Encoded claims joined, denied and compared.

An encoded term is a ``bool``, an ``int`` or a z3 expression. What is known without
asking z3 stays a Python value, and decides what it can decide at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import z3

if TYPE_CHECKING:
    from collections.abc import Iterable


def conjoin(parts: Iterable[Any]) -> Any:
    """Join encoded claims by "and"."""
    kept = []
    for part in parts:
        if part is False:
            return False
        if part is not True:
            kept.append(part)
    return True if not kept else kept[0] if len(kept) == 1 else z3.And(kept)


def disjoin(parts: Iterable[Any]) -> Any:
    """Join encoded claims by "or"."""
    kept = []
    for part in parts:
        if part is True:
            return True
        if part is not False:
            kept.append(part)
    return False if not kept else kept[0] if len(kept) == 1 else z3.Or(kept)


def negate(claim: Any) -> Any:
    """Deny an encoded claim."""
    return (not claim) if isinstance(claim, bool) else z3.Not(claim)


def same(left: Any, right: Any) -> Any:
    """Say that two encoded terms are equal."""
    if isinstance(left, bool) and isinstance(right, bool):
        return left == right
    if isinstance(left, bool):
        return right if left else negate(right)
    if isinstance(right, bool):
        return left if right else negate(left)
    if isinstance(left, int) or isinstance(right, int):
        return left == right
    return True if left.eq(right) else left == right


def asserted(claim: Any) -> Any:
    """Return an encoded claim in a form that z3 takes."""
    return z3.BoolVal(claim) if isinstance(claim, bool) else claim
