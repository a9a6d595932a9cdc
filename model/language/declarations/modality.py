"""When a claim must hold: the modalities, and what distinguishes them."""

from __future__ import annotations

from enum import StrEnum
from typing import assert_never


class Modality(StrEnum):
    """Of which states, steps or runs a claim speaks.

    Each value is the name of the decorator that declares such a claim. Whoever
    distinguishes modalities does so by ``match``, with ``assert_never`` at the end:
    a new one is then a type error wherever it is not handled.
    """

    ALWAYS = "always"
    """The claim holds in every reachable state."""

    STEP = "step"
    """The claim holds of every step: of the state before it, and the state after."""

    AT_REST = "at_rest"
    """The claim holds in every state in which only faults can change anything."""

    RECOVERABLE = "recoverable"
    """From every state, rest with the claim true can be reached without more faults."""

    SOMETIMES = "sometimes"
    """Some reachable state satisfies the claim, which is a witness."""

    EVENTUALLY = "eventually"
    """Every fair run reaches a state where the claim is true."""

    LEADS_TO = "leads_to"
    """In every fair run, what comes first is followed by what comes second."""

    @property
    def of_runs(self) -> bool:
        """Whether it speaks of whole runs: no state or step alone can break it."""
        match self:
            case Modality.EVENTUALLY | Modality.LEADS_TO:
                return True
            case (
                Modality.ALWAYS
                | Modality.STEP
                | Modality.AT_REST
                | Modality.RECOVERABLE
                | Modality.SOMETIMES
            ):
                return False
            case _:
                assert_never(self)

    @property
    def of_rest(self) -> bool:
        """Whether it asks of a state only where nothing moves any more."""
        match self:
            case Modality.AT_REST | Modality.RECOVERABLE:
                return True
            case (
                Modality.ALWAYS
                | Modality.STEP
                | Modality.SOMETIMES
                | Modality.EVENTUALLY
                | Modality.LEADS_TO
            ):
                return False
            case _:
                assert_never(self)

    @property
    def of_whole_graph(self) -> bool:
        """Whether only the graph of all states and steps can settle it."""
        return self.of_runs or self is Modality.RECOVERABLE
