"""Which of a test's many parameters the plain tests take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable


def spread(
    values: Iterable[Any], plain: int, *, rest: Any = pytest.mark.grid
) -> list[Any]:
    """Give all values as parameters: ``plain`` of them, far apart, for the plain tests.

    The others are marked with ``rest``, besides the marks that they have.
    """
    every = [one if _is_parameter(one) else pytest.param(one) for one in values]
    kept = {round(n * (len(every) - 1) / max(plain - 1, 1)) for n in range(plain)}
    return [
        one
        if number in kept
        else pytest.param(*one.values, marks=[*one.marks, rest], id=one.id)
        for number, one in enumerate(every)
    ]


def _is_parameter(value: object) -> bool:
    return type(value) is type(pytest.param())
