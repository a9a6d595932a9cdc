"""Draws the pictures again: ``python -m tests.docs.drawn``."""

from __future__ import annotations

from tests.docs.drawn.pictures import DOCS, DRAWN

for name, draw in DRAWN.items():
    (DOCS / name).write_text(draw(), encoding="utf-8")
