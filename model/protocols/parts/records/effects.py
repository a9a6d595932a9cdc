"""What a record that is applied again does to the state of its operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from onceproof.model.language import *

if TYPE_CHECKING:
    from collections.abc import Mapping


class Adds(Part):
    """Adds to a count, so that a record counts as often as it is applied."""

    pipeline_role: ClassVar[str] = "sink"
    # Trees of acknowledgements promise no more than delivery at least once.
    breaks_in: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "acknowledgement-tree": ("at-most-once", "effectively-once")
    }

    def applied(self, times: int) -> int:
        """Return how often a record counts after it is applied once more."""
        return min_of(times + 1, 2)


class Overwrites(Adds):
    """Writes a row by key, so that a record counts once however often it comes."""

    breaks_in: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    def applied(self, times: int) -> int:
        """The row is there."""
        return 1
