"""Caps: what is too long to show is cut off, and a note says so."""

from __future__ import annotations

from typing import Any

from onceproof.model.text import MOST_TEXT, cut

MOST_STEPS = 1_000
MOST_ITEMS = 2_000


def clipped(data: Any) -> tuple[Any, list[str]]:
    """Cut texts and lists of plain data that are too long; say what was cut."""
    clipper = _Clipper()
    return clipper.of(data), clipper.notes()


class _Clipper:
    def __init__(self) -> None:
        self._texts = 0
        self._items = 0

    def of(self, data: Any) -> Any:
        """Return data with nothing in it that is too long."""
        if isinstance(data, str) and len(data) > MOST_TEXT:
            self._texts += 1
            return cut(data)
        if isinstance(data, dict):
            kept = list(data.items())[:MOST_ITEMS]
            self._items += len(data) - len(kept)
            return {self.of(str(k)): self.of(v) for k, v in kept}
        if isinstance(data, list | tuple):
            self._items += max(0, len(data) - MOST_ITEMS)
            return [self.of(item) for item in data[:MOST_ITEMS]]
        if isinstance(data, int) and abs(data) > 2**53:
            return str(data)[:MOST_TEXT]
        return data

    def notes(self) -> list[str]:
        """Return what was cut."""
        found = []
        if self._texts:
            found.append(
                f"texts longer than {MOST_TEXT:,} characters are cut: {self._texts:,}"
            )
        if self._items:
            found.append(f"entries of long lists that are left out: {self._items:,}")
        return found
