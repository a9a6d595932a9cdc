"""Disagreements that are known and not fixed yet, each with its reason.

An entry goes when its fix comes; a test of the share that meets one is an expected
failure, and everything else of its protocol is compared all the same.
"""

from __future__ import annotations

import re

KNOWN: tuple[tuple[str, str], ...] = (
    (r"search leads_to: .*'exhausted'.*'vacuous'", "an unmet premise is not vacuous"),
    (r"(search|symmetry) step: .*'exhausted'.*'vacuous'", "no step is not vacuous"),
    (r"(search|symmetry) leads_to: .*'exhausted'.*'vacuous'", "an unmet premise"),
    (r"symmetry (always|step|at_rest|sometimes|recoverable)", "a named member"),
    (r"z3 TypeError: .*missing 1 required.*'after'", "a step that reads one state"),
    (r"z3 RuntimeError: z3 and plain Python disagree", "substitution in the proofs"),
    (r"z3 (exhausted|proved)", "substitution in the proofs"),
    (r"tla KeyError", "a sort that no field uses"),
    (r"interleavings histories", "what a crash itself leaves"),
)


def reason_for(what: str, error: Exception, *, trap: bool) -> str:
    """Give the reason of a disagreement that is known; empty if it is not."""
    if trap:
        return "a quantifier binds what is not its own; a named member"
    text = f"{what}: {error}"
    return next((why for pattern, why in KNOWN if re.match(pattern, text)), "")
