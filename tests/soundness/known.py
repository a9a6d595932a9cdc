"""Disagreements that are known and not fixed yet, each with its reason.

An entry goes when its fix comes; a test of the share that meets one is an expected
failure, and everything else of its protocol is compared all the same.
"""

from __future__ import annotations

import re

KNOWN: tuple[tuple[str, str], ...] = ()


def reason_for(what: str, error: Exception) -> str:
    """Give the reason of a disagreement that is known; empty if it is not."""
    text = f"{what}: {error}"
    return next((why for pattern, why in KNOWN if re.match(pattern, text)), "")
