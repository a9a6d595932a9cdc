"""Draws the pictures of the documentation anew: ``python -m tests.docs.drawn``."""

from __future__ import annotations

from tests.docs.drawn.collected import DRAWN, FOLDER

if __name__ == "__main__":
    for name, draw in DRAWN.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")
        print(f"docs/pictures/{name}")
