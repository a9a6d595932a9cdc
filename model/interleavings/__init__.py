"""Which failure interleavings exist, and which of them are equivalent."""

from onceproof.model.interleavings.enumeration import interleavings
from onceproof.model.interleavings.interleaving import Interleaving, Interleavings

__all__ = ["Interleaving", "Interleavings", "interleavings"]
