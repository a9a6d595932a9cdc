"""How many examples are drawn of a property: in the plain tests, before a release."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

if TYPE_CHECKING:
    from collections.abc import Callable


def drawn_from(
    *strategies: Any, few: int, many: int, like: settings
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Draw the last arguments of a test; its other arguments are fixtures.

    The plain tests draw ``few`` examples, and those marked ``grid`` ``many``; the other
    settings are those of ``like``.
    """
    examples = [
        pytest.param(few, id="few"),
        pytest.param(many, id="many", marks=pytest.mark.grid),
    ]

    def decorated(test: Callable[..., None]) -> Callable[..., None]:
        names = list(inspect.signature(test).parameters)[: -len(strategies)]

        def run(examples: int, **fixtures: Any) -> None:
            settings(like, max_examples=examples)(given(*strategies)(test))(**fixtures)

        run.__name__, run.__doc__ = test.__name__, test.__doc__
        run.__module__, run.__qualname__ = test.__module__, test.__qualname__
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY)
            for name in ("examples", *names)
        )
        return pytest.mark.parametrize("examples", examples)(run)

    return decorated
