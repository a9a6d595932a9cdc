"""What a process records of its channels, once it has recorded itself."""

from __future__ import annotations

from typing import ClassVar

from onceproof.model.language import *


class RecordsChannels(Part):
    """Records what comes on a channel until its marker does: what was on its way."""

    def keeps(self, on_its_way: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Return whether a message, which was sent before the cut or not, is kept."""
        return on_its_way


class RecordsProcesses(RecordsChannels):
    """Records the states of processes alone, and loses what is on its way."""

    breaks: ClassVar[tuple[str, ...]] = (
        "conserves",
        "is-a-consistent-cut",
        "catches-a-coin-on-its-way",
    )

    def keeps(self, on_its_way: bool) -> bool:  # noqa: FBT001 - a modelled value
        """Nothing is kept."""
        return False
