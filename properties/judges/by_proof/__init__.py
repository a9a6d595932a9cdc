"""The second judge, z3: induction for every size, or for these, or a bounded search."""

from onceproof.properties.judges.by_proof.judge import prove

__all__ = ["prove"]
