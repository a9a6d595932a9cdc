"""Which failure interleavings exist, and which of them are equivalent."""

from onceproof.model.interleavings.enumeration import (
    Interleaving,
    Interleavings,
    interleavings,
)

__all__ = ["Interleaving", "Interleavings", "interleavings"]
