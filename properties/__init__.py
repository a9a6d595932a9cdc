"""What must hold: the ledger, the properties, and their judges.

What a test needs that was copied from the explorer is imported from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onceproof.properties.counterexample.holds_along import holds_along

__all__ = ["holds_along"]


def __getattr__(name: str) -> object:
    """Import what is asked for then: a part of the properties is not all of them."""
    if name in __all__:
        from onceproof.properties.counterexample import (  # noqa: PLC0415
            holds_along as module,
        )

        return getattr(module, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
