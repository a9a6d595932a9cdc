"""The protocols of the library, as they are and with the other parts they may hold."""

from __future__ import annotations

from typing import Any

import pytest

from onceproof.model.library import variants

VARIANTS: list[Any] = [
    # A search or a walk of each takes long: with other parts, in CI.
    pytest.param(v, marks=[pytest.mark.ci] if v.settings else [], id=str(v))
    for v in variants()
]
