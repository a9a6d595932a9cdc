"""Whether what Spark did in one interleaving is a behaviour of the model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TraceCheck:
    """Whether the runs of an interleaving are a behaviour of the model."""

    checked: bool = False
    """Whether it was decided."""
    unexplained: tuple[str, ...] = ()
    """The first step of Spark's that no step of the model explains, and why; empty if
    all are explained, or if it was not decided."""
    unchecked: str = ""
    """Why it was not decided; empty if it was, or if nothing was reported."""

    @property
    def conforms(self) -> bool:
        """Whether the model explains every step."""
        return self.checked and not self.unexplained


NOT_ASKED = TraceCheck()
"""Nothing is said: no agent reports steps, or the sink has no model."""
